//! `selftest`: whether the system and the storage under a folder support what a test relies on.
//! Judges no load. It shows on a real system what Wine and simulations cannot.

mod alignment;
mod backend;
mod databases;
pub(crate) mod flags;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use device_os::probe::{self, Caching, VolumeFacts};
use host::{StopFlag, wire};
use serde_json::{Value, json};

use console::Console;
use console::Outcome;
use console::error::CommandError;
use console::signals;
use flags::SelftestFlags;

/// Effect of a signal.
const STOPS_A_PART: &str = "stopping cleanly, up to 20 s; again ends at once";

/// Indent of the continuation lines of an answer.
const INDENT: usize = 4;

/// How one part ended.
enum PartEnd {
    /// Every requirement was met; the details.
    Held(String),
    /// A requirement was not met; the details.
    Broken(Vec<String>),
    /// The check could not be completed, for this reason.
    Untried(String),
}

/// A completed part of the test.
struct TriedPart {
    name: &'static str,
    end: PartEnd,
    took: Duration,
}

/// Input of a part of the test.
struct TrialGround<'a> {
    /// An empty folder.
    folder: PathBuf,
    stop: &'a StopFlag,
    quiet: bool,
}

type PartTest = fn(&TrialGround<'_>) -> Result<PartEnd, CommandError>;

/// The parts, in dependency order.
const PARTS: [(&str, PartTest); 3] =
    [("backend", backend::test), ("alignment", alignment::test), ("databases", databases::test)];

/// Runs every part; fails if one is broken.
pub(crate) fn run(flags: &SelftestFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let folder = std::path::absolute(&flags.folder)
        .map_err(|error| CommandError::file(&flags.folder, "use the folder", &error))?;
    // Refuses folders that can hold no database at all.
    let world = wire::world()?;
    drop(wire::volume(&world, &flags.folder)?);
    let facts = probe::volume(&flags.folder)?;
    let stop = signals::install(STOPS_A_PART)?;
    let scratch = folder.join(format!("plimsoll-selftest-{}", std::process::id()));
    fs::create_dir(&scratch)
        .map_err(|error| CommandError::file(&scratch, "make the folder", &error))?;
    console.remark(format_args!(
        "Does {} support what a test needs? Writes and removes files of 100 MB for about a \
         minute. Ctrl-C stops cleanly.",
        flags.folder.display()
    ))?;
    let parts = PARTS.map(|(name, test)| try_part(name, test, &scratch, (&stop, console)));
    let outcome = outcome_of(&parts);
    let told = Told { folder: &flags.folder, backend: world.backend().to_string(), facts, parts };
    if flags.json {
        console.answer_json("selftest", told.as_json(outcome))?;
    } else {
        told.print(outcome, console)?;
    }
    clear(&scratch, outcome, console)?;
    Ok(outcome)
}

/// Runs a part in a separate folder, unless the user has asked to stop.
fn try_part(
    name: &'static str,
    test: PartTest,
    scratch: &Path,
    (stop, console): (&StopFlag, &Console),
) -> TriedPart {
    let started = Instant::now();
    let ground = TrialGround { folder: scratch.join(name), stop, quiet: console.is_quiet() };
    let tried = match fs::create_dir(&ground.folder) {
        Ok(()) if stop.is_set() => Ok(PartEnd::Untried("stopped by the user".to_owned())),
        Ok(()) => test(&ground),
        Err(error) => Err(CommandError::file(&ground.folder, "make the folder", &error)),
    };
    let end = tried.unwrap_or_else(|error| match error {
        CommandError::Damage(sentence) => PartEnd::Broken(vec![sentence]),
        CommandError::Sentence(sentence)
        | CommandError::Usage(sentence)
        | CommandError::Design(sentence) => PartEnd::Untried(sentence),
        CommandError::BrokenPipe => PartEnd::Untried("the output has gone".to_owned()),
    });
    TriedPart { name, end, took: started.elapsed() }
}

fn outcome_of(parts: &[TriedPart]) -> Outcome {
    if parts.iter().any(|part| matches!(part.end, PartEnd::Broken(_))) {
        Outcome::Fail
    } else if parts.iter().any(|part| matches!(part.end, PartEnd::Untried(_))) {
        Outcome::CannotJudge
    } else {
        Outcome::Pass
    }
}

/// Removes the files made, unless they are worth inspecting.
fn clear(scratch: &Path, outcome: Outcome, console: &mut Console) -> Result<(), CommandError> {
    if outcome == Outcome::Fail {
        return console.remark(format_args!(
            "The files stay in {} for a look; remove the folder when you are done.",
            scratch.display()
        ));
    }
    match fs::remove_dir_all(scratch) {
        Ok(()) => Ok(()),
        Err(error) => console.remark(format_args!(
            "{}: cannot be removed: {error}; remove it when nothing uses it any more",
            scratch.display()
        )),
    }
}

/// Contents of the final answer.
struct Told<'a> {
    folder: &'a Path,
    backend: String,
    facts: VolumeFacts,
    parts: [TriedPart; PARTS.len()],
}

