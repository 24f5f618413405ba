//! Windows: the command prompt, PowerShell and the console.

use std::io;
use std::os::windows::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use device_os::console;

/// Characters that the command prompt and PowerShell need no quoting for, besides letters and
/// digits.
pub(crate) const PLAIN_CHARACTERS: &str = "\\/._-+=:";

/// Characters with a special meaning between double quotation marks: variables of PowerShell and of
/// the command prompt, escapes, and the marks that PowerShell takes for double ones. The plain
/// double mark is in no path, but in a value it may be.
const REPLACED: [char; 7] = ['$', '`', '%', '"', '\u{201c}', '\u{201d}', '\u{201e}'];

/// Single quotation marks of PowerShell; within such marks, they are doubled.
const SINGLE_MARKS: [char; 5] = ['\'', '\u{2018}', '\u{2019}', '\u{201a}', '\u{201b}'];

/// Has the first Ctrl-C or Ctrl-Break, the window's end or a shutdown set `asked`, and the second
/// Ctrl-C or Ctrl-Break end the program.
pub(crate) fn stop_on_request(asked: &Arc<AtomicBool>) -> io::Result<()> {
    console::stop_on_request(asked)
}

/// A word quoted for the command prompt and PowerShell. If one of them would substitute something
/// in any quotation marks, it is quoted for PowerShell: the command prompt then finds no file,
/// rather than another one.
pub(crate) fn quoted_word(text: &str) -> String {
    // A backslash before the last mark would make that a part of the word.
    let after = "\\".repeat(text.len() - text.trim_end_matches('\\').len());
    if !text.contains(REPLACED) {
        return format!("\"{text}{after}\"");
    }
    let mut inner = String::new();
    for character in text.chars() {
        inner.extend(SINGLE_MARKS.contains(&character).then_some(character));
        inner.push(character);
    }
    format!("'{inner}{after}'")
}

/// The command line of a process; none if there is no such process.
pub(crate) fn words_of(process: u32) -> Option<String> {
    let filter = format!("ProcessId={process}");
    let words = ["process", "where", filter.as_str(), "get", "CommandLine"];
    let told = Command::new("wmic").args(words).output().ok()?;
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    text.contains(".conf").then_some(text)
}

/// Ends a process.
pub(crate) fn terminate(process: u32) -> io::Result<()> {
    let process = process.to_string();
    Command::new("taskkill").args(["/F", "/PID", &process]).output().map(drop)
}

/// Ends a process at once.
pub(crate) fn kill(process: u32) -> io::Result<()> {
    terminate(process)
}

/// The system's shell with a line for it.
pub(crate) fn shell(line: &str) -> Command {
    let mut shell = Command::new("cmd.exe");
    // The shell takes the rest of its line unchanged, and no other quoting.
    shell.arg("/C").raw_arg(line);
    shell
}

/// Whether a line on the console can be overwritten.
pub(crate) fn redraws() -> bool {
    console::error_output_redraws()
}

#[cfg(test)]
mod tests {
    use super::quoted_word;

    #[test]
    fn no_shell_puts_anything_in_the_place_of_a_quoted_word() {
        assert_eq!(quoted_word(r"D:\my disk"), r#""D:\my disk""#);
        assert_eq!(quoted_word(r"D:\my disk\"), r#""D:\my disk\\""#);
        assert_eq!(quoted_word(r"D:\it's & more"), r#""D:\it's & more""#);
        assert_eq!(quoted_word(r"D:\$env:x 1\"), r"'D:\$env:x 1\\'");
        assert_eq!(quoted_word(r"D:\100%PATH%"), r"'D:\100%PATH%'");
        assert_eq!(quoted_word(r"D:\it's a `tick"), r"'D:\it''s a `tick'");
        assert_eq!(quoted_word("D:\\\u{2019}$"), "'D:\\\u{2019}\u{2019}$'");
    }
}
