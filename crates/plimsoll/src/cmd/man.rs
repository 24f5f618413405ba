//! `man`: manual pages made from the same table as the help.

use std::path::Path;

use clap::CommandFactory as _;

use crate::Outcome;
use crate::console::Console;
use crate::documents::{self, Existing};
use crate::error::CommandError;
use crate::flags::{Arguments, ManFlags};

/// Prints one page, or writes all.
pub(crate) fn run(flags: &ManFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let mut whole = Arguments::command();
    whole.build();
    if let Some(folder) = &flags.output {
        return write_all(&whole, folder, console);
    }
    let name = flags.command.as_deref();
    let command = match name {
        None => &whole,
        Some(name) => whole.find_subcommand(name).ok_or_else(|| {
            let text = format!("{name}: no such command; `plimsoll --help` lists them");
            CommandError::usage(text)
        })?,
    };
    console.answer_text(&page(command, &page_name(name))?)?;
    Ok(Outcome::Pass)
}

/// A page for the program and one for each command, old ones replaced.
fn write_all(
    whole: &clap::Command,
    folder: &Path,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let mut pages = vec![(page_name(None), whole)];
    let commands = whole.get_subcommands().filter(|command| command.get_name() != "help");
    pages.extend(commands.map(|command| (page_name(Some(command.get_name())), command)));
    for (name, command) in &pages {
        let file = folder.join(format!("{name}.1"));
        documents::write(&file, page(command, name)?.as_bytes(), Existing::Replace, &[])?;
    }
    console.answer(format_args!("{} pages in {}", pages.len(), folder.display()))?;
    Ok(Outcome::Pass)
}

fn page_name(command: Option<&str>) -> String {
    command.map_or_else(|| "plimsoll".to_owned(), |name| format!("plimsoll-{name}"))
}

fn page(command: &clap::Command, name: &str) -> Result<String, CommandError> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).title(name).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
