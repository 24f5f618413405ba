//! `limits`: shows the maximum size of a client's message and the file that decides it, and sets it
//! carefully.

mod find;
pub(crate) mod flags;
mod set;
mod show;
mod write;

use console::Console;
use console::Outcome;
use console::error::CommandError;
use flags::{LimitsAction, LimitsFlags};

/// Shows or sets the limits of the servers with files in a folder.
pub(crate) fn run(flags: &LimitsFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    match &flags.action {
        LimitsAction::Show { folder } => show::run(folder, flags.json, console),
        LimitsAction::Set(wanted) => set::run(wanted, flags.json, console),
    }
}
