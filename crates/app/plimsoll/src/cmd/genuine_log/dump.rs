//! `dump` of logs: record by record, or the history of one page or table.

use std::path::PathBuf;

use ese::LogTime;
use eselog::{BadRecord, LogRecord, RecordFault, Value};
use serde_json::{Map, Value as Json, json};
use units::hexadecimal;

use super::files::{self, LogFiles};
use super::filter::Filter;
use crate::Outcome;
use crate::cmd::dump::flags::DumpFlags;
use crate::console::Console;
use crate::error::CommandError;

/// Bytes of a part that are shown in a line.
const SHOWN: usize = 48;

/// Prints the records of the log, or of all logs of a folder in their order; fails at bytes that
/// make no record.
pub(crate) fn run(flags: &DumpFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let paths = files::logs(std::slice::from_ref(&flags.file))?;
    let ordered = in_order(paths)?;
    let mut filter = Filter::of(flags, &ordered)?;
    let mut outcome = Outcome::Pass;
    for path in &ordered {
        let bytes = files::read(path)?;
        let file = files::open(path, &bytes)?;
        let survey = file.survey();
        let mut records = file.records(&survey);
        while let Some(record) = records.next() {
            match record {
                Ok(record) if filter.takes(&record) => {
                    print(&record, records.time(), flags.json, console)?;
                }
                Ok(_) => {}
                Err(bad) => {
                    if bad.fault != RecordFault::CutShort {
                        outcome = Outcome::Fail;
                    }
                    print_bad(&bad, flags.json, console)?;
                }
            }
        }
        for fault in &survey.faults {
            outcome = Outcome::Fail;
            let (path, segment) = (path.display(), fault.segment);
            console.remark(format_args!("{path}: segment {segment}: {}", fault.damage))?;
        }
    }
    Ok(outcome)
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
    as_json: bool,
    console: &mut Console,
) -> Result<(), CommandError> {
    if as_json {
        return console.answer_json("log_record", json_of(record, time));
    }
    let fields = record.fields().map(|(field, value)| format!("{} {value}", field.name()));
    let parts = record.parts().filter(|(_, bytes)| !bytes.is_empty());
    let parts = parts.map(|(part, bytes)| format!("{} {}", part.name(), shown(bytes)));
    let words: Vec<String> = fields.chain(parts).collect();
    let name = name_of(record);
    console.answer(format_args!("{} {time} {name}: {}", record.place(), words.join(", ")))
}

/// The name of a record's type; of an unknown one, its number and length.
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
