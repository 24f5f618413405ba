//! `help TOPIC`: help that belongs to no command, on one screen per topic.

use std::ffi::OsString;

use console::error::{BAD_INPUT, WRONG_USAGE};

/// Returns a topic by name; `None` for anything else, which may be a command.
pub(crate) fn of(name: &str) -> Option<String> {
    Some(match name {
        "plan" => include_str!("plan.txt").to_owned(),
        "verdict" => include_str!("verdict.txt").to_owned(),
        "exit-status" => include_str!("exit-status.txt")
            .replace("BAD", &format!("{BAD_INPUT:>3}"))
            .replace("USE", &format!("{WRONG_USAGE:>3}")),
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
}
