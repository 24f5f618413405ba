//! `limits`: how large a client's message may be, which file decides, and a careful way to set it.

mod find;
pub(crate) mod flags;
mod set;
mod show;
mod write;

use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;
use flags::{LimitsAction, LimitsFlags};

/// Shows or sets the limits of the servers whose files lie in a folder.
pub(crate) fn run(flags: &LimitsFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    match &flags.action {
        LimitsAction::Show { folder } => show::run(folder, flags.json, console),
        LimitsAction::Set(wanted) => set::run(wanted, flags.json, console),
    }
}
