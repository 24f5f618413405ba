//! The frame of a program that automates the project: words in, a failure on the standard error.

#![expect(clippy::print_stderr, reason = "printing is this program's output")]
#![expect(clippy::print_stdout, reason = "printing is this program's output")]

use std::process::ExitCode;

use crate::failure::Failure;

/// Hands the words of the command line to `dispatch` and shows why it failed, or shows `usage` if
/// they ask for help and the first is no command in `forwarded`, which answers for itself.
pub fn run(
    usage: &str,
    forwarded: &[&str],
    dispatch: fn(&[&str]) -> Result<(), Failure>,
) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if asks_for_help(&words, forwarded) {
        println!("{}", usage.trim_end());
        return ExitCode::SUCCESS;
    }
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn asks_for_help(words: &[&str], forwarded: &[&str]) -> bool {
    let is_ours = words.first().is_none_or(|first| !forwarded.contains(first));
    is_ours && words.iter().any(|word| ["--help", "-h"].contains(word))
}

#[cfg(test)]
mod tests {
    use super::asks_for_help;

    #[test]
    fn help_is_asked_for_anywhere_and_a_forwarded_command_answers_for_itself() {
        for words in [&["--help"][..], &["-h"], &["fuzz", "--help"], &["lies", "DIR", "--help"]] {
            assert!(asks_for_help(words, &["bench"]), "{words:?}");
        }
        assert!(!asks_for_help(&["bench", "--help"], &["bench"]));
        assert!(asks_for_help(&["--help"], &[]));
        assert!(!asks_for_help(&["tidy", "--explain"], &[]));
        assert!(!asks_for_help(&[], &["bench"]));
    }
}
