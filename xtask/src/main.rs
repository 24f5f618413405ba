//! The project's own automation, so that a check is one command here and the same command in CI.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is this program's output"
)]

mod failure;
mod layers;
mod licences;
mod peers;
mod shell;
mod steps;
mod tidy;

use std::process::ExitCode;

use failure::Failure;

const USAGE: &str = "\
cargo xtask <command>

  test [STEP...]  set up what the tests need, then run every check; or only the named steps
  tidy            the house rules: sizes, documentation, banned words, dead files
  tidy --tighten  the same, and lower the limits in xtask/figures.toml to what was found
  layers          every dependency edge against the table in ARCHITECTURE.md
  deny            cargo-deny where it is installed, else the licence check alone
";

fn main() -> ExitCode {
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

fn dispatch(words: &[&str]) -> Result<(), Failure> {
    match words {
        ["test", names @ ..] => steps::run(names),
        ["tidy"] => tidy::run(tidy::Mode::Check),
        ["tidy", "--tighten"] => tidy::run(tidy::Mode::Tighten),
        ["layers"] => layers::run(),
        ["deny"] => licences::deny(),
        _ => Err(Failure::new(USAGE)),
    }
}
