//! `plan`: a commented plan, so that nobody starts from an empty page.

use plan::Plan;

use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;

/// Prints the example.
pub fn run(console: &mut Console) -> Result<Outcome, CommandError> {
    console.answer_bytes(Plan::example().as_bytes())?;
    Ok(Outcome::Pass)
}
