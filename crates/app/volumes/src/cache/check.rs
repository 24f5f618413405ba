//! `cache check`: shows the contents of a store, and whether its blocks are sound.

use flashcache::{ExamineDepth, StoreContents};

use super::flags::CacheCheckFlags;
use super::{flash, words};
use console::Console;
use console::Outcome;
use console::error::CommandError;

/// Examines the store. Damage is a failure: the flash does not return the bytes that were written.
pub(super) fn run(flags: &CacheCheckFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let depth = if flags.fast { ExamineDepth::Index } else { ExamineDepth::Blocks };
    let contents = flash::contents(&flags.flash, depth)?;
    let name = flags.flash.display().to_string();
    if flags.json {
        console.answer_json("cache_contents", words::contents_json(&name, &contents))?;
    } else {
        console.answer_prose(&words::contents(&name, &contents))?;
    }
    Ok(outcome(&contents))
}

fn outcome(contents: &StoreContents) -> Outcome {
    let is_damaged = contents.damaged_blocks.is_some_and(|blocks| blocks > 0);
    if is_damaged || contents.checkpoint_damaged { Outcome::Fail } else { Outcome::Pass }
}
