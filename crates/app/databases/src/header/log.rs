//! The headers of log files and checkpoint files, of real engines and of this program.

use ese::log_file::{
    Attachment, CheckpointFacts, LOG_HEADER_BYTES, LogFacts, LogFileError, RunParameters,
};
use ese::{Lgpos, LogTime};
use serde_json::{Value, json};

use super::HeaderLine;
use console::Outcome;

/// Major version of the logs of this project, "PL".
const OWN_VERSION: u32 = 0x504C;

/// Contents of a header, and its validity.
pub(super) struct HeaderLines {
    pub lines: Vec<HeaderLine>,
    pub outcome: Outcome,
}

/// The header in the first bytes of a file; `None` if it is neither a log nor a checkpoint. An
/// error describes a damaged one.
pub(super) fn read(start: &[u8]) -> Option<Result<HeaderLines, String>> {
    let (copies, _) = start.as_chunks::<LOG_HEADER_BYTES>();
    let first = copies.first()?;
    match LogFacts::decode(first) {
        Ok(facts) => {
            return Some(Ok(HeaderLines { lines: log(&facts), outcome: Outcome::Pass }));
        }
        Err(error) if LogFacts::is_claimed_by(first) => {
            return Some(Err(format!("a log file; {error}")));
        }
        Err(_) => {}
    }
    let second = copies.get(1);
    let claimed = [Some(first), second];
    let mut claimed = claimed.into_iter().flatten();
    claimed.any(CheckpointFacts::is_claimed_by).then(|| checkpoint(first, second))
}

fn checkpoint(
    first: &[u8; LOG_HEADER_BYTES],
    second: Option<&[u8; LOG_HEADER_BYTES]>,
) -> Result<HeaderLines, String> {
    let one = CheckpointFacts::decode(first);
    let two = second.map(CheckpointFacts::decode);
    let states = [state(&one), two.as_ref().map_or("missing", |two| state(two))];
    let (one, two) = (one.ok(), two.and_then(Result::ok));
    let is_whole = one.is_some() && two.is_some();
    let agree = one == two;
    let facts = one.or(two).ok_or("a checkpoint; both copies are damaged")?;
    let mut lines = vec![
        HeaderLine::new("kind", "file_kind", "checkpoint"),
        place("redo begins at", "place", facts.place),
        HeaderLine::new("log signature", "signature", facts.signature.to_string()),
        place("consistent up to", "consistency", facts.consistency),
        backup("last full backup", "full_backup", facts.full_backup),
        place("its restore begins at", "full_backup_place", facts.full_backup_place),
        backup("last incremental backup", "incremental_backup", facts.incremental_backup),
    ];
    lines.extend(parameters(&facts.parameters));
    lines.push(attachments(&facts.attachments));
    lines.push(HeaderLine::new("first copy", "first_copy", states[0]));
    lines.push(HeaderLine::new("second copy", "second_copy", states[1]));
    lines.push(HeaderLine::new("copies agree", "copies_agree", agree));
    let outcome = if is_whole { Outcome::Pass } else { Outcome::Fail };
    Ok(HeaderLines { lines, outcome })
}

fn state(copy: &Result<CheckpointFacts, LogFileError>) -> &'static str {
    if copy.is_ok() { "good" } else { "damaged" }
}

fn log(facts: &LogFacts) -> Vec<HeaderLine> {
    let [major, minor, update, update_minor] = facts.version;
    let kind = if major == OWN_VERSION { "log file of Plimsoll" } else { "log file" };
    let [segment_bytes, segments, header_segments] = facts.segments;
    let page_bytes = match facts.page_bytes {
        0 => 4096,
        bytes => bytes,
    };
    let mut lines = vec![
        HeaderLine::new("kind", "file_kind", kind),
        HeaderLine::new("generation", "generation", format!("{:#x}", facts.generation.0)),
        HeaderLine::new("format", "format", format!("{major}.{minor}.{update}.{update_minor}")),
        HeaderLine::new("engine version", "engine_version", facts.engine_version),
        HeaderLine::new("created", "created", facts.created.to_string()),
        HeaderLine::new(
            "previous one created",
            "previous_created",
            facts.previous_created.to_string(),
        ),
        HeaderLine::new("log signature", "signature", facts.signature.to_string()),
        HeaderLine::new("segments", "segments", segments),
        HeaderLine::new("segment bytes", "segment_bytes", segment_bytes),
        HeaderLine::new("header segments", "header_segments", header_segments),
        HeaderLine::new("page size in bytes", "page_size_bytes", page_bytes),
        HeaderLine::new("flags", "flags", facts.flag_names().join(" ")),
        place("checkpoint then", "checkpoint", facts.checkpoint),
        HeaderLine::new(
            "previous checksum",
            "previous_checksum",
            format!("{:#018x}", facts.previous_checksum),
        ),
    ];
    if major != OWN_VERSION {
        lines.push(HeaderLine::new("sector size code", "sector_size_code", facts.sector_size));
        lines.extend(parameters(&facts.parameters));
    }
    lines.push(attachments(&facts.attachments));
    lines
}

/// The engine's settings when it wrote the header.
fn parameters(parameters: &RunParameters) -> [HeaderLine; 10] {
    let one = parameters;
    [
        HeaderLine::new("system path", "system_path", one.system_path.as_str()),
        HeaderLine::new("log path", "log_path", one.log_path.as_str()),
        HeaderLine::new("circular logging", "circular_logging", one.is_circular),
        HeaderLine::new("most sessions", "most_sessions", one.sessions),
        HeaderLine::new("most open tables", "most_open_tables", one.open_tables),
        HeaderLine::new("most version pages", "most_version_pages", one.version_pages),
        HeaderLine::new("most cursors", "most_cursors", one.cursors),
        HeaderLine::new("log buffers in sectors", "log_buffer_sectors", one.log_buffers),
        HeaderLine::new("log file in sectors", "log_file_sectors", one.log_file_segments),
        HeaderLine::new("most cache pages", "most_cache_pages", one.cache_pages),
    ]
}

fn place(name: &'static str, key: &'static str, place: Lgpos) -> HeaderLine {
    HeaderLine::new(name, key, place_text(place))
}

fn place_text(place: Lgpos) -> String {
    if place.is_some() { place.to_string() } else { "none".to_owned() }
}

fn backup(name: &'static str, key: &'static str, (place, time): (Lgpos, LogTime)) -> HeaderLine {
    HeaderLine::new(name, key, format!("{time} at {}", place_text(place)))
}

fn attachments(attachments: &[Attachment]) -> HeaderLine {
    let attached: Vec<Value> = attachments
        .iter()
        .map(|one| {
            json!({
                "path": one.path,
                "database_id": one.database_id,
                "dbtime": one.dbtime,
                "last_object": one.last_object.0,
                "attached_at": place_text(one.attached_at),
                "consistent_at": place_text(one.consistent_at),
                "signature": one.signature.to_string(),
            })
        })
        .collect();
    HeaderLine::new("attached", "attached", attached)
}
