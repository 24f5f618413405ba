//! The project's automation, so that each check is the same single command here and in CI.

#![expect(clippy::print_stdout, reason = "printing is this program's output")]

mod cache_policy;
mod check;
mod dist;
mod fleet;
mod fuzz;
mod guest;
mod layers;
mod licences;
mod metadata;
mod nbd_tester;
mod peers;
mod processor;
mod python;
mod steps;
mod suite;
mod targets;
mod tidy;
mod verbs;
mod windows;
mod wine;

use std::process::ExitCode;

use xtask::command;

fn main() -> ExitCode {
    command::run(verbs::usage, verbs::dispatch)
}
