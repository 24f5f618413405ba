//! Parses requests: the header's fields, and whether they are valid for the export.

use device::Buffer;

use super::command::NbdCommand;
use super::fields::WireFields;
use super::numbers::{self, command, errno, flag};
use super::offer::ExportOffer;
use super::reply::{Framing, ReplyKind, ReplyTicket};

/// Bytes of a request's header.
const COMPACT_BYTES: usize = 28;

/// Bytes of an extended header.
const EXTENDED_BYTES: usize = 32;

/// A request that is valid for its export.
#[derive(Debug)]
pub(crate) struct NbdRequest {
    /// The requested operation.
    pub command: NbdCommand,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// `true` if it must be durable when it is answered.
    pub is_durable: bool,
    /// Data needed to build the reply.
    pub ticket: ReplyTicket,
}

/// A header as it arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestHeader {
    pub kind: u16,
    pub flags: u16,
    pub cookie: u64,
    pub offset: u64,
    pub length: u64,
}

/// A header, or why there is none.
pub(super) enum ParsedHeader {
    /// More bytes are needed.
    Incomplete,
    /// These bytes are not a request: the stream is out of sync.
    Lost,
    /// A header and its length in bytes.
    Header(RequestHeader, usize),
}

/// Reads the header at the beginning of `input`.
pub(super) fn parse(input: &[u8], framing: Framing) -> ParsedHeader {
    let is_extended = framing == Framing::Extended;
    let bytes = if is_extended { EXTENDED_BYTES } else { COMPACT_BYTES };
    let wanted = if is_extended { numbers::EXTENDED_REQUEST_MAGIC } else { numbers::REQUEST_MAGIC };
    let mut fields = WireFields(input.get(..bytes).unwrap_or(input));
    match fields.u32() {
        Some(magic) if magic != wanted => return ParsedHeader::Lost,
        _ if input.len() < bytes => return ParsedHeader::Incomplete,
        _ => {}
    }
    header(fields, is_extended)
        .map_or(ParsedHeader::Incomplete, |header| ParsedHeader::Header(header, bytes))
}

fn header(mut fields: WireFields<'_>, is_extended: bool) -> Option<RequestHeader> {
    let (flags, kind) = (fields.u16()?, fields.u16()?);
    let (cookie, offset) = (fields.u64()?, fields.u64()?);
    let length = if is_extended { fields.u64()? } else { u64::from(fields.u32()?) };
    Some(RequestHeader { kind, flags, cookie, offset, length })
}

impl RequestHeader {
    /// Bytes that follow the header, whether or not the request is valid. Extended writes must have
    /// a flag for them, which QEMU 10.0 leaves out.
    pub(super) fn payload(&self, framing: Framing) -> u64 {
        let is_flagged = framing == Framing::Extended && self.flags & flag::PAYLOAD_LENGTH != 0;
        if self.kind == command::WRITE || is_flagged { self.length } else { 0 }
    }

    pub(super) fn ticket(&self, framing: Framing) -> ReplyTicket {
        let kind = match self.kind {
            command::READ => ReplyKind::Read,
            command::BLOCK_STATUS => ReplyKind::BlockStatus(self.flags & flag::REQ_ONE != 0),
            _ => ReplyKind::Other,
        };
        ReplyTicket { framing, kind, cookie: self.cookie, offset: self.offset, length: self.length }
    }

    /// Flags that make sense for the command.
    fn known_flags(&self, framing: Framing) -> u16 {
        let payload = if framing == Framing::Extended { flag::PAYLOAD_LENGTH } else { 0 };
        match self.kind {
            command::READ if framing != Framing::Simple => flag::DF,
            command::WRITE => flag::FUA | payload,
            command::WRITE_ZEROES => flag::FUA | flag::NO_HOLE,
            command::BLOCK_STATUS => flag::REQ_ONE,
            // Some versions of Linux set FUA on flushes.
            command::TRIM | command::FLUSH => flag::FUA,
            _ => 0,
        }
    }

    /// The error number of a request that is refused without being performed; `has_contexts` if
    /// metadata was negotiated.
    pub(super) fn refusal(
        &self,
        framing: Framing,
        export: &ExportOffer,
        (longest, has_contexts): (u64, bool),
    ) -> Result<(), u32> {
        let is_change = matches!(self.kind, command::WRITE | command::TRIM | command::WRITE_ZEROES);
        let moves = matches!(self.kind, command::READ | command::WRITE | command::CACHE);
        if self.kind > command::BLOCK_STATUS || self.flags & !self.known_flags(framing) != 0 {
            return Err(errno::EINVAL);
        }
        if self.kind == command::BLOCK_STATUS && !has_contexts {
            return Err(errno::EINVAL);
        }
        if is_change && export.is_read_only {
            return Err(errno::EPERM);
        }
        if self.kind == command::FLUSH {
            return Ok(());
        }
        let is_inside = self.offset.checked_add(self.length).is_some_and(|end| end <= export.bytes);
        if !is_inside && matches!(self.kind, command::WRITE | command::WRITE_ZEROES) {
            return Err(errno::ENOSPC);
        }
        let is_too_long = moves && self.kind != command::CACHE && self.length > longest;
        if !is_inside || self.length == 0 || is_too_long {
            return Err(errno::EINVAL);
        }
        Ok(())
    }

    /// The request, with the payload of a write.
    pub(super) fn request(&self, framing: Framing, payload: Option<Buffer>) -> Option<NbdRequest> {
        let command = match (self.kind, payload) {
            (command::READ, _) => NbdCommand::Read,
            (command::WRITE, Some(payload)) => NbdCommand::Write(payload),
            (command::FLUSH, _) => NbdCommand::Flush,
            (command::TRIM, _) => NbdCommand::Trim,
            (command::CACHE, _) => NbdCommand::Cache,
            (command::WRITE_ZEROES, _) => NbdCommand::WriteZeroes,
            (command::BLOCK_STATUS, _) => NbdCommand::BlockStatus,
            _ => return None,
        };
        Some(NbdRequest {
            command,
            offset: self.offset,
            length: self.length,
            is_durable: self.flags & flag::FUA != 0,
            ticket: self.ticket(framing),
        })
    }
}
