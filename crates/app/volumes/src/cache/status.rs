//! `cache status`: the activity of a served cache, and the contents of one at rest.

use std::time::Duration;

use flashcache::ExamineDepth;
use serde_json::Value;

use super::flags::CacheStatusFlags;
use super::{ask, flash, live, mirror_page, words};
use console::Console;
use console::Outcome;
use console::error::CommandError;
use console::signals;

/// Interval of the live view.
const INTERVAL: Duration = Duration::from_secs(2);

/// Prints the state of the cache.
pub(super) fn run(
    flags: &CacheStatusFlags,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let question = if flags.metrics { "metrics" } else { "status" };
    let Some(text) = ask(&flags.flash, flags.control.as_ref(), question)? else {
        return at_rest(flags, console);
    };
    if flags.metrics {
        console.answer_text(&text)?;
        return Ok(Outcome::Pass);
    }
    if flags.json {
        console.answer_json_line(text.trim_end())?;
        return Ok(outcome(&parsed(&text)?));
    }
    let first = parsed(&text)?;
    if mirror_page::is_mirror(&first) {
        console.answer_text(&mirror_page::page(&first))?;
        return Ok(outcome(&first));
    }
    console.answer_prose(&live::page(&first, None))?;
    if flags.watch {
        return watch(flags, first, console);
    }
    Ok(outcome(&first))
}

/// A cache that is not being served.
fn at_rest(flags: &CacheStatusFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let contents = flash::contents(&flags.flash, ExamineDepth::Index)?;
    let name = flags.flash.display().to_string();
    if flags.metrics {
        return Err(CommandError::new(format!(
            "{name}: is not being served, so there is nothing to measure; start it with `plimsoll \
             cache serve`"
        )));
    }
    if flags.json {
        console.answer_json("cache_contents", words::contents_json(&name, &contents))?;
    } else {
        console.answer("Not being served.")?;
        console.answer_prose(&words::contents(&name, &contents))?;
    }
    Ok(Outcome::Pass)
}

/// Prints the state every two seconds, with the rates since the last time.
fn watch(
    flags: &CacheStatusFlags,
    mut before: Value,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let stop = signals::install("stopped; the server continues")?;
    loop {
        console.flush()?;
        let waits = INTERVAL.as_millis() / 100;
        for _ in 0..waits {
            std::thread::sleep(Duration::from_millis(100));
            if stop.is_set() {
                return Ok(outcome(&before));
            }
        }
        let Some(text) = ask(&flags.flash, flags.control.as_ref(), "status")? else {
            console.answer("The server has stopped.")?;
            return Ok(Outcome::Pass);
        };
        let now = parsed(&text)?;
        console.answer("")?;
        console.answer_prose(&live::page(&now, Some(&before)))?;
        before = now;
    }
}

pub(super) fn parsed(text: &str) -> Result<Value, CommandError> {
    serde_json::from_str(text).map_err(|error| {
        CommandError::new(format!(
            "the server's answer is not understood: {error}; use the release that serves the cache"
        ))
    })
}

/// Failed flash of a cache is a storage fault.
fn outcome(status: &Value) -> Outcome {
    if status["state"] == "failed" { Outcome::Fail } else { Outcome::Pass }
}
