//! Destaging: one flush epoch after the other, each complete and durable before the next begins.
//!
//! Between two epochs the end of the first is noted on every counted copy. Otherwise a new owner
//! would destage it again over the second, and the backing store would go back in time.

use std::collections::BTreeSet;

use super::VolumeOwner;
use crate::config::Authority;
use crate::event::BackingOp;
use crate::image::FlashOp;
use crate::local::Local;

/// See the module.
#[derive(Debug)]
pub(crate) enum Destage {
    Idle,
    /// The blocks of the epoch that ends at `upto`.
    Writing {
        upto: u64,
        left: BTreeSet<u64>,
        has_failed: bool,
    },
    /// The flush after those blocks.
    Flushing {
        upto: u64,
        token: u64,
    },
}

impl VolumeOwner {
    pub(super) fn destage_more(&mut self, local: &mut Local) {
        if !local.settings.backed || !matches!(self.destage, Destage::Idle) {
            return;
        }
        let end = local.image.barrier_after(self.destaged);
        let replicated = self.replicated(local);
        if let Some(upto) = end.filter(|end| *end <= replicated && self.is_marked(local)) {
            let left = local
                .image
                .coalesced(self.destaged, upto)
                .into_iter()
                .map(|(block, data)| self.ask_backing(local, BackingOp::Write(block, data)))
                .collect();
            self.destage_begun = self.destage_begun.max(upto);
            self.destage = Destage::Writing { upto, left, has_failed: false };
            self.flush_if_written(local);
        }
    }

    /// `true` if every counted copy has recorded how far destaging has progressed.
    fn is_marked(&self, local: &Local) -> bool {
        let counts = self.agreement.possible().any(Authority::is_both);
        let peer_knows = self.link.marked() >= Some(self.destaged);
        let own_knows = local.flash_failed || self.marked >= self.destaged;
        own_knows && (peer_knows || !(counts || self.link.is_attached()))
    }

    fn flush_if_written(&mut self, local: &mut Local) {
        let Destage::Writing { upto, left, has_failed } = &self.destage else { return };
        let (upto, has_failed) = (*upto, *has_failed);
        if !left.is_empty() {
            return;
        }
        self.destage = if has_failed {
            Destage::Idle
        } else {
            Destage::Flushing { upto, token: self.ask_backing(local, BackingOp::Flush) }
        };
    }

    pub(super) fn destage_done(&mut self, local: &mut Local, token: u64, failed: bool) {
        match &mut self.destage {
            Destage::Writing { left, has_failed, .. } if left.contains(&token) => {
                left.remove(&token);
                *has_failed |= failed;
                self.flush_if_written(local);
            }
            Destage::Flushing { upto, token: flush } if *flush == token => {
                let upto = *upto;
                self.destage = Destage::Idle;
                if !failed {
                    self.destaged_to(local, upto);
                }
            }
            _ => {}
        }
    }

    fn destaged_to(&mut self, local: &mut Local, upto: u64) {
        self.destaged = upto;
        self.advance(local);
        let mark = FlashOp::Mark { commit: self.commit, destaged: upto };
        local.flash(mark, self.marked_then(upto));
        self.stream(local, Vec::new());
    }
}
