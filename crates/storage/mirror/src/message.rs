//! Messages between the two hosts. Any of them may be lost, late, repeated or out of order.

use crate::image::{BlockContent, BlockSlot, LogEntry};

/// One attachment of a peer to an owner; messages from before a restart of either are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttachmentKey {
    /// The owner's epoch.
    pub epoch: u64,
    /// The owner's attempt within the epoch.
    pub session: u64,
    /// The start of the peer's program.
    pub boot: u64,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerMessage {
    /// Owner: follow this epoch.
    Join {
        /// The owner's epoch.
        epoch: u64,
        /// The owner's attempt.
        session: u64,
    },
    /// Peer: it follows, durably.
    Joined {
        /// Names the attachment.
        key: AttachmentKey,
        /// Entries up to here are on its flash and in every later owner's log.
        valid_to: u64,
    },
    /// Peer: it has promised a higher epoch.
    Superseded(u64),
    /// Peer: it cannot follow, or does not know the attachment.
    Detached(AttachmentKey),
    /// Owner: replace everything after `base`.
    Reset {
        /// Names the attachment.
        key: AttachmentKey,
        /// The last entry that stays.
        base: u64,
        /// The entries after `base`.
        entries: Vec<LogEntry>,
    },
    /// Owner: restart the log; a copy may follow.
    Begin {
        /// Names the attachment.
        key: AttachmentKey,
        /// The stream continues after this entry.
        start: u64,
        /// Entries up to here are kept; `None`: nothing is.
        floor: Option<u64>,
    },
    /// Owner: consecutive entries (or none, as a heartbeat), and its marks.
    Entries {
        /// Names the attachment.
        key: AttachmentKey,
        /// The entries.
        entries: Vec<LogEntry>,
        /// No new owner can withdraw entries up to here.
        commit: u64,
        /// The backing store durably holds entries up to here.
        destaged: u64,
    },
    /// Peer: on its flash.
    Durable {
        /// Names the attachment.
        key: AttachmentKey,
        /// The last entry on flash.
        lsn: u64,
        /// The destage mark on flash.
        marked: u64,
    },
    /// Owner: blocks of a resynchronisation.
    Copy {
        /// Names the attachment.
        key: AttachmentKey,
        /// Position of the batch in the resynchronisation.
        batch: usize,
        /// Blocks and their contents.
        slots: Vec<(u64, BlockSlot)>,
    },
    /// Peer: that batch is on flash.
    Copied {
        /// Names the attachment.
        key: AttachmentKey,
        /// Position of the batch.
        batch: usize,
    },
    /// Owner: every batch is on the peer's flash.
    EndCopy(AttachmentKey),
    /// Peer: it recorded `EndCopy` durably.
    CopyEnded(AttachmentKey),
    /// Owner: hot blocks ahead of a hand-over; best effort.
    Warm {
        /// Names the attachment.
        key: AttachmentKey,
        /// Blocks and their contents.
        slots: Vec<(u64, BlockSlot)>,
    },
    /// Owner: it has stopped serving and released the lease; take over.
    Yours,
    /// Target of a migration: read from the source's cache.
    RemoteRead {
        /// The reader's number.
        id: u64,
        /// The block.
        block: u64,
    },
    /// Source: the content at some instant between question and answer.
    RemoteValue {
        /// The reader's number.
        id: u64,
        /// The content; `None` if never written.
        data: Option<BlockContent>,
    },
}
