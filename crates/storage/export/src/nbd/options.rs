//! Answers to single options.

use super::fields::{WireFields, WireMessage};
use super::numbers::{self, answer, export as export_flag, info, option};
use super::offer::ExportOffer;
use super::reply::Framing;

/// The reply of kind `kind` to option `option`.
pub(super) fn answer_to(option: u32, kind: u32, data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    let head = WireMessage::default().u64(numbers::OPTION_REPLY_MAGIC).u32(option).u32(kind);
    head.u32(length).bytes(data).finish()
}

/// The export `name` and its number; the empty name is the first one.
pub(super) fn find<'a>(exports: &'a [ExportOffer], name: &str) -> Option<(usize, &'a ExportOffer)> {
    let mut numbered = exports.iter().enumerate();
    numbered.find(|(_, export)| export.name == name || name.is_empty())
}

/// Flags of an export. All connections share one device, so that a flush on any of them covers the
/// writes of all: a client may use several.
pub(super) fn flags(export: &ExportOffer, framing: Framing) -> u16 {
    let mut flags = export_flag::HAS_FLAGS
        | export_flag::SEND_FLUSH
        | export_flag::SEND_FUA
        | export_flag::SEND_CACHE
        | export_flag::CAN_MULTI_CONN;
    if framing != Framing::Simple {
        flags |= export_flag::SEND_DF;
    }
    if export.is_read_only {
        return flags | export_flag::READ_ONLY;
    }
    flags | export_flag::SEND_TRIM | export_flag::SEND_WRITE_ZEROES
}

/// The names of all exports.
pub(super) fn list(exports: &[ExportOffer]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for export in exports {
        let name = export.name.as_bytes();
        let length = u32::try_from(name.len()).unwrap_or(u32::MAX);
        let entry = WireMessage::default().u32(length).bytes(name);
        let entry = entry.bytes(export.description.as_bytes()).finish();
        bytes.extend(answer_to(option::LIST, answer::SERVER, &entry));
    }
    bytes.extend(answer_to(option::LIST, answer::ACK, &[]));
    bytes
}

/// Name and requested information of INFO and GO; `None` if the data are malformed.
pub(super) fn wanted(data: &[u8]) -> Option<(&str, Vec<u16>)> {
    let mut fields = WireFields(data);
    let name = fields.text()?;
    let count = fields.u16()?;
    let mut wanted = Vec::new();
    for _ in 0..count {
        wanted.push(fields.u16()?);
    }
    fields.is_empty().then_some((name, wanted))
}

/// The information about an export: the mandatory items, then those that this client requested.
pub(super) fn information(
    kind: u32,
    export: &ExportOffer,
    wanted: &[u16],
    (framing, longest): (Framing, u32),
) -> Vec<u8> {
    let head = WireMessage::default().u16(info::EXPORT).u64(export.bytes);
    let mut bytes = answer_to(kind, answer::INFO, &head.u16(flags(export, framing)).finish());
    let mut has_sent = [false; 4];
    for &item in wanted {
        let head = WireMessage::default().u16(item);
        let data = match item {
            info::NAME => head.bytes(export.name.as_bytes()),
            info::DESCRIPTION => head.bytes(export.description.as_bytes()),
            info::BLOCK_SIZE => head.u32(1).u32(export.preferred_block).u32(longest),
            _ => continue,
        };
        if !std::mem::replace(&mut has_sent[usize::from(item)], true) {
            bytes.extend(answer_to(kind, answer::INFO, &data.finish()));
        }
    }
    bytes
}

/// Export and queries; `None` if the data are malformed.
pub(super) fn queries(data: &[u8]) -> Option<(&str, Vec<&str>)> {
    let mut fields = WireFields(data);
    let name = fields.text()?;
    let count = fields.u32()?;
    let mut queries = Vec::new();
    for _ in 0..count {
        queries.push(fields.text()?);
    }
    fields.is_empty().then_some((name, queries))
}
