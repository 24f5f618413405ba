//! `help TOPIC`: help that belongs to no command, on one screen per topic.

use std::ffi::OsString;

use console::error::{BAD_INPUT, WRONG_USAGE};

/// The topics that a user can name.
pub(crate) const NAMES: [&str; 4] = ["plan", "verdict", "exit-status", "formats"];

/// Returns a topic by name; `None` for anything else, which may be a command.
pub(crate) fn of(name: &str) -> Option<String> {
    Some(match name {
        "plan" => include_str!("plan.txt").to_owned(),
        "verdict" => include_str!("verdict.txt").to_owned(),
        "exit-status" => include_str!("exit-status.txt")
            .replace("BAD", &format!("{BAD_INPUT:>5}"))
            .replace("USE", &format!("{WRONG_USAGE:>5}")),
        "formats" => include_str!("formats.txt").to_owned(),
        "help" | "--help" | "-h" => include_str!("help.txt").to_owned(),
        _ => return None,
    })
}

/// Returns the topic if the words after the program are `help` and its name. `plan` is a command
/// too: its help ends with this topic.
pub(crate) fn asked_for(words: impl IntoIterator<Item = OsString>) -> Option<String> {
    let words: Vec<OsString> = words.into_iter().take(3).collect();
    match words.as_slice() {
        [help, name] if help == "help" => of(name.to_str()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{NAMES, of};

    /// An installed program has no folder of documents.
    #[test]
    fn topics_name_each_other_and_no_file_of_the_repository() {
        let (whole, list) = (crate::flags::command(), of("help").expect("a topic"));
        let after = whole.get_after_help().map(ToString::to_string).unwrap_or_default();
        for name in NAMES {
            assert!(after.contains(name) && list.contains(name), "{name}: {after}");
            assert!(!of(name).expect(name).contains("docs/"), "{name}");
        }
    }

    #[test]
    fn every_topic_fits_a_screen() {
        for name in NAMES.into_iter().chain(["help"]) {
            let text = of(name).expect(name);
            assert!(text.lines().count() <= 40, "{name}");
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{name}");
        }
        assert_eq!(of("run"), None);
    }

    #[test]
    fn every_exit_status_and_its_meaning_begin_in_one_column() {
        let text = of("exit-status").expect("a topic");
        let is_number = |word: &str| word.parse::<u8>().is_ok();
        let rows = text
            .lines()
            .filter(|line| line.split(' ').find(|of| !of.is_empty()).is_some_and(is_number));
        let meanings: Vec<Option<usize>> =
            rows.map(|row| row.find(|c: char| c.is_ascii_alphabetic())).collect();
        assert_eq!(meanings, [Some(8); 4], "{text}");
    }
}
