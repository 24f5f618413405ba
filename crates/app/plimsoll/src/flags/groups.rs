//! Top-level help: the commands grouped by task, the five for beginners first, and where to read
//! more.

use std::fmt::Write as _;

use clap::Command;

/// Columns of the help.
const COLUMNS: usize = 80;

/// Width of the command name column, including indent and padding.
const INDENT: usize = 15;

/// Commands for a first test, in the order in which they are run.
const FIRST: [&str; 5] = ["quick", "plan", "prepare", "run", "report"];

/// Every command once, under a heading.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Measure",
        &[
            "quick", "format", "prepare", "run", "line", "fleet", "agent", "selftest", "watch",
            "inspect",
        ],
    ),
    ("Predict", &["simulate", "calibrate"]),
    ("Design", &["size", "plan", "profile"]),
    ("Publish", &["report", "compare", "list", "serve", "import", "logs"]),
    ("Databases", &["check", "verify", "recover", "header", "schema", "space", "dump", "export"]),
    (
        "Around it",
        &["doctor", "iscsi", "cache", "builds", "limits", "scan", "completions", "man", "help"],
    ),
];

const WHERE_TO_GO: &str = "\
All commands:  plimsoll --help
One command:   plimsoll help run, or man plimsoll-run
Topics:        plimsoll help plan | verdict | exit-status | formats
This machine:  plimsoll doctor says what is missing for which command";

/// Help template without clap's own list of commands, which the groups replace.
const TEMPLATE: &str = "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}\
                        Options:\n{options}{after-help}";

/// Adds the groups to the help of `command`.
pub(super) fn arrange(command: Command) -> Command {
    let groups = text(&command);
    command.help_template(TEMPLATE).before_help(groups.trim_end().to_owned())
}

/// The text printed without arguments.
pub(crate) fn beginning(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("{about}.\n\nFive commands take you to a first report:\n\n");
    for name in FIRST {
        text += &line(command, name);
    }
    format!(
        "{text}\nTry it on the disk under a folder:  plimsoll quick /mnt/mail\n\n{WHERE_TO_GO}\n"
    )
}

fn text(command: &Command) -> String {
    let mut text = "Begin with:\n".to_owned();
    for name in FIRST {
        text += &line(command, name);
    }
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "\n{heading}:");
        for name in names {
            text += &line(command, name);
        }
    }
    text
}

/// Formats a command and its description, indented if it takes more than one line.
fn line(command: &Command, name: &str) -> String {
    let about = match command.find_subcommand(name) {
        Some(found) => found.get_about().map(ToString::to_string).unwrap_or_default(),
        None => "Print help of a command or a topic".to_owned(),
    };
    let mut text = format!("  {name:<width$}", width = INDENT - 2);
    let mut column = INDENT;
    for word in about.split_whitespace() {
        if column + word.len() > COLUMNS {
            text.truncate(text.trim_end().len());
            let _ = write!(text, "\n{:INDENT$}", "");
            column = INDENT;
        }
        text += word;
        text.push(' ');
        column += word.len() + 1;
    }
    format!("{}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::super::Arguments;
    use super::{COLUMNS, FIRST, GROUPS, text};

    #[test]
    fn every_command_is_in_one_group() {
        let mut command = Arguments::command();
        command.build();
        let mut grouped: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let mut all: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
        assert!(FIRST.iter().all(|name| all.contains(name)));
    }

    /// A verb either has a row in the table of evidence or is listed as judging nothing.
    #[test]
    fn every_command_says_what_its_pass_rests_on() {
        let table = include_str!("../../../../../docs/evidence.md");
        for (_, names) in GROUPS {
            for name in names {
                assert!(
                    [format!("`{name}`"), format!("`{name} ")].iter().any(|of| table.contains(of)),
                    "{name} is not in docs/evidence.md"
                );
            }
        }
    }

    #[test]
    fn the_groups_fit_a_terminal() {
        let text = text(&Arguments::command());
        let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > COLUMNS).collect();
        assert!(wide.is_empty(), "{wide:?}");
        assert!(text.find("Begin with:") < text.find("Measure:"));
    }
}
