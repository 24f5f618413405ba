//! The store behind both hosts: requests of a fenced epoch are refused, whenever they arrive.

use std::collections::BTreeMap;

use mirror::{BackingAnswer, BackingOp, BlockData};
use units::{Nanos, Prng};

#[derive(Debug, Default)]
pub(crate) struct Backing {
    blocks: BTreeMap<u64, BlockData>,
    /// The highest epoch that has reserved it.
    fence: u64,
    pub(crate) fails_until: Nanos,
    pub(crate) writes: u64,
    pub(crate) refused: u64,
}

impl Backing {
    /// The answer, and the write that was carried out.
    pub(crate) fn answer(
        &mut self,
        now: Nanos,
        epoch: u64,
        op: BackingOp,
        prng: &mut Prng,
    ) -> (BackingAnswer, Option<(u64, BlockData)>) {
        if epoch < self.fence {
            self.refused += 1;
            return (BackingAnswer::Fenced, None);
        }
        let fails = now < self.fails_until && prng.percent(50);
        match op {
            BackingOp::Fence if !fails => {
                self.fence = epoch;
                (BackingAnswer::Done, None)
            }
            BackingOp::Read(block) if !fails => {
                (BackingAnswer::Value(self.blocks.get(&block).cloned()), None)
            }
            BackingOp::Write(block, data) if !fails || prng.percent(50) => {
                self.writes += 1;
                self.blocks.insert(block, data.clone());
                let answer = if fails { BackingAnswer::Failed } else { BackingAnswer::Done };
                (answer, Some((block, data)))
            }
            BackingOp::Flush if !fails => (BackingAnswer::Done, None),
            _ => (BackingAnswer::Failed, None),
        }
    }
}
