//! `cache`: a flash cache in front of volumes, made, served over NBD, examined and removed.

mod check;
mod create;
pub(crate) mod flags;
mod flash;
mod size;
mod status;
mod words;

use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;
use flags::{CacheAction, CacheFlags};

/// Runs the requested action.
pub(crate) fn run(flags: &CacheFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    match &flags.action {
        CacheAction::Size(flags) => size::run(flags, console),
        CacheAction::Create(flags) => create::run(flags, console),
        CacheAction::Status(flags) => status::run(flags, console),
        CacheAction::Check(flags) => check::run(flags, console),
    }
}
