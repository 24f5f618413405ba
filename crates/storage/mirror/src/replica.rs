//! The host that follows: it promises an epoch, keeps the owner's log and reports durable entries.

use crate::image::{BlockSlot, FlashOp, LogEntry};
use crate::local::{Local, Then};
use crate::message::{AttachmentKey, PeerMessage};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Replica {
    joined: Option<AttachmentKey>,
    is_attached: bool,
    /// The last entry and the destage mark on flash.
    durable: Option<(u64, u64)>,
    /// Warm blocks from before the last eviction may be stale.
    evicted_at: u64,
}

impl Replica {
    pub(crate) fn new(end: u64) -> Self {
        Self { evicted_at: end, ..Self::default() }
    }

    pub(crate) fn message(&mut self, local: &mut Local, message: PeerMessage) {
        match message {
            PeerMessage::Join { epoch, session } => self.join(local, epoch, session),
            PeerMessage::Reset { key, base, entries } => {
                self.open(local, key, FlashOp::ReplaceTail { base, entries });
            }
            PeerMessage::Begin { key, start, floor } => {
                self.open(local, key, FlashOp::Begin { start, floor });
            }
            PeerMessage::Entries { key, entries, commit, destaged } if self.accepts(local, key) => {
                self.append(local, key, entries, (commit, destaged));
            }
            PeerMessage::Copy { key, batch, slots } if self.accepts(local, key) => {
                local.flash(FlashOp::Copy(slots), Then::Copied { key, batch });
            }
            PeerMessage::EndCopy(key) if self.accepts(local, key) => {
                local.flash(FlashOp::EndCopy, Then::CopyEnded(key));
            }
            PeerMessage::Warm { key, slots } if self.accepts(local, key) => {
                self.warm(local, slots);
            }
            _ => {}
        }
    }

    fn join(&mut self, local: &mut Local, epoch: u64, session: u64) {
        let key = AttachmentKey { epoch, session, boot: local.boot };
        if epoch < local.image.epoch() {
            local.send(PeerMessage::Superseded(local.image.epoch()));
            return;
        }
        let is_old = self.joined.is_some_and(|one| one.epoch == epoch && one.session > session);
        let is_done = self.joined == Some(key) && self.is_attached;
        if local.flash_failed {
            local.send(PeerMessage::Detached(key));
        } else if !is_old && !is_done {
            *self = Self { joined: Some(key), ..Self::new(self.evicted_at) };
            local.flash(FlashOp::Epoch(epoch), Then::Joined(key));
        }
    }

    fn open(&mut self, local: &mut Local, key: AttachmentKey, op: FlashOp) {
        if self.joined != Some(key) || local.flash_failed || key.epoch != local.image.epoch() {
            return;
        }
        if self.is_attached {
            self.report(local, key);
        } else if local.image.admits(&op) {
            self.is_attached = true;
            local.flash(op, Then::Nothing);
            note(local, key);
        }
    }

    /// `true` if `key` is the attachment in force. A sender with another key is notified.
    fn accepts(&self, local: &mut Local, key: AttachmentKey) -> bool {
        let promised = local.image.epoch();
        if key.epoch < promised {
            local.send(PeerMessage::Superseded(promised));
        } else if self.joined != Some(key) || local.flash_failed {
            local.send(PeerMessage::Detached(key));
        } else {
            return self.is_attached;
        }
        false
    }

    fn append(
        &mut self,
        local: &mut Local,
        key: AttachmentKey,
        entries: Vec<LogEntry>,
        marks: (u64, u64),
    ) {
        let end = local.image.end();
        let new: Vec<LogEntry> = entries.into_iter().filter(|entry| entry.lsn > end).collect();
        let has_news = !new.is_empty();
        let append = FlashOp::Append(new);
        let follows = has_news && local.image.admits(&append);
        if follows {
            local.flash(append, Then::Nothing);
        }
        let end = local.image.end();
        let (commit, destaged) = (marks.0.min(end), marks.1.min(end));
        if commit > local.image.commit() || destaged > local.image.destaged() {
            local.flash(FlashOp::Mark { commit, destaged }, Then::Nothing);
            note(local, key);
        } else if follows {
            note(local, key);
        } else {
            self.report(local, key);
        }
    }

    fn report(&self, local: &mut Local, key: AttachmentKey) {
        if let Some((lsn, marked)) = self.durable {
            local.send(PeerMessage::Durable { key, lsn, marked });
        }
    }

    fn warm(&self, local: &mut Local, slots: Vec<(u64, BlockSlot)>) {
        let news: Vec<_> = slots
            .into_iter()
            .filter(|(block, slot)| {
                let present = local.image.read(*block, u64::MAX);
                slot.lsn >= self.evicted_at && present.is_none_or(|present| present.lsn < slot.lsn)
            })
            .collect();
        if !news.is_empty() {
            local.flash(FlashOp::Copy(news), Then::Nothing);
        }
    }

    /// Evicts a clean block from the cache.
    pub(crate) fn evict(&mut self, local: &mut Local, block: u64) {
        if local.settings.backed {
            self.evicted_at = self.evicted_at.max(local.image.end());
            local.flash(FlashOp::Evict(block), Then::Nothing);
        }
    }

    pub(crate) fn flash_done(&mut self, local: &mut Local, then: Then) {
        match then {
            Then::Joined(key) if self.joined == Some(key) && !self.is_attached => {
                let valid_to = local.image.valid_to();
                local.send(PeerMessage::Joined { key, valid_to });
            }
            Then::Report { key, lsn, marked } if self.joined == Some(key) => {
                self.durable = Some((lsn, marked));
                self.report(local, key);
            }
            Then::Copied { key, batch } => local.send(PeerMessage::Copied { key, batch }),
            Then::CopyEnded(key) => local.send(PeerMessage::CopyEnded(key)),
            _ => {}
        }
    }
}

/// Requests a report once everything so far is durable, by queueing an operation that changes
/// nothing.
fn note(local: &mut Local, key: AttachmentKey) {
    let (lsn, marked) = (local.image.end(), local.image.destaged());
    local.flash(FlashOp::Epoch(key.epoch), Then::Report { key, lsn, marked });
}
