//! `cache drain`: stops the server of a cache once its clients have left and everything is written
//! out.

use super::flags::CacheDrainFlags;
use super::serve::control;
use console::Console;
use console::Outcome;
use console::error::CommandError;

/// Asks the server and waits for its end.
pub(super) fn run(flags: &CacheDrainFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let path = flags.control.clone().unwrap_or_else(|| control::path_of(&flags.flash));
    let question = if flags.now { "stop" } else { "drain" };
    if !flags.now {
        console.remark("Waiting for clients to disconnect; --now does not wait.")?;
    }
    match control::ask(&path, question)? {
        None => Err(CommandError::new(format!(
            "{}: no server answers at {}; the cache is not in use",
            flags.flash.display(),
            path.display()
        ))),
        Some(errors) if !errors.is_empty() => {
            Err(CommandError::Damage(format!("{}: {errors}", flags.flash.display())))
        }
        Some(_) => {
            let name = flags.flash.display();
            console.answer(format_args!(
                "{name}: not in use any more; every write is on its volume"
            ))?;
            Ok(Outcome::Pass)
        }
    }
}
