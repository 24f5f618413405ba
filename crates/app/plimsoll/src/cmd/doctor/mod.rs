//! `doctor`: shows what each command lacks on this machine, and which package provides it.

mod needs;
mod probe;

use serde_json::{Value, json};

use crate::flags::{self, DoctorFlags};
use console::Console;
use console::Outcome;
use console::error::CommandError;
use host::version;

use needs::{NEEDS, Need};

/// Checks for the needs of all commands, or of one.
pub(crate) fn run(flags: &DoctorFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    if let Some(command) = &flags.command {
        known(command)?;
    }
    let command = flags.command.as_deref();
    let looked: Vec<(&Need, bool)> = NEEDS
        .iter()
        .filter(|need| command.is_none_or(|command| need.commands.contains(&command)))
        .map(|need| (need, probe::is_there(&need.thing)))
        .collect();
    if flags.json {
        console.answer(document(&looked))?;
    } else {
        show(&looked, console)?;
    }
    let lacks = looked.iter().any(|(need, is_there)| !is_there && need.is_essential);
    let is_asked = flags.command.is_some();
    Ok(if lacks && is_asked { Outcome::CannotJudge } else { Outcome::Pass })
}

/// Fails if there is no such command.
fn known(command: &str) -> Result<(), CommandError> {
    let whole = flags::command();
    if whole.get_subcommands().any(|known| known.get_name() == command) {
        return Ok(());
    }
    let text = format!("{command}: no such command; `plimsoll --help` lists them");
    Err(CommandError::usage(text))
}

fn show(looked: &[(&Need, bool)], console: &mut Console) -> Result<(), CommandError> {
    console.answer(format_args!("plimsoll {}", version::VERSION))?;
    for (need, is_there) in looked {
        let word = match (is_there, need.is_essential) {
            (true, _) => "ok",
            (false, true) => "MISSING",
            (false, false) => "missing",
        };
        console.answer_folded(format_args!("{word:<8} {}: {}", need.title, need.purpose), 9)?;
        if !is_there {
            console.answer_folded(format_args!("         {}", remedy(need)), 9)?;
        }
    }
    let count = looked.iter().filter(|(_, is_there)| !is_there).count();
    match (count, looked.len()) {
        (_, 0) => console.answer("This command needs nothing beside the program."),
        (0, _) => console.answer("Nothing is missing."),
        (count, all) => console.answer(format_args!("{count} of {all} missing.")),
    }
}

/// Describes how to install it.
fn remedy(need: &Need) -> String {
    match (need.debian, need.fedora) {
        ("", _) => need.otherwise.to_owned(),
        (debian, fedora) => format!("Debian: apt install {debian}; Fedora: dnf install {fedora}"),
    }
}

/// All needs as JSON.
pub(super) fn whole_document() -> String {
    let looked = NEEDS.iter().map(|need| (need, probe::is_there(&need.thing)));
    document(&looked.collect::<Vec<_>>())
}

fn document(looked: &[(&Need, bool)]) -> String {
    let needs: Vec<_> = looked.iter().map(|(need, is_there)| need_json(need, *is_there)).collect();
    report::answer("doctor", json!({ "version": version::VERSION, "needs": needs })).to_string()
}

fn need_json(need: &Need, is_there: bool) -> Value {
    json!({
        "name": need.title,
        "is_there": is_there,
        "is_essential": need.is_essential,
        "commands": need.commands,
        "purpose": need.purpose,
        "remedy": remedy(need),
    })
}

#[cfg(test)]
mod tests {
    use super::needs::{NEEDS, Thing};
    use super::{known, remedy};

    #[test]
    fn every_need_names_commands_that_there_are_and_a_remedy() {
        for need in &NEEDS {
            assert!(!need.commands.is_empty(), "{}", need.title);
            for command in need.commands {
                known(command).expect(need.title);
            }
            assert!(remedy(need).len() > 10, "{}", need.title);
        }
        assert!(known("prepair").is_err());
    }

    /// The table of the tools that `inspect` runs is private to `host`, so this reads its text.
    #[test]
    fn every_controller_tool_that_inspect_runs_is_a_need() {
        let source = include_str!("../../../../../measure/host/src/look/tools.rs");
        let (_, table) = source.split_once("const INQUIRIES").expect("the table");
        let (table, _) = table.split_once("\n];").expect("its end");
        let lists = table.split("programs: &[").skip(1).filter_map(|rest| rest.split_once(']'));
        let programs: Vec<&str> =
            lists.flat_map(|(list, _)| list.split('"').skip(1).step_by(2)).collect();
        assert!(programs.len() >= 15, "{programs:?}");
        for program in programs {
            let is_named = NEEDS.iter().any(
                |need| matches!(need.thing, Thing::Program(names) if names.contains(&program)),
            );
            assert!(is_named, "{program} is no need");
        }
    }
}
