//! Stores a published result as a run folder that `report`, `list` and `compare` accept.

use std::path::{Path, PathBuf};

use builds::{BuildNumber, BuildTable, Identity};
use host::{load, write_reports};
use jetstress::{PublishedResult, parse_result};
use record::codec::{SCHEMA, Sealer};
use record::{Event, Finished, JOURNAL, Machine, Settings, Start, TestType, Thresholds};

use super::refused;
use crate::import::flags::ImportFlags;
use console::Console;
use console::Outcome;
use console::documents;
use console::error::CommandError;
use host::version;

/// Writes the record and its reports.
pub(super) fn run(
    flags: &ImportFlags,
    text: &str,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let file = flags.file.file_name().unwrap_or_default().to_string_lossy();
    let published = parse_result(text, &file).map_err(|error| refused(flags, &error))?;
    let folder = flags.output.clone().unwrap_or_else(|| folder_of(&flags.file));
    write(&folder, &journal(published))?;
    let record = load(&folder)?;
    let verdict = verdict::judge(&record);
    write_reports(&folder, &record, &verdict)?;
    console.answer(report::summary(&record, &verdict).trim_end())?;
    console.answer(format_args!("Record: {}", folder.display()))?;
    Ok(Outcome::Pass)
}

/// A folder in the current directory, named after the file.
fn folder_of(file: &Path) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    PathBuf::from(format!("plimsoll-import-{stem}"))
}

/// Puts a journal into a folder that holds no run.
fn write(folder: &Path, journal: &str) -> Result<(), CommandError> {
    let path = folder.join(JOURNAL);
    if path.exists() {
        return Err(CommandError::new(format!(
            "{}: holds a run already; choose another folder with --output",
            folder.display()
        )));
    }
    documents::make_folder(folder)?;
    Ok(documents::write_new(&path, journal.as_bytes())?)
}

/// The lines of the journal: the known facts, and an end event.
fn journal(published: PublishedResult) -> String {
    let start = Event::Start(Box::new(start(published)));
    let end = Event::Finished(Finished {
        at_ns: 0,
        interrupted: false,
        reason: None,
        is_for_room: false,
        is_overdue: false,
        was_stopped: false,
    });
    let mut sealer = Sealer::default();
    [start, end].map(|event| sealer.line(&event)).concat()
}

fn start(published: PublishedResult) -> Start {
    let release = release(&published);
    let PublishedResult { test, machine, operating_system, description, mut result, .. } =
        published;
    result.release = release;
    let thresholds = match test {
        TestType::Stress => Thresholds::lenient(),
        _ => Thresholds::strict(),
    };
    Start {
        schema: SCHEMA,
        build: version::PROGRAM.to_owned(),
        machine: Machine { name: machine, operating_system, ..Machine::default() },
        test,
        description,
        settings: Settings { thresholds, ..Settings::default() },
        imported: Some(Box::new(result)),
        ..Start::default()
    }
}

/// The Exchange release that shipped the engine; the instrument's own version is near it.
fn release(published: &PublishedResult) -> Option<String> {
    let versions = [&published.engine_version, &published.instrument_version];
    let mut stated = versions.into_iter().flatten().filter_map(|text| BuildNumber::parse(text));
    let table = BuildTable::embedded();
    let identity = table.identify(stated.next()?);
    let is_known = !matches!(identity, Identity::Unknown);
    is_known.then(|| format!("{identity}, builds as of {}", table.date()))
}
