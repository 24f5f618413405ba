//! The header of a database file, in both of its copies.

use std::path::Path;

use ese::header::{CopyState, DatabaseHeader, HeaderCopies};
use ese::page::PageSize;
use host::headers::header_or_pages;
use host::scan::{FileFault, truncations};
use serde_json::{Value, json};

use crate::check::next_steps;

use console::Console;
use console::Outcome;
use console::error::CommandError;

/// Indent of the continuation lines of a fault.
const INDENT: usize = 4;

/// Prints the header in `start`, the first bytes of the file at `path`.
pub(super) fn print(
    path: &Path,
    start: &[u8],
    json: bool,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let (page_size, copies) = header_or_pages(path, start)?;
    let truncations = truncations(path, page_size);
    let Some(copies) = copies else {
        return print_lost(path, page_size, (&truncations, json), console);
    };
    let faults = [FileFault::of_header(Some(&copies)), truncations.clone()].concat();
    let sound = copies.primary == CopyState::Good && copies.shadow == CopyState::Good;
    if json {
        let mut answer = as_json(&copies);
        answer["file_faults"] = faults.iter().map(ToString::to_string).collect();
        console.answer_json("header", answer)?;
    } else {
        print_lines(&lines(&copies), console)?;
        print_faults(path, &truncations, console)?;
        print_steps(path, &faults, console)?;
    }
    if sound && !copies.copies_agree {
        let path = path.display();
        console.remark(format_args!(
            "{path}: the two copies of the header differ: a crash fell between their writes; \
             the first one counts"
        ))?;
    }
    Ok(if sound && truncations.is_empty() { Outcome::Pass } else { Outcome::Fail })
}

/// Reports a database without its header, in the words of `check`.
fn print_lost(
    path: &Path,
    page_size: PageSize,
    (truncations, json): (&[FileFault], bool),
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let faults = [&[FileFault::HeaderLost], truncations].concat();
    let lost = copy(CopyState::Bad);
    if json {
        let answer = json!({
            "file_kind": "database",
            "page_size_bytes": page_size.bytes(),
            "copies": { "first": lost, "second": lost, "agree": false },
            "file_faults": faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        console.answer_json("header", answer)?;
        return Ok(Outcome::Fail);
    }
    let size = ("page size", format!("{page_size}, by its pages"));
    print_lines(&[size, ("first copy", lost.clone()), ("second copy", lost)], console)?;
    print_faults(path, &faults, console)?;
    print_steps(path, &faults, console)?;
    Ok(Outcome::Fail)
}

fn print_steps(
    path: &Path,
    faults: &[FileFault],
    console: &mut Console,
) -> Result<(), CommandError> {
    for step in next_steps(path, faults, &[]) {
        console.answer_folded(step, INDENT)?;
    }
    Ok(())
}

fn print_lines(
    lines: &[(&'static str, String)],
    console: &mut Console,
) -> Result<(), CommandError> {
    for (name, value) in lines {
        console.answer(format_args!("{name:<24} {value}"))?;
    }
    Ok(())
}

fn print_faults(
    path: &Path,
    faults: &[FileFault],
    console: &mut Console,
) -> Result<(), CommandError> {
    for fault in faults {
        console.answer_folded(format_args!("{}: {fault}", path.display()), INDENT)?;
    }
    Ok(())
}

fn lines(copies: &HeaderCopies) -> Vec<(&'static str, String)> {
    let header = &copies.header;
    vec![
        ("state", header.state.to_string()),
        ("format", format(header)),
        ("created in format", created(header)),
        ("written by", engine(copies).unwrap_or("unknown").to_owned()),
        ("engine version", engine_version(header)),
        ("operating system", system(header)),
        ("page size", copies.page_size.to_string()),
        ("database time", format!("{:#x}", header.dbtime)),
        ("signature", header.signature.to_string()),
        ("log signature", header.log_signature.to_string()),
        ("log required", generations(header)),
        ("log committed", format!("{:#x}", header.generation_max_committed.0)),
        ("last consistent", at(header.consistent_at, header.consistent_time)),
        ("last attached", at(header.attached_at, header.attached_time)),
        ("last detached", at(header.detached_at, header.detached_time)),
        ("header write", header.header_flush_signature.to_string()),
        ("flush map", header.flush_map_signature.to_string()),
        ("last object", header.last_object.to_string()),
        ("last full backup", header.backup_full_current.time.to_string()),
        ("bits repaired", header.bit_fixes.count.to_string()),
        ("checksum errors", header.checksum_failures.count.to_string()),
        ("repairs", header.repair_count.to_string()),
        ("first copy", copy(copies.primary)),
        ("second copy", copy(copies.shadow)),
    ]
}

fn as_json(copies: &HeaderCopies) -> Value {
    let header = &copies.header;
    json!({
        "file_kind": "database",
        "state": header.state.to_string(),
        "format": {
            "version": header.format_version,
            "update": header.format_update,
            "update_minor": header.format_update_minor,
        },
        "created_format": {
            "version": header.created_format_version,
            "update": header.created_format_update,
        },
        "engine_version": header.engine_version,
        "operating_system": system(header),
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

/// Version, update major and update minor.
fn format(header: &DatabaseHeader) -> String {
    let (version, update) = (header.format_version, header.format_update);
    format!("{version:#x},{update},{}", header.format_update_minor)
}

fn created(header: &DatabaseHeader) -> String {
    let (version, update) = (header.created_format_version, header.created_format_update);
    format!("{version:#x},{update}")
}

/// The engine that wrote the file; engines before Windows 10 do not record it.
fn engine_version(header: &DatabaseHeader) -> String {
    match header.engine_version {
        0 => "not stated".to_owned(),
        version => version.to_string(),
    }
}

/// The system that last had the file open.
fn system(header: &DatabaseHeader) -> String {
    let version = &header.os_version;
    let (major, minor, build) = (version.major, version.minor, version.build);
    match (major, version.service_pack) {
        (0, _) => "not stated".to_owned(),
        (_, 0) => format!("{major}.{minor}.{build}"),
        (_, pack) => format!("{major}.{minor}.{build} SP{pack}"),
    }
}

/// The engines that write this format; `None` if unknown.
fn engine(copies: &HeaderCopies) -> Option<&'static str> {
    let header = &copies.header;
    let page_bytes = copies.page_size.bytes();
    builds::engine_of(header.format_version, header.format_update, page_bytes)
}

fn generations(header: &DatabaseHeader) -> String {
    match (header.generation_min_required.0, header.generation_max_required.0) {
        (0, 0) => "none".to_owned(),
        (first, last) => format!("{first:#x} to {last:#x}"),
    }
}

fn at(lgpos: ese::Lgpos, time: ese::LogTime) -> String {
    match (lgpos.is_some(), time == ese::LogTime::NEVER) {
        (true, true) => format!("at {lgpos}, at a time that is not recorded"),
        (true, false) => format!("{time} at {lgpos}"),
        (false, _) => time.to_string(),
    }
}

fn copy(state: CopyState) -> String {
    match state {
        CopyState::Good => "good".to_owned(),
        CopyState::Bad => "damaged".to_owned(),
        CopyState::FlippedBit { bit } => {
            format!("damaged: one bit flipped at byte {} bit {}", bit / 8, bit % 8)
        }
        CopyState::HoldsPage(page) => format!("damaged: holds page {page} of the database"),
        CopyState::Missing => "missing".to_owned(),
    }
}
