//! Windows: the command prompt, PowerShell and the console.

use std::io;
use std::os::windows::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use device_os::console;

/// Characters, besides letters and digits, that need no quoting in the command prompt and
/// PowerShell.
pub(crate) const PLAIN_CHARACTERS: &str = "\\/._-+=:";

/// Characters with a special meaning between double quotation marks: variables in PowerShell and
/// the command prompt, escapes, and the marks that PowerShell treats as double ones. A path cannot
/// contain the plain double mark, but a value can.
const REPLACED: [char; 7] = ['$', '`', '%', '"', '\u{201c}', '\u{201d}', '\u{201e}'];

/// PowerShell's single quotation marks; inside such marks, they are doubled.
const SINGLE_MARKS: [char; 5] = ['\'', '\u{2018}', '\u{2019}', '\u{201a}', '\u{201b}'];

/// Makes the first Ctrl-C or Ctrl-Break, a closed window or a shutdown set `asked`, and the second
/// Ctrl-C or Ctrl-Break end the program.
pub(crate) fn stop_on_request(asked: &Arc<AtomicBool>) -> io::Result<()> {
    console::stop_on_request(asked)
}

/// Quotes a word for the command prompt and PowerShell. If one of them would substitute something
/// inside any quotation marks, quotes for PowerShell: the command prompt then finds no file, rather
/// than the wrong one.
pub(crate) fn quoted_word(text: &str) -> String {
    // A trailing backslash would escape the closing quotation mark, so it is doubled.
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

/// Returns the command line of a process; `None` if there is no such process.
pub fn words_of(process: u32) -> Option<String> {
    let filter = format!("ProcessId={process}");
    let words = ["process", "where", filter.as_str(), "get", "CommandLine"];
    let told = Command::new("wmic").args(words).output().ok()?;
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    text.contains(".conf").then_some(text)
}

/// Ends a process.
pub fn terminate(process: u32) -> io::Result<()> {
    let process = process.to_string();
    Command::new("taskkill").args(["/F", "/PID", &process]).output().map(drop)
}

/// Ends a process at once.
pub fn kill(process: u32) -> io::Result<()> {
    terminate(process)
}

/// Returns a command that runs `line` in the system's shell.
pub(crate) fn shell(line: &str) -> Command {
    let mut shell = Command::new("cmd.exe");
    // `cmd.exe` takes the rest of its command line verbatim; quoting by `arg` would change it.
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
