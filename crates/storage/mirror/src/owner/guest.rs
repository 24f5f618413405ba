//! Requests of the guest: writes to the log, reads from flash or the backing store.

use std::sync::Arc;

use super::VolumeOwner;
use crate::event::{BackingAnswer, BackingOp, GuestOutcome, GuestRequest, RequestId};
use crate::image::{BlockContent, BlockSlot, EntryKind, FlashOp, LogEntry};
use crate::local::{Local, Then};
use crate::message::PeerMessage;

/// The waiter for a block.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asker {
    Guest(RequestId),
    Remote(u64),
}

/// A block being read from the backing store.
#[derive(Debug)]
pub(crate) struct BackingFill {
    block: u64,
    pub(super) asker: Asker,
    /// Position up to which the cache may treat it as current; `None` if a write has overtaken it.
    as_of: Option<u64>,
}

impl VolumeOwner {
    pub(crate) fn guest(&mut self, local: &mut Local, id: RequestId, request: GuestRequest) {
        match request {
            _ if !self.is_serving() => local.reply(id, GuestOutcome::NotServing),
            GuestRequest::Read(block) => self.read(local, Asker::Guest(id), block),
            _ if self.is_quiet() => local.reply(id, GuestOutcome::NotServing),
            GuestRequest::Write(block, data) => {
                let lsn = self.append(local, EntryKind::Write { block, data });
                self.waiting.insert(lsn, id);
            }
            GuestRequest::Flush => {
                let lsn = self.append(local, EntryKind::Barrier);
                self.waiting.insert(lsn, id);
            }
        }
    }

    pub(super) fn remote_read(&mut self, local: &mut Local, id: u64, block: u64) {
        if self.is_serving() {
            self.read(local, Asker::Remote(id), block);
        }
    }

    /// Appends to the log here and on the peer; returns the position.
    pub(super) fn append(&mut self, local: &mut Local, kind: EntryKind) -> u64 {
        if let EntryKind::Write { block, .. } = &kind {
            let overtaken = self.fills.values_mut().filter(|fill| fill.block == *block);
            overtaken.for_each(|fill| fill.as_of = None);
            if !local.image.is_open_after(self.destaged) {
                self.open_since = local.now;
            }
        }
        let lsn = local.image.end() + 1;
        let entry = LogEntry { lsn, kind };
        let then = Then::Logged { epoch: self.epoch, lsn };
        // Sent to the peer first, since that path is longer.
        self.stream(local, vec![entry.clone()]);
        local.flash(FlashOp::Append(vec![entry]), then);
        lsn
    }

    fn read(&mut self, local: &mut Local, asker: Asker, block: u64) {
        *self.heat.entry(block).or_default() += 1;
        if let Some(slot) = local.image.read(block, self.commit) {
            answer(local, asker, Some(slot.data));
        } else if local.settings.backed {
            let is_written = local.image.writes_after(block, self.destaged);
            let as_of = (!is_written).then_some(self.destaged);
            let token = self.ask_backing(local, BackingOp::Read(block));
            self.fills.insert(token, BackingFill { block, asker, as_of });
        } else {
            answer(local, asker, None);
        }
    }

    pub(super) fn filled(&self, local: &mut Local, fill: &BackingFill, found: BackingAnswer) {
        let BackingAnswer::Value(data) = found else {
            if let Asker::Guest(id) = fill.asker {
                local.reply(id, GuestOutcome::Unknown);
            }
            return;
        };
        if let (Some(lsn), Some(data)) = (fill.as_of, &data) {
            let slot = BlockSlot { lsn, data: Arc::clone(data).into() };
            local.flash(FlashOp::Copy(vec![(fill.block, slot)]), Then::Nothing);
        }
        // The store may be ahead of the commit. A read must not return such content if the next
        // one, answered from flash, cannot.
        let committed = local.image.read(fill.block, self.commit).map(|slot| slot.data);
        answer(local, fill.asker, committed.or(data.map(BlockContent::Here)));
    }

    /// Acknowledges the writes and flushes that are now safe.
    pub(super) fn acknowledge(&mut self, local: &mut Local) {
        let limit = match (local.settings.backed, self.writes_back(local)) {
            (false, _) => self.commit,
            (true, true) => self.commit.min(self.destaged + local.settings.dirty_limit),
            (true, false) => self.commit.min(self.destaged),
        };
        while let Some(entry) = self.waiting.first_entry().filter(|entry| *entry.key() <= limit) {
            local.reply(entry.remove(), GuestOutcome::Done);
        }
    }
}

fn answer(local: &mut Local, asker: Asker, data: Option<BlockContent>) {
    match asker {
        Asker::Guest(id) => local.reply(id, GuestOutcome::Value(data)),
        Asker::Remote(id) => local.send(PeerMessage::RemoteValue { id, data }),
    }
}
