//! `recover`: brings a database that was not closed properly back to its committed state.

pub(crate) mod flags;
mod length;
mod owner;

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use device::{Clock as _, OpenMode, Volume};
use device_os::{OsClock, World};
use engine::recovery::{RecoveryProgress, RecoverySummary};
use engine::{Database, DatabaseFiles, Mended, OpenError, Settings};
use ese::header::{DatabaseState, HeaderCopies};
use host::dirty::Dirty;
use host::headers::read_header_or_pages;
use host::locks::{self, Files};
use host::scan::FileFault;
use host::wire;
use serde_json::json;
use trial::manifest::{self, Manifest};
use units::Seed;

use super::genuine_log;
use crate::check::{fault_text, next_steps};
use console::Console;
use console::Outcome;
use console::error::CommandError;
use console::shell::shell_word;
use console::shown;
use console::term::{ProgressLine, duration};
use flags::RecoverFlags;

/// Indent of the continuation lines of a fault.
const INDENT: usize = 4;

/// Replays the log, undoes uncommitted changes, and closes the database. One that was closed
/// properly is not opened for writing at all, nor is one that lost pages.
pub(crate) fn run(flags: &RecoverFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    if let Some(copy) = &flags.into {
        return genuine_log::recover::run(flags, copy, console);
    }
    let path = &flags.file;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let name = path.file_name().and_then(|name| name.to_str());
    let name =
        name.ok_or_else(|| CommandError::new(format!("{}: name a database file", path.display())))?;
    locks::refuse_held(path, &shown::on_console(console.is_quiet()))?;
    let (_, copies) = read_header_or_pages(path)?;
    let Some(copies) = copies else {
        let text = fault_text(path, &[FileFault::HeaderLost], "nothing was written");
        return Err(CommandError::Damage(text));
    };
    if copies.header.state == DatabaseState::CleanShutdown {
        length::require_whole(path, copies.page_size)?;
        return tell_closed(path, &FileFault::of_header(Some(&copies)), flags.json, console);
    }
    let log_folder = flags.log_folder.as_deref().unwrap_or(folder);
    let world = wire::world()?;
    let volumes = wire::OpenVolumes::new(&world, OpenMode::ReadWrite);
    let (database, log) = (volumes.open(folder)?, volumes.open(log_folder)?);
    let manifest = manifest_of(&world, &database, name);
    let planned = manifest.as_ref().and_then(|manifest| Some(manifest.planned()?.log_base));
    let base = match flags.log_base.clone().or(planned) {
        Some(base) => base,
        None => owner::only_base(&world, &log)?,
    };
    let held =
        Files { database: path.clone(), log_folder: log_folder.to_owned(), log_base: base.clone() };
    locks::wait_for([held], &shown::on_console(console.is_quiet()));
    let files = DatabaseFiles { database, file: name.to_owned(), log, log_base: base };
    // Recovery itself refuses every other state before it writes.
    if Dirty::is(&copies.header) {
        admit(&world, (path, &copies), manifest.as_ref(), &files)?;
    }
    let summary = recover(&world, files, console.is_quiet())?;
    match summary {
        Some(summary) => {
            tell(path, &summary, flags.json, console)?;
            Ok(Outcome::Pass)
        }
        None => tell_closed(path, &[], flags.json, console),
    }
}

/// Refuses a database that another engine may have made, or that lost pages.
fn admit(
    world: &World,
    (path, copies): (&Path, &HeaderCopies),
    manifest: Option<&Manifest>,
    files: &DatabaseFiles,
) -> Result<(), CommandError> {
    if let Err(foreign) = owner::require_ours(world, path, &copies.header, manifest, files) {
        // Another engine's recovery cannot bring missing pages back either.
        length::require_whole(path, copies.page_size)?;
        return Err(foreign);
    }
    length::require_recoverable(world, path, copies.page_size, files)
}

/// Reads the manifest next to the database. The log identifies the owner of a database equally
/// well, so a missing or unreadable manifest is no error.
fn manifest_of(world: &World, database: &Rc<dyn Volume>, name: &str) -> Option<Manifest> {
    let (database, name) = (Rc::clone(database), name.to_owned());
    let reading = async move { manifest::read_beside(&database, &name).await };
    world.executor().block_on(reading).ok().flatten()
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
        let display = RefCell::new(ProgressLine::new("replaying the log", quiet));
        let settings = Settings { read_back: true, ..Settings::default() };
        let opened = Database::recover(&runtime, files, settings, seed, &|step| {
            let mut display = display.borrow_mut();
            let text = describe(&step, display.elapsed());
            display.text(&text);
        })
        .await;
        let (database, summary) = opened.map_err(|error| not_open(&error))?;
        let twin = database.clone();
        database.shut_down().await?;
        match twin.take_not_as_written().first() {
            Some(found) => Err(CommandError::Damage(found.to_string())),
            None => Ok(summary),
        }
    })
}

/// Damage counts against the storage; anything else is the user's error.
fn not_open(error: &OpenError) -> CommandError {
    if error.is_damage() {
        CommandError::Damage(error.to_string())
    } else {
        CommandError::new(error.to_string())
    }
}

/// Shows the generations done, their total, and the estimated remaining time.
fn describe(step: &RecoveryProgress, elapsed: Duration) -> String {
    let done = step.current.0.saturating_sub(step.first.0);
    let total = step.last.0.saturating_sub(step.first.0).saturating_add(1);
    let left = (done > 0).then(|| elapsed.mul_f64(f64::from(total - done) / f64::from(done)));
    let left = left.map_or_else(String::new, |left| format!(", {} left", duration(left)));
    format!("{done} of {total} generations{left}")
}

/// Reports a database that needs no recovery; fails if it has `faults`, which are not repaired.
fn tell_closed(
    path: &Path,
    faults: &[FileFault],
    as_json: bool,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let file = path.display();
    let outcome = if faults.is_empty() { Outcome::Pass } else { Outcome::Fail };
    if as_json {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        let answer = json!({ "file": file.to_string(), "recovered": false, "file_faults": faults });
        console.answer_json("recovery", answer)?;
        return Ok(outcome);
    }
    console.answer_folded(
        format_args!(
            "{file}: was closed properly, nothing had to be recovered; its pages were not read: \
             plimsoll check {}",
            shell_word(path)
        ),
        INDENT,
    )?;
    for fault in faults {
        console.answer_folded(format_args!("{file}: {fault}"), INDENT)?;
    }
    for step in next_steps(path, faults, &[]) {
        console.answer_folded(step, INDENT)?;
    }
    Ok(outcome)
}

fn tell(
    path: &Path,
    summary: &RecoverySummary,
    as_json: bool,
    console: &mut Console,
) -> Result<(), CommandError> {
    let file = path.display();
    if as_json {
        return console.answer_json(
            "recovery",
            json!({
                "file": file.to_string(),
                "recovered": true,
                // Recovery writes both copies of the header.
                "file_faults": [],
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
            }),
        );
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

/// A remark on reads that did not succeed at once; empty if all did.
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
