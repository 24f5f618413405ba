//! `dump` of logs: record by record, or the history of one page or table.

use std::path::{Path, PathBuf};

use ese::LogTime;
use eselog::{BadRecord, LogRecord, RecordFault, SegmentFault, Value};
use serde_json::{Map, Value as Json, json};
use units::hexadecimal;

use super::endings::{Endings, TransactionEnding};
use super::files::{self, LogFiles};
use super::filter::Filter;
use crate::dump::flags::DumpFlags;
use console::Console;
use console::Outcome;
use console::error::CommandError;

/// Maximum bytes of a part shown per line.
const SHOWN: usize = 48;

/// Prints the records of the log, or of all logs in a folder in order; fails at bytes that form no
/// record. A history states for every change how its transaction ends.
pub(crate) fn run(flags: &DumpFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let paths = files::logs(std::slice::from_ref(&flags.file))?;
    let ordered = in_order(paths)?;
    let mut filter = Filter::of(flags, &ordered)?;
    let mut endings = None;
    if !filter.takes_all() {
        let mut found = Endings::default();
        let mut selected = Filter::of(flags, &ordered)?;
        walk(&ordered, &mut selected, |step| {
            if let DumpStep::Record(record, time) = step {
                found.note(record, time);
            }
            Ok(())
        })?;
        endings = Some(found);
    }
    let mut outcome = Outcome::Pass;
    walk(&ordered, &mut filter, |step| match step {
        DumpStep::Record(record, time) => {
            let is_of_session = record.session().is_some();
            let endings = endings.as_mut().filter(|_| is_of_session);
            let ending = endings.map(|endings| endings.of(record));
            let ending = ending
                .map(|ending| (TransactionEnding::json(ending), TransactionEnding::words(ending)));
            print(record, time, ending, flags.json, console)
        }
        DumpStep::Bad(bad) => {
            if bad.fault != RecordFault::CutShort {
                outcome = Outcome::Fail;
            }
            print_bad(bad, flags.json, console)
        }
        DumpStep::Fault(path, fault) => {
            outcome = Outcome::Fail;
            let (path, segment) = (path.display(), fault.segment);
            console.remark(format_args!("{path}: segment {segment}: {}", fault.damage))
        }
    })?;
    Ok(outcome)
}

/// Items that a walk over logs encounters.
enum DumpStep<'w, 'r> {
    /// A selected record, and the start time of its segment.
    Record(&'w LogRecord<'r>, LogTime),
    Bad(&'w BadRecord),
    Fault(&'w Path, &'w SegmentFault),
}

/// Emits the selected records of the files, their bad records and damaged segments.
fn walk(
    paths: &[PathBuf],
    filter: &mut Filter,
    mut visit: impl FnMut(DumpStep<'_, '_>) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    for path in paths {
        let bytes = files::read(path)?;
        let file = files::open(path, &bytes)?;
        let survey = file.survey();
        let mut records = file.records(&survey);
        while let Some(record) = records.next() {
            match record {
                Ok(record) if filter.takes(&record) => {
                    visit(DumpStep::Record(&record, records.time()))?;
                }
                Ok(_) => {}
                Err(bad) => visit(DumpStep::Bad(&bad))?,
            }
        }
        for fault in &survey.faults {
            visit(DumpStep::Fault(path, fault))?;
        }
    }
    Ok(())
}

/// Sorts the files by generation; returns a single file without examining it.
fn in_order(paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, CommandError> {
    if paths.len() < 2 {
        return Ok(paths);
    }
    let files = LogFiles::examine(&paths, None)?;
    Ok(files.set.members().iter().map(|member| files.path(&member.name)).collect())
}

fn print(
    record: &LogRecord<'_>,
    time: LogTime,
    ending: Option<(Json, String)>,
    as_json: bool,
    console: &mut Console,
) -> Result<(), CommandError> {
    if as_json {
        let mut members = json_of(record, time);
        if let Some((ending, _)) = ending {
            members["transaction_end"] = ending;
        }
        return console.answer_json("log_record", members);
    }
    let fields = record.fields().map(|(field, value)| format!("{} {value}", field.name()));
    let parts = record.parts().filter(|(_, bytes)| !bytes.is_empty());
    let parts = parts.map(|(part, bytes)| format!("{} {}", part.name(), shown(bytes)));
    let ending = ending.map(|(_, words)| words);
    let words: Vec<String> = fields.chain(parts).chain(ending).collect();
    let name = name_of(record);
    console.answer(format_args!("{} {time} {name}: {}", record.place(), words.join(", ")))
}

/// Name of a record's type; for an unknown type, its number and length.
fn name_of(record: &LogRecord<'_>) -> String {
    record.name().map_or_else(
        || format!("unknown type {} of at most {} bytes", record.kind(), record.bytes().len()),
        ToOwned::to_owned,
    )
}

fn json_of(record: &LogRecord<'_>, time: LogTime) -> Json {
    let mut fields: Map<String, Json> = record
        .fields()
        .map(|(field, value)| (field.name().to_owned(), json_value(value)))
        .collect();
    for (part, bytes) in record.parts() {
        fields.insert(part.name().to_owned(), hexadecimal(bytes).into());
    }
    json!({
        "place": record.place().to_string(),
        "segment_time": time.to_string(),
        "type": record.kind(),
        "name": record.name(),
        "bytes": record.bytes().len(),
        "fields": fields,
    })
}

fn json_value(value: Value) -> Json {
    match value {
        Value::Number(number) => number.into(),
        Value::Signed(number) => number.into(),
        Value::Place(_) | Value::Time(_) | Value::Signature(_) => value.to_string().into(),
    }
}

fn print_bad(bad: &BadRecord, as_json: bool, console: &mut Console) -> Result<(), CommandError> {
    if as_json {
        let place = bad.place.to_string();
        let members = json!({ "place": place, "type": bad.kind, "error": bad.to_string() });
        return console.answer_json("log_record", members);
    }
    console.answer(bad)
}

fn shown(bytes: &[u8]) -> String {
    let text = hexadecimal(&bytes[..bytes.len().min(SHOWN)]);
    if bytes.len() > SHOWN { format!("{text}... ({} bytes)", bytes.len()) } else { text }
}
