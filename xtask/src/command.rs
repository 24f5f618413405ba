//! The frame of a program that automates the project: runs its command and prints a failure to
//! standard error.

#![expect(clippy::print_stderr, reason = "printing is this program's output")]
#![expect(clippy::print_stdout, reason = "printing is this program's output")]

use std::process::ExitCode;

use crate::failure::Failure;

/// Passes the command-line arguments to `dispatch` and prints its failure. If the arguments ask for
/// help, prints their `usage` instead.
pub fn run(usage: fn(&[&str]) -> String, dispatch: fn(&[&str]) -> Result<(), Failure>) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if asks_for_help(&words) {
        println!("{}", usage(&words).trim_end());
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

fn asks_for_help(words: &[&str]) -> bool {
    words.iter().any(|word| ["--help", "-h"].contains(word))
}

#[cfg(test)]
mod tests {
    use super::asks_for_help;

    #[test]
    fn help_is_asked_for_anywhere() {
        for words in [&["--help"][..], &["-h"], &["fuzz", "--help"], &["lies", "DIR", "--help"]] {
            assert!(asks_for_help(words), "{words:?}");
        }
        assert!(!asks_for_help(&["tidy", "--explain"]));
        assert!(!asks_for_help(&[]));
    }
}
