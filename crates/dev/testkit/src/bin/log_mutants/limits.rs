//! Runs the program under memory and time limits, and counts how it ended.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::folder::MutantFolder;

/// Address space limit of a command, in KiB.
const MOST_KIB: u64 = 512 << 10;
/// Seconds after which a command counts as hung, even on a busy machine.
const MOST_SECONDS: u64 = 120;
/// Exit codes of the program: passed, failed, refused.
const CODES: [i32; 3] = [0, 1, 2];

/// A command that has ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    err: String,
    time: Duration,
}

/// Runs the program in the folder `set` of `folder`.
pub(crate) fn run(program: &Path, words: &[&str], folder: &MutantFolder) -> Result<Ended, String> {
    let began = Instant::now();
    let script = format!("ulimit -v {MOST_KIB}; exec timeout {MOST_SECONDS} \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(program).args(words);
    command.current_dir(folder.part("set")).env("TMPDIR", folder.part("tmp"));
    command.stdin(Stdio::null());
    // A dump of everything is large, and nothing reads it.
    if words[0] == "dump" {
        command.stdout(Stdio::null());
    }
    let output = command.output().map_err(|error| format!("sh: {error}"))?;
    Ok(Ended {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
        time: began.elapsed(),
    })
}

impl Ended {
    /// Fails if the command panicked, ran out of time or memory, or exited with a code that the
    /// program does not use.
    pub(crate) fn judge(&self, words: &[&str]) -> Result<(), String> {
        let is_usual = self.code.is_some_and(|code| CODES.contains(&code));
        let is_panic = ["panicked", "bug in plimsoll", "memory allocation"]
            .iter()
            .any(|word| self.err.contains(word));
        if is_usual && !is_panic {
            return Ok(());
        }
        Err(format!("`{}` ended with {:?}: {}", words.join(" "), self.code, self.err))
    }
}

/// Number of commands by exit code.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    ended: BTreeMap<String, BTreeMap<i32, u64>>,
    longest: Duration,
}

impl Tally {
    pub(crate) fn count(&mut self, command: &str, ended: &Ended) {
        let codes = self.ended.entry(command.to_owned()).or_default();
        *codes.entry(ended.code.unwrap_or_default()).or_default() += 1;
        self.longest = self.longest.max(ended.time);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (command, codes) in &self.ended {
            let counts: Vec<String> =
                codes.iter().map(|(code, count)| format!("{count} with exit {code}")).collect();
            writeln!(f, "{command}: {}", counts.join(", "))?;
        }
        write!(
            f,
            "no panic, no write outside the copy, address space at most {} MiB, longest command \
             {:.1} s",
            MOST_KIB / 1024,
            self.longest.as_secs_f64()
        )
    }
}
