//! `cache`: creates, serves over NBD, examines and removes a flash cache in front of volumes.

mod check;
mod create;
#[cfg(target_os = "linux")]
mod drain;
pub(crate) mod flags;
mod flash;
#[cfg(target_os = "linux")]
mod hand_over;
mod live;
#[cfg(target_os = "linux")]
mod mirror;
mod mirror_page;
mod remove;
#[cfg(target_os = "linux")]
mod serve;
mod size;
mod status;
mod words;

use console::Console;
use console::Outcome;
use console::error::CommandError;
use flags::{CacheAction, CacheFlags};

/// Runs the requested action.
pub(crate) fn run(flags: &CacheFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    match &flags.action {
        CacheAction::Size(flags) => size::run(flags, console),
        CacheAction::Create(flags) => create::run(flags, console),
        CacheAction::Status(flags) => status::run(flags, console),
        CacheAction::Check(flags) => check::run(flags, console),
        CacheAction::Remove(flags) => remove::run(flags, console),
        #[cfg(target_os = "linux")]
        CacheAction::Serve(flags) => serve::run(flags, console),
        #[cfg(target_os = "linux")]
        CacheAction::Drain(flags) => drain::run(flags, console),
        #[cfg(target_os = "linux")]
        CacheAction::HandOver(flags) => hand_over::run(flags, console),
        #[cfg(not(target_os = "linux"))]
        CacheAction::Serve(_) | CacheAction::Drain(_) | CacheAction::HandOver(_) => {
            Err(CommandError::new(
                "a cache is served on Linux only; serve it from there and attach it over NBD",
            ))
        }
    }
}

/// The state of the served cache on `flash`, as `status --json` prints it.
pub fn state_of(flash: &std::path::Path) -> Result<serde_json::Value, CommandError> {
    let text = ask(flash, None, "status")?.ok_or_else(|| {
        CommandError::new(format!(
            "{}: no server answers; start it with `plimsoll cache serve`",
            flash.display()
        ))
    })?;
    status::parsed(&text)
}

/// Sends `question` to the server of a cache and returns the answer; `None` if there is no server.
fn ask(
    flash: &std::path::Path,
    control: Option<&std::path::PathBuf>,
    question: &str,
) -> Result<Option<String>, CommandError> {
    #[cfg(target_os = "linux")]
    {
        let path = control.cloned().unwrap_or_else(|| serve::control::path_of(flash));
        serve::control::ask(&path, question)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (flash, control, question);
        Ok(None)
    }
}
