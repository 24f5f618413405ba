//! Linux, and the parts that other Unix-like systems share with it.

use std::fs;
use std::io;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// Characters, besides letters and digits, that need no quoting in a shell.
pub(crate) const PLAIN_CHARACTERS: &str = "/._-+=:@%,";

/// Makes the first termination signal set `asked`, and the second one end the program.
pub(crate) fn stop_on_request(asked: &Arc<AtomicBool>) -> io::Result<()> {
    // Under `nohup` the run should outlive its terminal.
    let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    for signal in [SIGINT, SIGTERM].into_iter().chain(hang_up) {
        // In this order: the first signal finds the flag unset, sets it, and only the second
        // finds it set.
        flag::register_conditional_shutdown(signal, 2, Arc::clone(asked))?;
        flag::register(signal, Arc::clone(asked))?;
    }
    Ok(())
}

/// Makes the first termination signal set `stop`, the second one end the program, and a hang-up set
/// `reload`, as is customary for servers.
#[cfg(target_os = "linux")]
pub fn serve_on_request(stop: &Arc<AtomicBool>, reload: &Arc<AtomicBool>) -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, 2, Arc::clone(stop))?;
        flag::register(signal, Arc::clone(stop))?;
    }
    flag::register(SIGHUP, Arc::clone(reload)).map(drop)
}

/// Whether the program was started with `signal` ignored; `false` if unknown.
fn is_ignored(signal: i32) -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores(&status, signal))
}

/// Whether the `SigIgn` mask of a process status contains `signal`; bit 0 is signal 1.
fn ignores(status: &str, signal: i32) -> bool {
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// A word quoted for the shell.
pub(crate) fn quoted_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Returns the command line of a process; `None` if there is no such process.
pub fn words_of(process: u32) -> Option<String> {
    let words = fs::read(format!("/proc/{process}/cmdline")).ok()?;
    let text = String::from_utf8_lossy(&words).replace('\0', " ");
    (!text.is_empty()).then_some(text)
}

/// Asks a process to end.
pub fn terminate(process: u32) -> io::Result<()> {
    shell(&format!("kill -TERM {process}")).status().map(drop)
}

/// Ends a process at once.
pub fn kill(process: u32) -> io::Result<()> {
    shell(&format!("kill -KILL {process}")).status().map(drop)
}

/// Returns a command that runs `line` in the system's shell.
pub(crate) fn shell(line: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", line]);
    shell
}

/// Whether a line on a terminal can be overwritten.
pub(crate) const fn redraws() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use signal_hook::consts::{SIGHUP, SIGINT};

    use super::{ignores, quoted_word};

    #[test]
    fn no_shell_puts_anything_in_the_place_of_a_quoted_word() {
        assert_eq!(quoted_word("my $disk"), "'my $disk'");
        assert_eq!(quoted_word("it's"), r"'it'\''s'");
    }

    #[test]
    fn the_mask_of_ignored_signals_is_read() {
        let status = "Name:\tplimsoll\nSigBlk:\t0000000000000003\nSigIgn:\t0000000000001001\n";
        assert!(ignores(status, SIGHUP));
        assert!(!ignores(status, SIGINT));
        assert!(!ignores("Name:\tplimsoll\n", SIGHUP));
    }
}
