//! `--notify`: runs a command once the verdict is final, which it cannot change.

use std::io;
use std::process::{Child, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use host::StopFlag;

use crate::output::{self, Concluded, is_for_programs};
use crate::signals;
use crate::system;

/// A command that takes longer is left running.
const PATIENCE: Duration = Duration::from_mins(1);

/// Interval between checks whether the command has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Prefix of the variables in the command's environment.
const PREFIX: &str = "PLIMSOLL_";

/// Runs `command`, a shell command line as the user typed it. Foreign text, such as a run's name or
/// an error message, is passed only in the environment: no shell parses it as part of the line.
pub fn notify(
    command: &str,
    exit_status: u8,
    concluded: Option<&Concluded>,
    sentence: Option<&str>,
) {
    let mut shell = system::shell(command);
    for (name, value) in environment(exit_status, concluded, sentence) {
        shell.env(format!("{PREFIX}{name}"), value.replace('\0', ""));
    }
    // Standard output belongs to the answer, and standard error may belong to a program.
    shell.stdin(Stdio::null()).stdout(Stdio::null());
    if is_for_programs() {
        shell.stderr(Stdio::null());
    } else {
        shell.stdout(io::stderr());
    }
    let stop = signals::listen_again();
    let ended = shell.spawn().and_then(|child| wait(child, PATIENCE, &stop));
    if let Some(trouble) = trouble(ended) {
        output::say(&format_args!("--notify: the command {trouble}; the verdict stands"));
    }
}

/// Variables for the environment of the command, without [`PREFIX`].
fn environment(
    exit_status: u8,
    concluded: Option<&Concluded>,
    sentence: Option<&str>,
) -> Vec<(&'static str, String)> {
    let mut found = vec![("EXIT_STATUS", exit_status.to_string())];
    match (concluded, sentence) {
        (Some(end), None) => found.extend([
            ("VERDICT", end.verdict.to_owned()),
            ("HEADLINE", end.headline.clone()),
            ("RUN", end.folder.display().to_string()),
            ("NAME", end.name.clone()),
            ("REPORT", end.folder.join("report.html").display().to_string()),
        ]),
        (_, sentence) => found.extend([
            ("VERDICT", "error".to_owned()),
            ("HEADLINE", sentence.unwrap_or_default().to_owned()),
        ]),
    }
    found
}

/// How the waiting for a command ends.
#[derive(Debug)]
enum Waited {
    /// The command has exited.
    Ended(ExitStatus),
    /// The command runs for too long.
    OutOfPatience,
    /// The user has stopped the command.
    Stopped,
}

/// Waits for a command, and ends it if the user asks to stop.
fn wait(mut child: Child, patience: Duration, stop: &StopFlag) -> io::Result<Waited> {
    let began = Instant::now();
    while began.elapsed() < patience {
        if let Some(status) = child.try_wait()? {
            return Ok(Waited::Ended(status));
        }
        if stop.is_set() {
            child.kill()?;
            child.wait()?;
            return Ok(Waited::Stopped);
        }
        thread::sleep(LOOK);
    }
    Ok(Waited::OutOfPatience)
}

/// A message about a failed command; `None` if it succeeded.
fn trouble(ended: io::Result<Waited>) -> Option<String> {
    Some(match ended {
        Ok(Waited::Ended(status)) if status.success() => return None,
        // The text is the same on every system. A command without a status was ended by a signal.
        Ok(Waited::Ended(status)) => status.code().map_or_else(
            || format!("ended with {status}"),
            |code| format!("ended with exit status {code}"),
        ),
        Ok(Waited::Stopped) => "was stopped".to_owned(),
        Ok(Waited::OutOfPatience) => {
            format!("has not ended for {} s and goes on", PATIENCE.as_secs())
        }
        Err(error) => format!("was not run: {error}"),
    })
}

#[cfg(test)]
mod tests;
