//! `man`: manual pages made from the same table as the help.

pub(crate) mod flags;

use std::path::Path;

use clap::Command;

use crate::flags::EXAMPLES_HEADING;
use crate::flags::command;
use console::Console;
use console::Outcome;
use console::documents::{self, Existing};
use console::error::CommandError;
use flags::ManFlags;
use host::version;

/// Prints one page, or writes all.
pub(crate) fn run(flags: &ManFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let mut whole = command();
    whole.build();
    let pages = pages_below(&whole, "plimsoll".to_owned());
    if let Some(folder) = &flags.output {
        return write_all(&pages, folder, console);
    }
    let name = match &flags.command {
        None => "plimsoll".to_owned(),
        Some(name) => format!("plimsoll-{}", name.replace(' ', "-")),
    };
    let (name, command) = pages.iter().find(|(page, _)| *page == name).ok_or_else(|| {
        let name = name.trim_start_matches("plimsoll-");
        CommandError::usage(format!("{name}: no such command; `plimsoll --help` lists them"))
    })?;
    console.answer_text(&page(command, name)?)?;
    Ok(Outcome::Pass)
}

/// Writes every page into `folder`, overwriting old ones.
fn write_all(
    pages: &[(String, &Command)],
    folder: &Path,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    for (name, command) in pages {
        let file = folder.join(format!("{name}.1"));
        documents::write(&file, page(command, name)?.as_bytes(), Existing::Replace, &[])?;
    }
    console.answer(format_args!("{} pages in {}", pages.len(), folder.display()))?;
    Ok(Outcome::Pass)
}

/// `command` and all its subcommands, each with the name of its manual page.
fn pages_below(command: &Command, name: String) -> Vec<(String, &Command)> {
    let below = command.get_subcommands().filter(|below| below.get_name() != "help");
    let below: Vec<(String, &Command)> =
        below.flat_map(|of| pages_below(of, format!("{name}-{}", of.get_name()))).collect();
    std::iter::once((name, command)).chain(below).collect()
}

fn page(command: &Command, name: &str) -> Result<String, CommandError> {
    let mut text = Vec::new();
    let page = clap_mangen::Man::new(command.clone()).title(name).manual("Plimsoll manual");
    let page = page.source(format!("plimsoll {}", env!("CARGO_PKG_VERSION")));
    page.date(version::DATE).render(&mut text)?;
    // The section after the help is unnamed there; its line breaks must be preserved.
    let unnamed = format!(".SH EXTRA\n{EXAMPLES_HEADING}\n");
    Ok(String::from_utf8_lossy(&text).replacen(&unnamed, ".SH EXAMPLES\n.nf\n", 1))
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn every_page_has_examples_under_a_heading_of_their_own() {
        let mut whole = command();
        whole.build();
        let pages = super::pages_below(&whole, "plimsoll".to_owned());
        assert!(pages.iter().any(|(name, _)| name == "plimsoll-iscsi-apply"));
        for (name, command) in &pages {
            let page = super::page(command, name).expect("written into memory");
            let (_, examples) = page.split_once(".SH EXAMPLES\n.nf\n").expect(name);
            assert!(examples.starts_with("  plimsoll"), "{name}: {examples}");
            assert!(!page.contains(".SH EXTRA"), "{name}");
            let footer = format!("\"plimsoll {}\" \"Plimsoll manual\"", env!("CARGO_PKG_VERSION"));
            let head = page.lines().find(|line| line.starts_with(".TH")).expect(name);
            assert!(head.ends_with(&footer), "{name}: {head}");
        }
    }
}