impl Told<'_> {
    /// The cache that answers instead of the storage, if there is one.
    fn cache(&self) -> Option<&str> {
        match &self.facts.caching {
            Caching::Below(cache) | Caching::InFileSystem(cache) => Some(cache),
            Caching::None | Caching::Unknown(_) => None,
        }
    }

    fn print(&self, outcome: Outcome, console: &mut Console) -> Result<(), CommandError> {
        let VolumeFacts { file_system, mount_point, kernel, .. } = &self.facts;
        console.answer_folded(
            format_args!(
                "{}: {file_system} at {mount_point}, {}, {kernel}",
                self.folder.display(),
                self.backend
            ),
            INDENT,
        )?;
        for TriedPart { name, end, took } in &self.parts {
            let seconds = took.as_secs_f64();
            match end {
                PartEnd::Held(what) => {
                    console
                        .answer_folded(format_args!("{name}: held: {what}; {seconds:.1} s"), 4)?;
                }
                PartEnd::Untried(why) => {
                    console
                        .answer_folded(format_args!("{name}: not tried to its end: {why}"), 4)?;
                }
                PartEnd::Broken(findings) => {
                    for finding in findings {
                        console.answer_folded(format_args!("{name}: BROKEN: {finding}"), INDENT)?;
                    }
                }
            }
        }
        if let Some(cache) = self.cache() {
            let line = format_args!("Between program and storage lies {cache}: that was tried too");
            console.answer_folded(line, INDENT)?;
        }
        console.answer_folded(conclusion(outcome), INDENT)
    }

    fn as_json(&self, outcome: Outcome) -> Value {
        json!({
            "folder": self.folder.display().to_string(),
            "mount_point": self.facts.mount_point,
            "file_system": self.facts.file_system,
            "kernel": self.facts.kernel,
            "backend": self.backend,
            "cache": self.cache(),
            "outcome": word(outcome),
            "parts": self.parts.iter().map(part_json).collect::<Vec<_>>(),
        })
    }
}

fn part_json(part: &TriedPart) -> Value {
    let (word, text, findings) = match &part.end {
        PartEnd::Held(what) => ("held", Some(what), None),
        PartEnd::Broken(findings) => ("broken", None, Some(findings)),
        PartEnd::Untried(why) => ("not_tried", Some(why), None),
    };
    json!({
        "part": part.name,
        "outcome": word,
        "text": text,
        "findings": findings.map_or(&[][..], Vec::as_slice),
        "seconds": part.took.as_secs_f64(),
    })
}

const fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "pass",
        Outcome::Fail => "fail",
        Outcome::CannotJudge => "cannot_judge",
    }
}

const fn conclusion(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => {
            "PASS: this storage is fit for testing; `plimsoll quick` shows how fast it is"
        }
        Outcome::Fail => {
            "FAIL: do not trust this storage, or this build of plimsoll on this system, with a test"
        }
        Outcome::CannotJudge => "CANNOT JUDGE: not every part was tried to its end",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{PartEnd, TriedPart, outcome_of};
    use console::Outcome;

    #[test]
    fn what_is_broken_counts_more_than_what_was_not_tried() {
        let part = |end| TriedPart { name: "part", end, took: Duration::ZERO };
        let held = || part(PartEnd::Held(String::new()));
        let untried = || part(PartEnd::Untried(String::new()));
        let broken = || part(PartEnd::Broken(vec![String::new()]));
        assert_eq!(outcome_of(&[held(), held()]), Outcome::Pass);
        assert_eq!(outcome_of(&[held(), untried()]), Outcome::CannotJudge);
        assert_eq!(outcome_of(&[broken(), untried(), held()]), Outcome::Fail);
    }
}
