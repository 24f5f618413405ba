//! Replies to requests, in the framing that was agreed.

use device::DeviceError;

use super::fields::WireMessage;
use super::numbers::{self, chunk, errno};
use crate::provision::Extent;
use crate::volume::{Performed, ReadBytes};

/// Longest text of an error that is sent; the protocol allows 4096 bytes.
const LONGEST_TEXT: usize = 1024;

/// How requests and replies are framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Simple,
    Structured,
    Extended,
}

/// What a reply carries if the request succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyKind {
    Read,
    /// `true` to report only the first extent.
    BlockStatus(bool),
    Other,
}

/// The parts of a request that its answer needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplyTicket {
    pub(super) framing: Framing,
    pub(super) kind: ReplyKind,
    pub(super) cookie: u64,
    pub(super) offset: u64,
    pub(super) length: u64,
}

/// A reply: its head, then the bytes that were read.
#[derive(Debug)]
pub(crate) struct NbdReply {
    /// Header and everything else in front of the data.
    pub head: Vec<u8>,
    /// Data of a read that succeeded.
    pub data: Option<ReadBytes>,
}

/// Error numbers that the protocol knows.
const KNOWN: [i32; 8] = [1, 5, 12, 22, 28, 75, 95, 108];

fn number_of(error: &DeviceError) -> u32 {
    match error {
        DeviceError::PermissionDenied { .. } | DeviceError::ReadOnly { .. } => errno::EPERM,
        DeviceError::Full { .. } => errno::ENOSPC,
        DeviceError::Io { code, .. } if KNOWN.contains(code) => code.unsigned_abs(),
        _ => errno::EIO,
    }
}

/// Device offset that an error names.
const fn place_of(error: &DeviceError) -> Option<u64> {
    match error {
        DeviceError::Io { offset, .. }
        | DeviceError::Short { offset, .. }
        | DeviceError::Full { offset, .. } => Some(*offset),
        _ => None,
    }
}

impl ReplyTicket {
    /// The reply to a request that succeeded.
    pub(crate) fn success(&self, performed: Performed) -> NbdReply {
        let head = match (self.framing, self.kind, &performed) {
            (Framing::Simple, ..) => self.simple(0),
            (_, ReplyKind::Read, Performed::Bytes(data)) => {
                let bytes = data.len() as u64;
                let head = self.chunk(chunk::DONE, chunk::OFFSET_DATA, 8 + bytes);
                head.u64(self.offset).finish()
            }
            (_, ReplyKind::BlockStatus(is_one), Performed::Extents(extents)) => {
                let most = if is_one { 1 } else { extents.len() };
                self.allocation(&extents[..most.min(extents.len())])
            }
            _ => self.chunk(chunk::DONE, chunk::NONE, 0).finish(),
        };
        let data = match performed {
            Performed::Bytes(data) => Some(data),
            Performed::Done | Performed::Extents(_) => None,
        };
        NbdReply { head, data }
    }

    /// The reply to a request that the device failed.
    pub(crate) fn failure(&self, error: &DeviceError) -> NbdReply {
        let last = self.offset.saturating_add(self.length).saturating_sub(1).max(self.offset);
        let place = place_of(error).filter(|_| self.kind == ReplyKind::Read);
        let place = place.map(|place| place.clamp(self.offset, last));
        self.error(number_of(error), &error.to_string(), place)
    }

    /// The reply to a request that was refused without being performed.
    pub(super) fn refused(&self, number: u32) -> NbdReply {
        self.error(number, "the request is not valid for this export", None)
    }

    fn error(&self, number: u32, text: &str, place: Option<u64>) -> NbdReply {
        let end = text.floor_char_boundary(LONGEST_TEXT);
        let text = &text.as_bytes()[..end];
        let length = u16::try_from(text.len()).unwrap_or(0);
        let head = if self.framing == Framing::Simple {
            self.simple(number)
        } else {
            let kind = if place.is_some() { chunk::ERROR_OFFSET } else { chunk::ERROR };
            let bytes = 6 + u64::from(length) + place.map_or(0, |_| 8);
            let head = self.chunk(chunk::DONE, kind, bytes).u32(number).u16(length);
            let head = head.bytes(&text[..usize::from(length)]);
            place.into_iter().fold(head, WireMessage::u64).finish()
        };
        NbdReply { head, data: None }
    }

    fn simple(&self, number: u32) -> Vec<u8> {
        let head = WireMessage::default().u32(numbers::SIMPLE_REPLY_MAGIC).u32(number);
        head.u64(self.cookie).finish()
    }

