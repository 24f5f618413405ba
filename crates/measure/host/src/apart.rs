//! Work in a separate process: this program once more. Its record counts only its own processor
//! time and reads, and locks that stalled storage keeps end with it (decision 091).

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use record::JOURNAL;

use crate::error::HostError;
use crate::system;

/// Longest wait for a journal to begin. A run writes it sooner, or reports why not; a simulation
/// first computes, for two seconds alone or many times as long on a busy machine.
const BEGINS_WITHIN: Duration = Duration::from_mins(1);

const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Starts this program with `words`. Neither Ctrl-C here nor the end of this process ends it; its
/// messages are kept for [`end_of`].
pub fn start(words: &[impl AsRef<OsStr>]) -> Result<Child, HostError> {
    let started = std::env::current_exe().and_then(|program| {
        let mut command = Command::new(program);
        command.arg("--quiet").args(words);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        system::set_apart(&mut command);
        command.spawn()
    });
    started.map_err(|error| {
        HostError::new(format!(
            "plimsoll cannot start itself: {error}; end other programs and try again"
        ))
    })
}

/// Waits for the end of `child`; its message if it failed.
pub fn end_of(child: Child) -> Result<(), HostError> {
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(message(&output.stderr))
}

/// Starts this program with `words`, and returns once it has begun `journal`.
pub fn begin(words: &[impl AsRef<OsStr>], journal: &Path) -> Result<(), HostError> {
    let child = start(words)?;
    // It may have started and ended between two checks.
    wait_for(child, || is_begun(journal), |_| journal.exists(), "begun")
}

/// Resumes the run in `folder`, and returns once it has written to its journal. Holding the journal
/// is not enough: until it writes, the run may still refuse to continue, and a list of runs takes
/// an unchanged journal for that of a run that has ended.
pub fn resume(folder: &Path) -> Result<(), HostError> {
    let journal = folder.join(JOURNAL);
    let before = state_of(&journal);
    let words: [&OsStr; 3] = ["run".as_ref(), "--resume".as_ref(), folder.as_os_str()];
    let child = start(&words)?;
    wait_for(child, || state_of(&journal) != before, |said| said.trim().is_empty(), "resumed")
}

/// Waits until `child` has begun, or has ended with output that `has_ended_well` accepts; other
/// output is returned as the error.
fn wait_for(
    child: Child,
    has_begun: impl Fn() -> bool,
    has_ended_well: impl Fn(&str) -> bool,
    participle: &str,
) -> Result<(), HostError> {
    let ends = ends_of(child)?;
    let began = Instant::now();
    while began.elapsed() < BEGINS_WITHIN {
        if has_begun() {
            return Ok(());
        }
        match ends.recv_timeout(BETWEEN_LOOKS) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(said) if has_ended_well(&String::from_utf8_lossy(&said)) => return Ok(()),
            Ok(said) => return Err(message(&said)),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Err(HostError::new(format!(
        "The run has not {participle} within {} s; look at the list later.",
        BEGINS_WITHIN.as_secs()
    )))
}

/// Sends the messages of `child` once it has ended.
fn ends_of(child: Child) -> Result<Receiver<Vec<u8>>, HostError> {
    let (sender, ends) = mpsc::channel();
    let waiting = thread::Builder::new().name("run".to_owned()).spawn(move || {
        let said = child.wait_with_output().map(|output| output.stderr).unwrap_or_default();
        // The receiver is gone once the run has begun, or the wait has timed out.
        let _ = sender.send(said);
    });
    waiting.map_err(|error| HostError::new(format!("cannot start a thread: {error}")))?;
    Ok(ends)
}

/// Returns the final message of a child as an error.
fn message(said: &[u8]) -> HostError {
    let said = String::from_utf8_lossy(said);
    let sentence = said.trim().trim_start_matches("plimsoll: ");
    HostError::new(if sentence.is_empty() { "It ended without a message." } else { sentence })
}

fn is_begun(journal: &Path) -> bool {
    fs::metadata(journal).is_ok_and(|metadata| metadata.len() > 0)
}

/// Returns the length of a journal and its last write time; `None` if unknown.
fn state_of(journal: &Path) -> Option<(u64, Option<SystemTime>)> {
    fs::metadata(journal).ok().map(|metadata| (metadata.len(), metadata.modified().ok()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{begin, end_of, start};

    /// In tests, this program is the test runner, which rejects an unknown flag.
    #[test]
    fn a_program_that_fails_says_why_and_one_that_does_not_begin_is_an_error() {
        let fails = ["--no-such-flag"];
        let said = end_of(start(&fails).expect("a process")).expect_err("a refusal").to_string();
        assert!(said.contains("no-such-flag"), "{said}");
        let absent = Path::new("/nowhere/record.jsonl");
        let said = begin(&fails, absent).expect_err("no journal").to_string();
        assert!(said.contains("no-such-flag"), "{said}");
        let ends = ["--exact", "no such test"];
        end_of(start(&ends).expect("a process")).expect("an end without a failure");
        let said = begin(&ends, absent).expect_err("no journal").to_string();
        assert_eq!(said, "It ended without a message.");
        let present = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        begin(&ends, &present).expect("a journal");
    }
}
