//! `cache status`: what a cache holds.

use flashcache::ExamineDepth;

use super::flags::CacheStatusFlags;
use super::{flash, words};
use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;

/// Prints the state of the cache.
pub(super) fn run(
    flags: &CacheStatusFlags,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let contents = flash::contents(&flags.flash, ExamineDepth::Index)?;
    let name = flags.flash.display().to_string();
    if flags.json {
        console.answer_json("cache_contents", words::contents_json(&name, &contents))?;
    } else {
        console.answer_prose(&words::contents(&name, &contents))?;
    }
    Ok(Outcome::Pass)
}
