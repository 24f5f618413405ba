//! The owner's connection to its peer: attaches it, streams the log, detects its loss.

use units::Nanos;

use super::copy::CopyJob;
use super::{Over, VolumeOwner};
use crate::config::{Authority, CountedCopies};
use crate::image::LogEntry;
use crate::local::Local;
use crate::message::{AttachmentKey, PeerMessage};

/// Entries in one message.
const MESSAGE_ENTRIES: usize = 64;

#[derive(Debug)]
enum LinkState {
    Away,
    Joining { since: Nanos },
    Attached(AttachedPeer),
}

/// A peer that follows.
#[derive(Debug)]
pub(super) struct AttachedPeer {
    pub(super) key: AttachmentKey,
    /// Repeated until the peer has confirmed it.
    opening: PeerMessage,
    pub(super) is_open: bool,
    durable: u64,
    marked: u64,
    pub(super) copy: Option<CopyJob>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct PeerLink {
    state: LinkState,
    session: u64,
    heard: Nanos,
    sent: Nanos,
}

impl PeerLink {
    pub(super) fn new(now: Nanos) -> Self {
        Self { state: LinkState::Away, session: 0, heard: now, sent: Nanos::ZERO }
    }

    pub(super) fn attached(&mut self) -> Option<&mut AttachedPeer> {
        match &mut self.state {
            LinkState::Attached(attached) => Some(attached),
            _ => None,
        }
    }

    fn open(&self) -> Option<&AttachedPeer> {
        match &self.state {
            LinkState::Attached(attached) if attached.is_open => Some(attached),
            _ => None,
        }
    }

    /// The last entry on the peer's flash; `None` if it does not follow.
    pub(super) fn durable(&self) -> Option<u64> {
        self.open().map(|attached| attached.durable)
    }

    /// The destage mark on the peer's flash.
    pub(super) fn marked(&self) -> Option<u64> {
        self.open().map(|attached| attached.marked)
    }

    /// `true` if the peer follows and nothing remains to be copied.
    pub(super) fn is_complete(&self) -> bool {
        self.open().is_some_and(|attached| attached.copy.is_none())
    }

    /// `true` if the peer follows, or may follow without the owner's knowledge.
    pub(super) fn is_attached(&self) -> bool {
        matches!(self.state, LinkState::Attached(_))
    }

    /// Blocks copied so far and in total; `None` without a copy in progress.
    pub(crate) fn progress(&self) -> Option<(usize, usize)> {
        self.open()?.copy.as_ref().map(CopyJob::progress)
    }

    pub(super) fn silence(&self, now: Nanos) -> Nanos {
        now.since(self.heard)
    }

    fn is_due(&self, local: &Local) -> bool {
        local.now.since(self.sent) >= local.settings.resend
    }
}

impl VolumeOwner {
    pub(super) fn link_tick(&mut self, local: &mut Local) {
        if local.flash_failed || !self.ready || !self.link.is_due(local) {
            return;
        }
        let timeout = local.settings.peer_timeout;
        let is_silent = self.link.silence(local.now) > timeout;
        match &self.link.state {
            LinkState::Attached(_) if is_silent => self.link.state = LinkState::Away,
            LinkState::Attached(_) => self.send_again(local),
            LinkState::Joining { since } if local.now.since(*since) <= timeout => self.join(local),
            LinkState::Away | LinkState::Joining { .. } => {
                self.link.session += 1;
                self.link.state = LinkState::Joining { since: local.now };
                self.join(local);
            }
        }
    }

    fn join(&mut self, local: &mut Local) {
        self.link.sent = local.now;
        local.send(PeerMessage::Join { epoch: self.epoch, session: self.link.session });
    }

    fn send_again(&mut self, local: &mut Local) {
        self.link.sent = local.now;
        let (commit, destaged) = (self.commit, self.destaged);
        let Some(attached) = self.link.attached() else { return };
        if attached.is_open && attached.durable < local.image.start() {
            self.link.state = LinkState::Away; // It has fallen behind the log.
        } else if attached.is_open {
            let entries = local.image.entries_after(attached.durable, MESSAGE_ENTRIES);
            local.send(PeerMessage::Entries { key: attached.key, entries, commit, destaged });
            self.copy_more(local);
        } else {
            let opening = attached.opening.clone();
            local.send(opening);
        }
    }

    /// Sends a new entry, or only the marks, at once.
    pub(super) fn stream(&mut self, local: &mut Local, entries: Vec<LogEntry>) {
        let (commit, destaged) = (self.commit, self.destaged);
        if let Some(attached) = self.link.attached().filter(|attached| attached.is_open) {
            local.send(PeerMessage::Entries { key: attached.key, entries, commit, destaged });
        }
    }

    pub(crate) fn peer(&mut self, local: &mut Local, message: &PeerMessage) {
        match *message {
            PeerMessage::Joined { key, valid_to } => self.joined(local, key, valid_to),
            PeerMessage::Superseded(epoch) if epoch > self.epoch => {
                self.over = Some(Over::Deposed);
            }
            PeerMessage::Detached(key) if self.follows(key) => self.link.state = LinkState::Away,
            PeerMessage::Durable { key, lsn, marked } if self.follows(key) => {
                self.heard(local);
                if let Some(attached) = self.link.attached() {
                    attached.is_open = true;
                    attached.durable = attached.durable.max(lsn);
                    attached.marked = attached.marked.max(marked);
                }
            }
            PeerMessage::Copied { key, batch } if self.follows(key) => self.copied(local, batch),
            PeerMessage::CopyEnded(key) if self.follows(key) => self.copy_ended(),
            PeerMessage::RemoteRead { id, block } => self.remote_read(local, id, block),
            _ => {}
        }
    }

    fn follows(&mut self, key: AttachmentKey) -> bool {
        self.link.attached().is_some_and(|attached| attached.key == key)
    }

    fn heard(&mut self, local: &Local) {
        self.link.heard = local.now;
    }

    fn joined(&mut self, local: &mut Local, key: AttachmentKey, valid_to: u64) {
        let is_asked = key.epoch == self.epoch && key.session == self.link.session;
        if !is_asked || !matches!(self.link.state, LinkState::Joining { .. }) {
            return;
        }
        let Some((opening, copy)) = self.opening(local, key, valid_to) else { return };
        local.send(opening.clone());
        let attached = AttachedPeer { key, opening, is_open: false, durable: 0, marked: 0, copy };
        self.link.state = LinkState::Attached(attached);
        self.link.heard = local.now;
        self.link.sent = local.now;
    }

    /// How to bring the peer up to date; `None` if the configuration must change first.
    fn opening(
        &self,
        local: &Local,
        key: AttachmentKey,
        valid_to: u64,
    ) -> Option<(PeerMessage, Option<CopyJob>)> {
        if self.agreement.possible().any(Authority::is_both) {
            let entries = local.image.entries_after(valid_to, usize::MAX);
            let is_covered = valid_to >= local.image.start();
            let reset = PeerMessage::Reset { key, base: valid_to, entries };
            return is_covered.then_some((reset, None));
        }
        let only_this = Authority::Flash(CountedCopies::Only(local.me));
        match self.agreement.confirmed {
            Authority::Backing => {
                Some((PeerMessage::Begin { key, start: self.destaged, floor: None }, None))
            }
            confirmed if confirmed == only_this && !local.settings.backed => {
                let begin = PeerMessage::Begin { key, start: self.commit, floor: Some(valid_to) };
                let blocks = local.image.changed(valid_to, self.commit);
                Some((begin, Some(CopyJob::new(blocks))))
            }
            Authority::Flash(_) => None,
        }
    }
}
