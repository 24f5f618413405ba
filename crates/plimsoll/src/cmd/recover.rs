//! `recover`: brings a database that was not closed properly back to what was committed.

use std::fs;
use std::path::{Path, PathBuf};

use device::Clock as _;
use device_os::OsClock;
use engine::recovery::{RecoveryProgress, RecoverySummary};
use engine::{Database, DatabaseFiles, Settings};
use serde_json::json;
use units::Seed;

use crate::Outcome;
use crate::console::{Console, say};
use crate::error::CommandError;
use crate::flags::RecoverFlags;
use crate::wire;

/// Replays the log, undoes what was never committed, and closes the database.
pub fn run(flags: &RecoverFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let path = &flags.file;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let log_folder = flags.log_folder.as_deref().unwrap_or(folder);
    let base = match &flags.log_base {
        Some(base) => base.clone(),
        None => only_base(log_folder)?,
    };
    let name = path.file_name().and_then(|name| name.to_str());
    let name =
        name.ok_or_else(|| CommandError::new(format!("{}: name a database file", path.display())))?;
    let world = wire::world()?;
    let files = DatabaseFiles {
        database: wire::volume(&world, folder)?,
        file: name.to_owned(),
        log: wire::volume(&world, log_folder)?,
        log_base: base,
    };
    let summary = recover(&world, files, console.is_quiet())?;
    tell(path, summary, flags.json, console)?;
    Ok(Outcome::Pass)
}

fn recover(
    world: &device_os::World,
    files: DatabaseFiles,
    quiet: bool,
) -> Result<Option<RecoverySummary>, CommandError> {
    let runtime = world.executor().runtime();
    let clock = OsClock::new();
    let seed = Seed((clock.epoch() + clock.now()).0);
    world.executor().block_on(async move {
        let progress = move |step: RecoveryProgress| {
            if !quiet {
                let RecoveryProgress { current, last, .. } = step;
                say(&format_args!(
                    "replaying log generation {:#x} of {:#x}",
                    current.0, last.0
                ));
            }
        };
        let settings = Settings::default();
        let opened = Database::recover(&runtime, files, settings, seed, &progress).await;
        let (database, summary) = opened?;
        database.shut_down().await?;
        Ok(summary)
    })
}

fn tell(
    path: &Path,
    summary: Option<RecoverySummary>,
    as_json: bool,
    console: &mut Console,
) -> Result<(), CommandError> {
    let file = path.display();
    let Some(summary) = summary else {
        if as_json {
            return console.answer_json(&json!({ "file": file.to_string(), "recovered": false }));
        }
        return console.answer(format_args!(
            "{file}: was closed properly, nothing had to be recovered"
        ));
    };
    if as_json {
        return console.answer_json(&json!({
            "file": file.to_string(),
            "recovered": true,
            "log_generation_first": summary.first.0,
            "log_generation_last": summary.last.0,
            "records": summary.records,
            "pages_redone": summary.pages_redone,
            "pages_read": summary.pages_read,
            "pages_written": summary.pages_written,
            "pages_repaired": summary.pages_repaired,
            "transactions_undone": summary.losers,
            "redo_ns": summary.redo_time.0,
        }));
    }
    console.answer(format_args!(
        "{file}: recovered from log generations {:#x} to {:#x}: {} records, {} page changes made, \
         {} torn pages made anew, {} transactions undone",
        summary.first.0,
        summary.last.0,
        summary.records,
        summary.pages_redone,
        summary.pages_repaired,
        summary.losers,
    ))
}

/// The base name of the one log in `folder`.
fn only_base(folder: &Path) -> Result<String, CommandError> {
    let wrong = |error: std::io::Error| CommandError::file(folder, "list", &error);
    let mut bases = Vec::new();
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let file = PathBuf::from(entry.map_err(wrong)?.file_name());
        let is_checkpoint = file.extension().is_some_and(|extension| extension == "pck");
        let stem = file.file_stem().and_then(|stem| stem.to_str());
        if let (true, Some(stem)) = (is_checkpoint, stem) {
            bases.push(stem.to_owned());
        }
    }
    match bases.as_slice() {
        [base] => Ok(base.clone()),
        // A log is begun before its checkpoint file; a plan's first database uses this one.
        [] => Ok("E00".to_owned()),
        _ => Err(CommandError::new(format!(
            "{}: holds the logs {}; name the one of this database with --log-base",
            folder.display(),
            bases.join(", ")
        ))),
    }
}
