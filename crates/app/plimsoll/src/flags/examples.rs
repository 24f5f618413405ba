//! Example commands, shown below the help of each command and in its manual page: one table, so
//! that a test can verify that every command has some, and that the parser accepts each of them.

mod table;

use clap::Command;
use table::EXAMPLES;

/// Heading of the examples below a command's help.
pub(crate) const EXAMPLES_HEADING: &str = "Examples:";

/// Adds its examples to `command` and to every command below it.
pub(super) fn add(command: Command) -> Command {
    add_below(command, "")
}

fn add_below(command: Command, path: &str) -> Command {
    let command = command.mut_subcommands(|below| {
        let name = below.get_name();
        let path = if path.is_empty() { name.to_owned() } else { format!("{path} {name}") };
        add_below(below, &path)
    });
    match of(path) {
        [] => command,
        examples => {
            let topics = if path.is_empty() { topics() } else { String::new() };
            let examples = examples.join("\n  ");
            command.after_help(format!("{EXAMPLES_HEADING}\n  {examples}{topics}"))
        }
    }
}

/// Where to find what belongs to no single command.
fn topics() -> String {
    format!("\n\nTopics (plimsoll help TOPIC): {}", crate::cmd::topics::NAMES.join(", "))
}

/// The examples of the command at `path`; empty if it has none.
fn of(path: &str) -> &'static [&'static str] {
    EXAMPLES.iter().find(|(of, _)| *of == path).map_or(&[], |(_, examples)| examples)
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory as _};

    use super::super::Arguments;
    use super::{EXAMPLES, of};

    /// Columns of a terminal.
    const COLUMNS: usize = 80;

    /// The paths of `command` and of all below it.
    fn paths(command: &Command, path: &str) -> Vec<String> {
        let below = command.get_subcommands().flat_map(|below| {
            let name = below.get_name();
            let path = if path.is_empty() { name.to_owned() } else { format!("{path} {name}") };
            paths(below, &path)
        });
        std::iter::once(path.to_owned()).chain(below).collect()
    }

    /// Splits a command line by the shell rules that the examples use: quotes group, and operators
    /// are words.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quote = None;
        for character in line.chars() {
            match (quote, character) {
                (Some(open), _) if open == character => quote = None,
                (None, '\'' | '"') => quote = Some(character),
                (None, ' ') => words.push(String::new()),
                _ => words.last_mut().expect("there is always one").push(character),
            }
        }
        words
    }

    /// This program's commands on a line, without output redirection.
    fn own_commands(line: &str) -> Vec<Vec<String>> {
        let all = words(line);
        let commands = all.split(|word| ["|", "&&"].contains(&word.as_str()));
        commands
            .map(|words| words.iter().take_while(|word| *word != ">").cloned().collect())
            .filter(|words: &Vec<String>| words.first().is_some_and(|word| word == "plimsoll"))
            .collect()
    }

    #[test]
    fn every_command_has_examples() {
        let known = paths(&Arguments::command(), "");
        for path in &known {
            let examples = of(path);
            assert!((1..=3).contains(&examples.len()), "{path:?}: {} examples", examples.len());
            let begin = format!("plimsoll {path}");
            let has_own = examples.iter().any(|example| example.starts_with(begin.trim_end()));
            assert!(has_own, "{path:?}: no example is of it");
        }
        let strange: Vec<_> =
            EXAMPLES.iter().filter(|(of, _)| !known.iter().any(|path| path == of)).collect();
        assert!(strange.is_empty(), "examples of no command: {strange:?}");
    }

    #[test]
    fn every_example_fits_a_terminal_and_parses() {
        for example in EXAMPLES.iter().flat_map(|(_, examples)| *examples) {
            assert!(example.len() + 2 <= COLUMNS, "too wide: {example}");
            let commands = own_commands(example);
            assert!(!commands.is_empty(), "no command of ours: {example}");
            for command in commands {
                let parsed = Arguments::read(&command);
                assert!(parsed.is_ok(), "{example}\n{}", parsed.expect_err("it is not"));
            }
        }
    }

    #[test]
    fn help_ends_with_them() {
        let mut whole = super::super::command();
        whole.build();
        let iscsi = whole.find_subcommand_mut("iscsi").expect("there is one");
        let apply = iscsi.find_subcommand_mut("apply").expect("there is one");
        let help = apply.render_help().to_string();
        let examples = format!("Examples:\n  {}", of("iscsi apply").join("\n  "));
        assert!(help.trim_end().ends_with(&examples), "{help}");
    }
}
