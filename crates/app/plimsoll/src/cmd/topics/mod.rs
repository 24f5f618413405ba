//! `help TOPIC`: help that belongs to no command, on one screen per topic.

use std::ffi::OsString;

use console::error::{BAD_INPUT, WRONG_USAGE};

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
    use super::of;

    #[test]
    fn every_topic_fits_a_screen() {
        for name in ["plan", "verdict", "exit-status", "formats", "help"] {
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
