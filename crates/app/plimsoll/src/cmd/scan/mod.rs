//! `scan`: the ids in use on a network, and their clashes. Only listens.

pub(crate) mod flags;
mod listen;
mod show;

use std::fs::File;
use std::path::Path;

use vrrp::{Survey, Watch, read_capture};

use console::Console;
use console::Outcome;
use console::documents;
use console::error::CommandError;
use flags::ScanFlags;

/// The scanned source, and the groups seen there.
struct SeenGroups {
    place: String,
    survey: Survey,
    frames: u64,
}

/// Reads captures, or listens for a while.
pub(crate) fn run(flags: &ScanFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let mut all = Vec::new();
    if let Some(interface) = &flags.interface {
        all.push(listen::listen(interface, flags.duration, console)?);
    }
    for path in &flags.captures {
        all.push(capture(path)?);
    }
    if flags.json {
        console.answer_json("router_scans", show::json(&all))?;
    } else {
        for seen in &all {
            show::text(seen, console)?;
        }
    }
    let outcomes = all.iter().map(outcome);
    Ok(outcomes.fold(Outcome::Pass, worse))
}

fn capture(path: &Path) -> Result<SeenGroups, CommandError> {
    let file: File =
        documents::open(path).map_err(|error| CommandError::file(path, "read", &error))?;
    let mut watch = Watch::default();
    let place = path.display().to_string();
    let summary = read_capture(file, &mut watch)
        .map_err(|error| CommandError::new(format!("{place}: {error}")))?;
    Ok(SeenGroups { place, survey: watch.survey(), frames: summary.frames })
}

/// A clash is proved after any time, whatever else was not understood; its absence only after a
/// long enough time in which everything was understood.
fn outcome(seen: &SeenGroups) -> Outcome {
    let is_clash = seen.survey.findings.iter().any(|finding| finding.problem.is_clash());
    match (is_clash, seen.survey.is_long_enough() && seen.survey.is_understood()) {
        (true, _) => Outcome::Fail,
        (false, true) => Outcome::Pass,
        (false, false) => Outcome::CannotJudge,
    }
}

/// A clash outweighs a part that could not be judged.
fn worse(one: Outcome, other: Outcome) -> Outcome {
    match (one, other) {
        (Outcome::Fail, _) | (_, Outcome::Fail) => Outcome::Fail,
        (Outcome::CannotJudge, _) | (_, Outcome::CannotJudge) => Outcome::CannotJudge,
        _ => Outcome::Pass,
    }
}
