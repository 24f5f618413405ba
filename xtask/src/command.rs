//! The frame of a program that automates the project: words in, a failure on the standard error.

#![expect(clippy::print_stderr, reason = "printing is this program's output")]

use std::process::ExitCode;

use crate::failure::Failure;

/// Hands the words of the command line to `dispatch` and shows why it failed.
pub fn run(dispatch: fn(&[&str]) -> Result<(), Failure>) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}
