//! A journal on its way to the collector, in pieces that a message can hold.
//!
//! A piece is identified by its offset in the journal, so that a repeat is recognised.

use crate::{AgentId, RunId};

/// Bytes of a piece at most; the default limit of a NATS message is 1 MiB.
const MOST_BYTES: usize = 256 * 1024;

/// A piece of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalPiece {
    /// Its position in the journal, in bytes.
    pub offset: u64,
    /// The whole length of the journal, if the run has ended.
    pub whole: Option<u64>,
    /// The piece itself.
    pub bytes: Vec<u8>,
}

impl JournalPiece {
    /// An id by which a server recognises the piece if it comes again.
    pub fn id(&self, run: &RunId, agent: &AgentId) -> String {
        let end = if self.whole.is_some() { "-end" } else { "" };
        format!("{run}.{agent}.{}-{}{end}", self.offset, self.bytes.len())
    }
}

/// How much of a journal has been published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalOutbox {
    acknowledged: u64,
    is_end_acknowledged: bool,
}

impl JournalOutbox {
    /// Returns the offset in bytes at which to continue reading the journal.
    pub const fn next_offset(&self) -> u64 {
        self.acknowledged
    }

    /// Returns the next piece to publish: `bytes` is the contents of the journal from
    /// [`Self::next_offset`] on, `has_ended` whether it is complete. `None` if there is nothing to
    /// publish.
    pub fn next(&self, bytes: &[u8], has_ended: bool) -> Option<JournalPiece> {
        let piece = &bytes[..bytes.len().min(MOST_BYTES)];
        let is_last = has_ended && piece.len() == bytes.len();
        if piece.is_empty() && (!is_last || self.is_end_acknowledged) {
            return None;
        }
        let whole = is_last.then_some(self.acknowledged + piece.len() as u64);
        Some(JournalPiece { offset: self.acknowledged, whole, bytes: piece.to_vec() })
    }

    /// Records that the server has stored `chunk`.
    pub fn acknowledged(&mut self, chunk: &JournalPiece) {
        let end = chunk.offset + chunk.bytes.len() as u64;
        self.acknowledged = self.acknowledged.max(end);
        self.is_end_acknowledged |= chunk.whole.is_some();
    }

    /// Continues from `offset` again: the collector lacks everything after it.
    pub fn resend_from(&mut self, offset: u64) {
        self.acknowledged = self.acknowledged.min(offset);
        self.is_end_acknowledged = false;
    }

    /// Whether the whole journal, its end included, is on the server.
    pub const fn is_done(&self) -> bool {
        self.is_end_acknowledged
    }
}
