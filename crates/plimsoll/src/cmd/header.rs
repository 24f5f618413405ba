//! `header`: what a database file says of itself, or the flush map beside it.

use ese::flush_map::{FlushMapHeader, MAP_PAGE_BYTES};
use ese::header::{CopyState, DatabaseHeader, HeaderCopies, PROBE_BYTES, read_copies};
use serde_json::{Value, json};

use crate::Outcome;
use crate::console::Console;
use crate::documents;
use crate::error::CommandError;
use crate::flags::FileFlags;

use std::io::Read as _;

/// Prints the header; fails where a copy is damaged.
pub(crate) fn run(flags: &FileFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let path = &flags.file;
    let mut start = Vec::new();
    documents::open(path)
        .and_then(|file| file.take(PROBE_BYTES as u64).read_to_end(&mut start))
        .map_err(|error| CommandError::file(path, "read", &error))?;
    if let Some(Ok(map)) = start.get(..MAP_PAGE_BYTES).map(FlushMapHeader::decode) {
        return flush_map(&map, flags.json, console);
    }
    let copies = read_copies(&start)
        .map_err(|error| CommandError::new(format!("{}: {error}", path.display())))?;
    let sound = copies.primary == CopyState::Good && copies.shadow == CopyState::Good;
    if flags.json {
        console.answer_json(&as_json(&copies))?;
    } else {
        for (name, value) in lines(&copies) {
            console.answer(format_args!("{name:<24} {value}"))?;
        }
    }
    if sound && !copies.copies_agree {
        let path = path.display();
        console.remark(format_args!(
            "{path}: the two copies of the header differ: a crash fell between their writes; \
             the first one counts"
        ))?;
    }
    Ok(if sound { Outcome::Pass } else { Outcome::Fail })
}

fn flush_map(
    map: &FlushMapHeader,
    as_json: bool,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let lines = [
        ("kind", "kind", "flush map".to_owned()),
        ("clean", "clean", map.is_clean.to_string()),
        ("created", "created", map.created.to_string()),
        ("last attached", "attached", map.attached.to_string()),
        ("last detached", "detached", map.detached.to_string()),
        (
            "pairs with header write",
            "database_flush",
            map.database_flush.to_string(),
        ),
        ("own signature", "map_flush", map.map_flush.to_string()),
    ];
    if as_json {
        let fields = lines.map(|(_, key, value)| (key.to_owned(), Value::from(value)));
        console.answer_json(&Value::Object(fields.into_iter().collect()))?;
    } else {
        for (name, _, value) in lines {
            console.answer(format_args!("{name:<24} {value}"))?;
        }
    }
    Ok(Outcome::Pass)
}

fn lines(copies: &HeaderCopies) -> Vec<(&'static str, String)> {
    let header = &copies.header;
    vec![
        ("state", header.state.to_string()),
        ("format", format(header)),
        ("written by", engine(copies).unwrap_or("unknown").to_owned()),
        ("page size", copies.page_size.to_string()),
        ("database time", format!("{:#x}", header.dbtime)),
        ("signature", header.signature.to_string()),
        ("log signature", header.log_signature.to_string()),
        ("log required", generations(header)),
        (
            "log committed",
            format!("{:#x}", header.generation_max_committed.0),
        ),
        (
            "last consistent",
            at(header.consistent_at, header.consistent_time),
        ),
        (
            "last attached",
            at(header.attached_at, header.attached_time),
        ),
        (
            "last detached",
            at(header.detached_at, header.detached_time),
        ),
        ("header write", header.header_flush_signature.to_string()),
        ("flush map", header.flush_map_signature.to_string()),
        ("last object", header.last_object.to_string()),
        (
            "last full backup",
            header.backup_full_current.time.to_string(),
        ),
        ("bits repaired", header.bit_fixes.count.to_string()),
        (
            "checksum errors",
            header.checksum_failures.count.to_string(),
        ),
        ("repairs", header.repair_count.to_string()),
        ("first copy", copy(copies.primary)),
        ("second copy", copy(copies.shadow)),
    ]
}

fn as_json(copies: &HeaderCopies) -> Value {
    let header = &copies.header;
    json!({
        "state": header.state.to_string(),
        "format": { "version": header.format_version, "update": header.format_update },
        "written_by": engine(copies),
        "page_size_bytes": copies.page_size.bytes(),
        "dbtime": header.dbtime,
        "signature": header.signature.to_string(),
        "log_signature": header.log_signature.to_string(),
        "header_flush_signature": header.header_flush_signature.to_string(),
        "flush_map_signature": header.flush_map_signature.to_string(),
        "log_generation_min_required": header.generation_min_required.0,
        "log_generation_max_required": header.generation_max_required.0,
        "log_generation_max_committed": header.generation_max_committed.0,
        "last_object": header.last_object.0,
        "bit_fixes": header.bit_fixes.count,
        "checksum_failures": header.checksum_failures.count,
        "repair_count": header.repair_count,
        "copies": {
            "first": copy(copies.primary),
            "second": copy(copies.shadow),
            "agree": copies.copies_agree,
        },
    })
}

fn format(header: &DatabaseHeader) -> String {
    format!("{:#x},{}", header.format_version, header.format_update)
}

/// The engines that write this format, or none known.
fn engine(copies: &HeaderCopies) -> Option<&'static str> {
    let header = &copies.header;
    let page_bytes = copies.page_size.bytes();
    builds::engine_of(header.format_version, header.format_update, page_bytes)
}

fn generations(header: &DatabaseHeader) -> String {
    match (
        header.generation_min_required.0,
        header.generation_max_required.0,
    ) {
        (0, 0) => "none".to_owned(),
        (first, last) => format!("{first:#x} to {last:#x}"),
    }
}

fn at(lgpos: ese::Lgpos, time: ese::LogTime) -> String {
    if lgpos.is_some() {
        format!("{time} at {lgpos}")
    } else {
        time.to_string()
    }
}

fn copy(state: CopyState) -> String {
    match state {
        CopyState::Good => "good".to_owned(),
        CopyState::Bad => "damaged".to_owned(),
        CopyState::FlippedBit { bit } => {
            format!(
                "damaged: one bit flipped at byte {} bit {}",
                bit / 8,
                bit % 8
            )
        }
        CopyState::HoldsPage(page) => format!("damaged: holds page {page} of the database"),
        CopyState::Missing => "missing".to_owned(),
    }
}
