//! Resynchronisation: the blocks that changed while the peer was away, in batches, throttled.

use units::Nanos;

use super::VolumeOwner;
use crate::image::BlockSlot;
use crate::local::Local;
use crate::message::PeerMessage;

/// See the module.
#[derive(Debug)]
pub(crate) struct CopyJob {
    blocks: Vec<u64>,
    done: usize,
    sent: Nanos,
}

impl CopyJob {
    pub(super) fn new(blocks: Vec<u64>) -> Self {
        Self { blocks, done: 0, sent: Nanos::ZERO }
    }

    pub(super) fn progress(&self) -> (usize, usize) {
        (self.done, self.blocks.len())
    }

    fn batch(&self, most: usize) -> &[u64] {
        let rest = &self.blocks[self.done..];
        &rest[..most.min(rest.len())]
    }
}

impl VolumeOwner {
    /// Sends the current batch, for the first time or again.
    pub(super) fn copy_more(&mut self, local: &mut Local) {
        let commit = self.commit;
        let Some(attached) = self.link.attached() else { return };
        let (key, now) = (attached.key, local.now);
        let Some(job) = attached.copy.as_mut() else { return };
        if now.since(job.sent) < local.settings.batch_pause {
            return;
        }
        job.sent = now;
        let batch = job.batch(local.settings.batch_blocks);
        let message = if batch.is_empty() {
            PeerMessage::EndCopy(key)
        } else {
            let slots = slots(local, batch, commit);
            PeerMessage::Copy { key, batch: job.done, slots }
        };
        local.send(message);
    }

    /// Records that the peer holds the batch that began at block `batch` of the list.
    pub(super) fn copied(&mut self, local: &mut Local, batch: usize) {
        let most = local.settings.batch_blocks;
        let Some(attached) = self.link.attached() else { return };
        let Some(job) = attached.copy.as_mut().filter(|job| job.done == batch) else { return };
        job.done += job.batch(most).len();
        self.copy_more(local);
    }

    pub(super) fn copy_ended(&mut self) {
        if let Some(attached) = self.link.attached() {
            attached.copy = None;
        }
    }
}

/// The committed contents of `blocks`: uncommitted contents may be withdrawn.
pub(super) fn slots(local: &Local, blocks: &[u64], commit: u64) -> Vec<(u64, BlockSlot)> {
    blocks.iter().filter_map(|&block| Some((block, local.image.read(block, commit)?))).collect()
}
