//! `completions`: scripts made from the same table as the help.

use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;
use crate::flags::{self, CompletionFlags};

/// Prints the script.
pub(crate) fn run(flags: &CompletionFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(flags.shell, &mut flags::command(), "plimsoll", &mut script);
    console.answer_text(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Pass)
}
