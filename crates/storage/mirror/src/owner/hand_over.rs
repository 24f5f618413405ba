//! Hands the volume to the other host: warms its cache, stops, waits until it holds everything,
//! releases the lease.

use units::Nanos;

use super::copy::slots;
use super::{Over, VolumeOwner};
use crate::config::{Authority, CountedCopies};
use crate::local::Local;
use crate::message::PeerMessage;

#[derive(Debug)]
enum HandOverStage {
    /// Hot blocks, coldest first, so that the next one is at the end.
    Warming(Vec<u64>),
    /// Writes are refused.
    Quiet,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Leaving {
    stage: HandOverStage,
    since: Nanos,
    sent: Nanos,
}

impl VolumeOwner {
    pub(super) fn hand_over(&mut self, local: &Local) {
        if self.is_serving() && self.leaving.is_none() {
            // Without a backing store the target has every block already.
            let mut hot: Vec<(u32, u64)> = Vec::new();
            if local.settings.backed {
                hot.extend(self.heat.iter().map(|(block, reads)| (*reads, *block)));
            }
            hot.sort_unstable();
            let stage = HandOverStage::Warming(hot.into_iter().map(|(_, block)| block).collect());
            self.leaving = Some(Leaving { stage, since: local.now, sent: Nanos::ZERO });
        }
    }

    /// `true` while the last writes settle before the lease is released.
    pub(super) fn is_quiet(&self) -> bool {
        self.leaving.as_ref().is_some_and(|leaving| matches!(leaving.stage, HandOverStage::Quiet))
    }

    pub(super) fn leave(&mut self, local: &mut Local) {
        let Some(leaving) = &self.leaving else { return };
        let (spent, limit) = (local.now.since(leaving.since), local.settings.hand_over_limit);
        if spent > limit {
            self.leaving = None;
        } else if self.is_quiet() {
            if self.is_settled(local) {
                self.over = Some(Over::Released);
            }
        } else {
            // Half of the time is reserved for the last writes: of a large cache, only the hottest
            // blocks move.
            self.warm_up(local, spent.0 * 2 < limit.0);
        }
    }

    fn warm_up(&mut self, local: &mut Local, has_time: bool) {
        let commit = self.commit;
        let is_complete = self.link.is_complete();
        let Some(leaving) = &mut self.leaving else { return };
        let HandOverStage::Warming(hot) = &mut leaving.stage else { return };
        if hot.is_empty() || !is_complete || !has_time {
            leaving.stage = HandOverStage::Quiet;
        } else if local.now.since(leaving.sent) >= local.settings.batch_pause {
            leaving.sent = local.now;
            let rest = hot.len().saturating_sub(local.settings.batch_blocks);
            let mut batch = slots(local, &hot.split_off(rest), commit);
            for (_, slot) in &mut batch {
                slot.lsn = commit;
            }
            if let Some(attached) = self.link.attached() {
                local.send(PeerMessage::Warm { key: attached.key, slots: batch });
            }
        }
    }

    /// `true` if the next owner will find everything that was acknowledged.
    fn is_settled(&self, local: &Local) -> bool {
        let end = local.image.end();
        let is_there = match self.agreement.confirmed {
            Authority::Backing => self.destaged == end,
            Authority::Flash(CountedCopies::Both) => self.link.is_complete() && self.commit == end,
            Authority::Flash(CountedCopies::Only(_)) => false,
        };
        is_there && self.agreement.is_settled() && self.waiting.is_empty()
    }
}
