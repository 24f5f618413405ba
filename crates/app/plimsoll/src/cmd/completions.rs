//! `completions`: scripts made from the same table as the help.

pub(crate) mod flags;

use host::simulate::arrays;

use crate::flags::command;
use console::Console;
use console::Outcome;
use console::error::CommandError;
use flags::CompletionFlags;

/// Prints the script.
pub(crate) fn run(flags: &CompletionFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(flags.shell, &mut command(), "plimsoll", &mut script);
    console.answer_text(&with_files(&String::from_utf8_lossy(&script)))?;
    Ok(Outcome::Pass)
}

/// Offers files along with the built-in arrays: an array may be either.
fn with_files(script: &str) -> String {
    let names = arrays::names().join(" ");
    let first = arrays::names().first().copied().unwrap_or_default();
    let bash = (format!("-W \"{names}\""), format!("-f -W \"{names}\""));
    let zsh = (format!("FILE|NAME:({names})"), format!("FILE|NAME:{{compadd {names}; _files}}"));
    let fish = (format!("-r -f -a \"{first}"), format!("-r -F -a \"{first}"));
    let mut script = script.to_owned();
    for (from, to) in [bash, zsh, fish] {
        script = script.replace(&from, &to);
    }
    script
}
