//! The log of one database: bytes are added at once, written one write at a time, and one write
//! serves all who wait.

use super::LogShape;

/// Positions of a log, in bytes since its start.
#[derive(Debug)]
pub(super) struct LogState {
    /// Added by sessions.
    added: u64,
    /// On stable storage.
    durable: u64,
    /// Position that must be durable for the waiting sessions.
    wanted: u64,
    /// Position that will be durable after the current write; `None` if there is none.
    writing: Option<u64>,
    /// Number of the file in use.
    file: u64,
    /// Bytes of it in use.
    used: u64,
    /// Waiting sessions, and their positions.
    waiting: Vec<(u64, u32)>,
}

/// A write of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogWrite {
    /// Its offset from the start of the log's place, in bytes.
    pub at: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

impl LogState {
    /// An empty log whose first file has its header.
    pub(super) const fn new(shape: &LogShape) -> Self {
        Self {
            added: 0,
            durable: 0,
            wanted: 0,
            writing: None,
            file: 0,
            used: shape.header_bytes,
            waiting: Vec::new(),
        }
    }

    /// Adds bytes; returns their end.
    pub(super) fn add(&mut self, bytes: u64, shape: &LogShape) -> u64 {
        self.added += bytes;
        if self.added - self.writing.unwrap_or(self.durable) >= shape.write_behind_bytes {
            self.wanted = self.added;
        }
        self.added
    }

    /// Whether sessions must wait because the buffer is full of pending bytes.
    pub(super) const fn is_full(&self, shape: &LogShape) -> bool {
        self.added - self.durable > shape.buffer_bytes
    }

    /// Whether `end` is durable; if not, the session is notified once it is.
    pub(super) fn wait(&mut self, end: u64, session: u32) -> bool {
        if self.durable >= end {
            return true;
        }
        self.wanted = self.wanted.max(end);
        self.waiting.push((end, session));
        false
    }

    /// The next write, if one is needed and none is in flight. It ends with the file at the latest,
    /// and a new file starts with its header.
    pub(super) fn next_write(&mut self, shape: &LogShape) -> Option<LogWrite> {
        if self.writing.is_some() || self.durable >= self.wanted {
            return None;
        }
        let room = shape.file_bytes - self.used;
        if room == 0 {
            self.file += 1;
            self.used = shape.header_bytes;
            self.writing = Some(self.durable);
            return Some(LogWrite { at: self.file * shape.file_bytes, bytes: shape.header_bytes });
        }
        let length = (self.added - self.durable).min(shape.longest_write_bytes).min(room);
        let bytes = length.next_multiple_of(shape.segment_bytes);
        let at = self.file * shape.file_bytes + self.used;
        self.used += bytes;
        self.writing = Some(self.durable + length);
        Some(LogWrite { at, bytes })
    }

    /// Completes the current write.
    pub(super) fn written(&mut self) {
        self.durable = self.writing.take().unwrap_or(self.durable);
    }

    /// Takes the sessions that need not wait any longer.
    pub(super) fn served(&mut self) -> Vec<u32> {
        let durable = self.durable;
        self.waiting
            .extract_if(.., |(end, _)| *end <= durable)
            .map(|(_, session)| session)
            .collect()
    }

    /// Bytes on stable storage.
    pub(super) const fn durable(&self) -> u64 {
        self.durable
    }

    /// Number of the file in use, and its used bytes.
    pub(super) const fn place(&self) -> (u64, u64) {
        (self.file, self.used)
    }
}
