//! `cache`: a cache on flash in front of volumes.

pub(crate) mod flags;
mod size;

use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;
use flags::{CacheAction, CacheFlags};

/// Runs the requested action.
pub(crate) fn run(flags: &CacheFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    match &flags.action {
        CacheAction::Size(flags) => size::run(flags, console),
    }
}
