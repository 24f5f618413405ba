//! `header`: the header of a file of an ESE database: the database, its logs, its checkpoint or its
//! flush map, whichever engine wrote it.

mod database;
mod log;

use std::io::Read as _;
use std::path::Path;

use ese::flush_map::{FlushMapHeader, MAP_PAGE_BYTES};
use ese::header::PROBE_BYTES;
use host::target::ByteSource;
use serde_json::{Map, Value};

use console::Console;
use console::Outcome;
use console::args::FileFlags;
use console::error::CommandError;

/// Fill byte of empty logs before Windows 10; every 16th byte is a different one that ends in the
/// digit A.
const OLD_FILL: u8 = 0xDA;
const OLD_FILL_PERIOD: usize = 16;

/// A line for people, with the JSON key of its value for programs.
struct HeaderLine {
    name: &'static str,
    key: &'static str,
    value: Value,
}

impl HeaderLine {
    fn new(name: &'static str, key: &'static str, value: impl Into<Value>) -> Self {
        let value = value.into();
        Self { name, key, value }
    }
}

/// Prints the header; fails if a copy is damaged, or if the file ends before its database.
pub(crate) fn run(flags: &FileFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let path = &flags.file;
    let mut start = Vec::new();
    ByteSource::open(path)
        .and_then(|file| file.take(PROBE_BYTES as u64).read_to_end(&mut start))
        .map_err(|error| CommandError::file(path, "read", &error))?;
    if let Some(Ok(map)) = start.get(..MAP_PAGE_BYTES).map(FlushMapHeader::decode) {
        print(&flush_map(&map), flags.json, console)?;
        return Ok(Outcome::Pass);
    }
    if let Some(found) = log::read(&start) {
        let lines = found.map_err(|what| {
            let path = path.display();
            CommandError::Damage(format!("{path}: {what}"))
        })?;
        print(&lines.lines, flags.json, console)?;
        return Ok(lines.outcome);
    }
    if is_reserve(path).map_err(|error| CommandError::file(path, "read", &error))? {
        print(&reserve(), flags.json, console)?;
        return Ok(Outcome::Pass);
    }
    database::print(path, &start, flags.json, console)
}

/// Whether an engine reserves the file for a future log: judged by its name, and by containing only
/// one of the usual fill bytes.
fn is_reserve(path: &Path) -> std::io::Result<bool> {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let is_named = name.is_some_and(|name| {
        let extensions = [".jrs", "tmp.log", "tmp.jtx", "res1.log", "res2.log"];
        extensions.iter().any(|end| name.ends_with(end))
    });
    if !is_named {
        return Ok(false);
    }
    let (mut file, mut block, mut is_empty) = (ByteSource::open(path)?, vec![0; 1 << 16], true);
    loop {
        let read = file.read(&mut block)?;
        if read == 0 {
            return Ok(!is_empty);
        }
        if !is_fill(&block[..read]) {
            return Ok(false);
        }
        is_empty = false;
    }
}

/// Whether a block contains only the fill of a log that an engine has not started.
fn is_fill(block: &[u8]) -> bool {
    block.iter().all(|byte| *byte == 0)
        || block.iter().enumerate().all(|(at, byte)| {
            let is_counted = at.is_multiple_of(OLD_FILL_PERIOD);
            *byte == OLD_FILL || (is_counted && byte & 0x0F == OLD_FILL & 0x0F)
        })
}

fn reserve() -> Vec<HeaderLine> {
    vec![
        HeaderLine::new("kind", "file_kind", "reserved log file"),
        HeaderLine::new("holds", "holds", "nothing: room kept for a log to come; no damage"),
    ]
}

fn print(lines: &[HeaderLine], as_json: bool, console: &mut Console) -> Result<(), CommandError> {
    if as_json {
        let fields: Map<_, _> =
            lines.iter().map(|line| (line.key.to_owned(), line.value.clone())).collect();
        return console.answer_json("header", Value::Object(fields));
    }
    for line in lines {
        let value = match &line.value {
            Value::String(text) => text.clone(),
            Value::Array(lines) => {
                for text in lines {
                    console.answer(format_args!("{:<24} {}", line.name, member_text(text)))?;
                }
                continue;
            }
            other => other.to_string(),
        };
        console.answer(format_args!("{:<24} {value}", line.name))?;
    }
    Ok(())
}

/// An object in one line: its values in the order of their keys.
fn member_text(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let texts: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{key} {}", member_text(value)))
                .collect();
            texts.join("; ")
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn flush_map(map: &FlushMapHeader) -> Vec<HeaderLine> {
    vec![
        HeaderLine::new("kind", "file_kind", "flush map"),
        HeaderLine::new("clean", "clean", map.is_clean.to_string()),
        HeaderLine::new("created", "created", map.created.to_string()),
        HeaderLine::new("last attached", "attached", map.attached.to_string()),
        HeaderLine::new("last detached", "detached", map.detached.to_string()),
        HeaderLine::new(
            "pairs with header write",
            "database_flush",
            map.database_flush.to_string(),
        ),
        HeaderLine::new("own signature", "map_flush", map.map_flush.to_string()),
    ]
}
