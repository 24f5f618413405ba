//! The conformance suite that every backend passes in the project's own tests, on this storage.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use device::conformance::{self, ConformanceCheck};
use host::{crew, wire};

use super::{PartEnd, TrialGround};
use console::error::CommandError;
use console::{self, TRIAL_THREAD};

/// Time limit of a check, which takes seconds on slow storage.
const PATIENCE: Duration = Duration::from_mins(1);

/// How a check ended.
enum CheckEnd {
    Held,
    Broken(String),
    /// The storage refused a basic operation before anything was checked.
    Refused(CommandError),
}

pub(super) fn test(ground: &TrialGround<'_>) -> Result<PartEnd, CommandError> {
    let (mut count, mut findings) = (0, Vec::new());
    for check in conformance::checks() {
        if ground.stop.is_set() {
            return Ok(PartEnd::Untried("stopped by the user".to_owned()));
        }
        count += 1;
        findings.extend(finding(check, &ground.folder.join(format!("{count}")))?);
    }
    // Every system supports one of these two behaviours.
    let folders = ["replaced", "kept"].map(|name| ground.folder.join(name));
    let replaced = finding(conformance::open_files_are_replaced(), &folders[0])?;
    let kept = match &replaced {
        Some(_) => finding(conformance::open_files_stay(), &folders[1])?,
        None => None,
    };
    let names = if replaced.is_none() { "are replaced" } else { "cannot be replaced" };
    if kept.is_some() {
        findings.extend(replaced);
    }
    Ok(if findings.is_empty() {
        PartEnd::Held(format!(
            "{} checks of reads, writes, names and locks; files that are open \
             {names}",
            count + 1
        ))
    } else {
        PartEnd::Broken(findings)
    })
}

/// The problem, if any.
fn finding(check: ConformanceCheck, folder: &Path) -> Result<Option<String>, CommandError> {
    let name = check.name;
    match run(check, folder)? {
        CheckEnd::Held => Ok(None),
        CheckEnd::Broken(what) => Ok(Some(format!("{name}: {what}"))),
        CheckEnd::Refused(error) => Err(error),
    }
}

/// Runs a check on a separate thread with a separate ring: a failed check leaves both in an
/// undefined state.
fn run(check: ConformanceCheck, folder: &Path) -> Result<CheckEnd, CommandError> {
    fs::create_dir(folder)
        .map_err(|error| CommandError::file(folder, "make the folder", &error))?;
    let folder = folder.to_path_buf();
    let (sender, receiver) = mpsc::channel();
    crew::start_thread(TRIAL_THREAD, move || {
        let checked = catch_unwind(AssertUnwindSafe(|| {
            let world = wire::world()?;
            let volume = wire::volume(&world, &folder)?;
            check.run(world.executor(), &volume);
            Ok(())
        }));
        // After the timeout nothing is waiting for this.
        let _ = sender.send(match checked {
            Ok(Ok(())) => CheckEnd::Held,
            Ok(Err(error)) => CheckEnd::Refused(error),
            Err(panic) => CheckEnd::Broken(console::panic_text(&*panic).to_string()),
        });
    })?;
    let end = receiver.recv_timeout(PATIENCE);
    Ok(end.unwrap_or_else(|_| CheckEnd::Broken("no end within a minute".to_owned())))
}
