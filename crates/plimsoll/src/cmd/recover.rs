//! `recover`: brings a database that was not closed properly back to what was committed.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use device::{Clock as _, Volume};
use device_os::{OsClock, World};
use engine::recovery::{RecoveryProgress, RecoverySummary};
use engine::{Database, DatabaseFiles, Mended, Settings};
use serde_json::json;
use trial::manifest;
use units::Seed;

use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;
use crate::flags::RecoverFlags;
use crate::locks::{self, Files};
use crate::term::{Progress, duration};
use crate::wire;

/// Replays the log, undoes what was never committed, and closes the database.
pub fn run(flags: &RecoverFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let path = &flags.file;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let name = path.file_name().and_then(|name| name.to_str());
    let name =
        name.ok_or_else(|| CommandError::new(format!("{}: name a database file", path.display())))?;
    let log_folder = flags.log_folder.as_deref().unwrap_or(folder);
    let world = wire::world()?;
    let database = wire::volume(&world, folder)?;
    let base = match &flags.log_base {
        Some(base) => base.clone(),
        None => match planned_base(&world, &database, name) {
            Some(base) => base,
            None => only_base(log_folder)?,
        },
    };
    let held = Files {
        database: path.clone(),
        log_folder: log_folder.to_owned(),
        log_base: base.clone(),
    };
    locks::wait_for([held], console.is_quiet());
    let files = DatabaseFiles {
        database,
        file: name.to_owned(),
        log: wire::volume(&world, log_folder)?,
        log_base: base,
    };
    let summary = recover(&world, files, console.is_quiet())?;
    tell(path, summary, flags.json, console)?;
    Ok(Outcome::Pass)
}

/// The base name of the log in the plan that the database was prepared from. Any database may be
/// recovered, so one without a readable manifest is nothing to complain of.
fn planned_base(world: &World, database: &Rc<dyn Volume>, name: &str) -> Option<String> {
    let (database, name) = (Rc::clone(database), name.to_owned());
    let reading = async move { manifest::read_beside(&database, &name).await };
    let manifest = world.executor().block_on(reading).ok().flatten()?;
    Some(manifest.planned()?.log_base)
}

fn recover(
    world: &World,
    files: DatabaseFiles,
    quiet: bool,
) -> Result<Option<RecoverySummary>, CommandError> {
    let runtime = world.executor().runtime();
    let clock = OsClock::new();
    let seed = Seed((clock.epoch() + clock.now()).0);
    world.executor().block_on(async move {
        let display = RefCell::new(Progress::new("replaying the log", quiet));
        let progress = |step: RecoveryProgress| {
            let mut display = display.borrow_mut();
            let text = describe(&step, display.elapsed());
            display.text(&text);
        };
        let settings = Settings::default();
        let opened = Database::recover(&runtime, files, settings, seed, &progress).await;
        let (database, summary) = opened?;
        database.shut_down().await?;
        Ok(summary)
    })
}

/// How many generations are done, of how many, and how long the rest should take.
fn describe(step: &RecoveryProgress, elapsed: Duration) -> String {
    let done = step.current.0.saturating_sub(step.first.0);
    let total = step.last.0.saturating_sub(step.first.0).saturating_add(1);
    let left = (done > 0).then(|| elapsed.mul_f64(f64::from(total - done) / f64::from(done)));
    let left = left.map_or_else(String::new, |left| format!(", {} left", duration(left)));
    format!("{done} of {total} generations{left}")
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
            "reads_mended": summary.mended.reads(),
            "flipped_bits_mended": summary.mended.flipped_bits,
            "pages_written": summary.pages_written,
            "pages_made_anew": summary.pages_made_anew,
            "transactions_undone": summary.losers,
            "redo_ns": summary.redo_time.0,
        }));
    }
    let mended = mended(summary.mended);
    console.answer(format_args!(
        "{file}: recovered from log generations {:#x} to {:#x}: {} records, {} page changes made, \
         {} torn pages made anew, {} transactions undone{mended}",
        summary.first.0,
        summary.last.0,
        summary.records,
        summary.pages_redone,
        summary.pages_made_anew,
        summary.losers,
    ))
}

/// What a person has to know of reads that did not do well at once; nothing where all did.
fn mended(mended: Mended) -> String {
    if mended == Mended::default() {
        return String::new();
    }
    format!(
        "; {} reads failed or gave wrong content and did well when they were repeated, {} flipped \
         bits were put right: have the storage looked at",
        mended.reads(),
        mended.flipped_bits
    )
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use engine::recovery::RecoveryProgress;
    use units::Generation;

    use super::describe;

    #[test]
    fn progress_counts_generations_and_says_how_long_still() {
        let step = |current| RecoveryProgress {
            first: Generation(10),
            current: Generation(current),
            last: Generation(509),
        };
        let elapsed = Duration::from_secs(20);
        assert_eq!(describe(&step(10), elapsed), "0 of 500 generations");
        let half = describe(&step(260), elapsed);
        assert_eq!(half, "250 of 500 generations, 20 s left");
    }
}