    fn chunk(&self, flags: u16, kind: u16, bytes: u64) -> WireMessage {
        let head = WireMessage::default();
        if self.framing == Framing::Extended {
            let head = head.u32(numbers::EXTENDED_REPLY_MAGIC).u16(flags).u16(kind);
            return head.u64(self.cookie).u64(self.offset).u64(bytes);
        }
        let head = head.u32(numbers::STRUCTURED_REPLY_MAGIC).u16(flags).u16(kind);
        head.u64(self.cookie).u32(u32::try_from(bytes).unwrap_or(u32::MAX))
    }

    /// Which bytes are holes. Flags of 0 mean: allocated, or unknown.
    fn allocation(&self, extents: &[Extent]) -> Vec<u8> {
        let is_extended = self.framing == Framing::Extended;
        let count = extents.len() as u64;
        let head = if is_extended {
            let head = self.chunk(chunk::DONE, chunk::BLOCK_STATUS_EXTENDED, 8 + 16 * count);
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            head.u32(numbers::ALLOCATION_ID).u32(count)
        } else {
            let head = self.chunk(chunk::DONE, chunk::BLOCK_STATUS, 4 + 8 * count);
            head.u32(numbers::ALLOCATION_ID)
        };
        let described = extents.iter().fold(head, |head, extent| {
            let flags = if extent.is_hole { numbers::HOLE_OF_ZEROS } else { 0 };
            if is_extended {
                return head.u64(extent.bytes).u64(u64::from(flags));
            }
            head.u32(u32::try_from(extent.bytes).unwrap_or(u32::MAX)).u32(flags)
        });
        described.finish()
    }
}

#[cfg(test)]
mod tests {
    use device::DeviceError;

    use super::{Framing, ReplyKind, ReplyTicket};
    use crate::provision::Extent;
    use crate::volume::Performed;

    fn ticket(framing: Framing, kind: ReplyKind) -> ReplyTicket {
        ReplyTicket { framing, kind, cookie: 9, offset: 1_000, length: 512 }
    }

    #[test]
    fn an_error_has_its_number_its_words_and_a_place_inside_the_request() {
        let error = |code, offset| DeviceError::Io {
            file: "disk".to_owned(),
            offset,
            operation: "read",
            code,
            message: "broken".to_owned(),
        };
        let read = ticket(Framing::Structured, ReplyKind::Read);
        for (offset, place) in [(1_100, 1_100_u64), (512, 1_000), (4_096, 1_511)] {
            let reply = read.failure(&error(5, offset)).head;
            assert_eq!((&reply[6..8], &reply[20..24]), (&[0x80, 2][..], &[0, 0, 0, 5][..]));
            assert_eq!(reply[reply.len() - 8..], place.to_be_bytes());
            assert!(reply.windows(6).any(|window| window == b"broken"));
        }
        let full = DeviceError::Full { file: "disk".to_owned(), offset: 0 };
        let write = ticket(Framing::Simple, ReplyKind::Other);
        assert_eq!(write.failure(&full).head[4..8], [0, 0, 0, 28]);
        assert_eq!(write.failure(&error(9_999, 0)).head[4..8], [0, 0, 0, 5]);
        let refused = DeviceError::PermissionDenied { file: "disk".to_owned() };
        assert_eq!(write.failure(&refused).head[4..8], [0, 0, 0, 1]);
    }

    #[test]
    fn extents_are_told_all_or_one_as_the_client_asks() {
        let both =
            [(300, true), (212, false)].map(|(bytes, is_hole)| Extent { bytes, is_hole }).to_vec();
        for (framing, is_one, expected) in [
            (Framing::Structured, false, vec![1, 300, 3, 212, 0]),
            (Framing::Structured, true, vec![1, 300, 3]),
            (Framing::Extended, false, vec![1, 2, 0, 300, 0, 3, 0, 212, 0, 0]),
            (Framing::Extended, true, vec![1, 1, 0, 300, 0, 3]),
        ] {
            let ticket = ticket(framing, ReplyKind::BlockStatus(is_one));
            let reply = ticket.success(Performed::Extents(both.clone())).head;
            let head = if framing == Framing::Extended { 32 } else { 20 };
            let words: Vec<u8> = expected.into_iter().flat_map(u32::to_be_bytes).collect();
            assert_eq!(reply[head..], words);
        }
    }

    #[test]
    fn a_long_error_is_cut_between_letters() {
        let error = DeviceError::NotFound { file: "\u{b5}".repeat(3_000) };
        let reply = ticket(Framing::Structured, ReplyKind::Other).failure(&error).head;
        assert!(reply.len() < 1_100);
        assert!(std::str::from_utf8(&reply[26..]).is_ok());
    }
}
