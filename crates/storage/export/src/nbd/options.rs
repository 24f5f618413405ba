//! Answers to single options.

use super::fields::{Fields, Message};
use super::negotiation::{Negotiation, Outcome, answer_to};
use super::numbers::{self, answer, export as export_flag, info, option};
use super::reply::Framing;
use super::session::ExportOffer;

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
        let entry = Message::default().u32(length).bytes(name);
        let entry = entry.bytes(export.description.as_bytes()).finish();
        bytes.extend(answer_to(option::LIST, answer::SERVER, &entry));
    }
    bytes.extend(answer_to(option::LIST, answer::ACK, &[]));
    bytes
}

/// Name and wanted information of INFO and GO; none if the data are malformed.
pub(super) fn wanted(data: &[u8]) -> Option<(&str, Vec<u16>)> {
    let mut fields = Fields(data);
    let name = fields.text()?;
    let count = fields.u16()?;
    let mut wanted = Vec::new();
    for _ in 0..count {
        wanted.push(fields.u16()?);
    }
    fields.is_empty().then_some((name, wanted))
}

/// The information about an export: what every client needs, then what this one wants.
pub(super) fn information(
    kind: u32,
    export: &ExportOffer,
    wanted: &[u16],
    (framing, longest): (Framing, u32),
) -> Vec<u8> {
    let head = Message::default().u16(info::EXPORT).u64(export.bytes);
    let mut bytes = answer_to(kind, answer::INFO, &head.u16(flags(export, framing)).finish());
    let mut has_sent = [false; 4];
    for &item in wanted {
        let head = Message::default().u16(item);
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

/// Answers questions for metadata contexts. Only allocation is known.
pub(super) fn contexts(
    negotiation: &mut Negotiation,
    kind: u32,
    data: &[u8],
    exports: &[ExportOffer],
) -> Outcome {
    let refuse = |why| Outcome::Continue(answer_to(kind, why, &[]));
    let is_set = kind == option::SET_META_CONTEXT;
    if is_set {
        negotiation.context_of = None;
    }
    let Some((name, queries)) = queries(data) else {
        return refuse(answer::ERR_INVALID);
    };
    if negotiation.framing.is_none() {
        return refuse(answer::ERR_INVALID);
    }
    let Some((number, _)) = find(exports, name) else {
        return refuse(answer::ERR_UNKNOWN);
    };
    let lists_all = !is_set && (queries.is_empty() || queries.contains(&numbers::BASE));
    let mut bytes = Vec::new();
    if lists_all || queries.contains(&numbers::ALLOCATION) {
        let context = Message::default().u32(if is_set { numbers::ALLOCATION_ID } else { 0 });
        let context = context.bytes(numbers::ALLOCATION.as_bytes()).finish();
        bytes.extend(answer_to(kind, answer::META_CONTEXT, &context));
        if is_set {
            negotiation.context_of = Some(number);
        }
    }
    bytes.extend(answer_to(kind, answer::ACK, &[]));
    Outcome::Continue(bytes)
}

/// Export and queries; none if the data are malformed.
fn queries(data: &[u8]) -> Option<(&str, Vec<&str>)> {
    let mut fields = Fields(data);
    let name = fields.text()?;
    let count = fields.u32()?;
    let mut queries = Vec::new();
    for _ in 0..count {
        queries.push(fields.text()?);
    }
    fields.is_empty().then_some((name, queries))
}
