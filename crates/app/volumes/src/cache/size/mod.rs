//! `cache size`: predicts the benefit of a cache before any flash is bought.

mod curve;
pub(super) mod flags;
mod gain;
mod gain_text;

use console::Console;
use console::Outcome;
use console::error::CommandError;
use flags::CacheSizeFlags;

/// Evaluates a trace, or a plan on an array.
pub(super) fn run(flags: &CacheSizeFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    match (&flags.trace, &flags.plan, &flags.array) {
        (Some(trace), ..) => curve::run(flags, trace, console),
        (None, Some(plan), Some(array)) => {
            let gain = gain::of_plan(flags, (plan, array), console.is_quiet())?;
            if flags.json {
                console.answer_json("cache_gain", gain_text::json(&gain))?;
            } else {
                gain_text::text(&gain, console)?;
            }
            Ok(Outcome::Pass)
        }
        _ => Err(CommandError::usage("give --trace FILE, or a plan and --array")),
    }
}
