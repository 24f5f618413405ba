//! `cache size`: what a cache would bring, before any flash is bought.

mod curve;
pub(super) mod flags;

use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;
use flags::CacheSizeFlags;

/// Evaluates a trace.
pub(super) fn run(flags: &CacheSizeFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    curve::run(flags, console)
}
