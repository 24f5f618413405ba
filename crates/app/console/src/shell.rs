//! Quotes words of the command lines that the program suggests.

use std::path::Path;

use plan::{Overrides, Sessions, write_duration, write_size};

use crate::system;

/// Returns the options that reproduce `overrides`, each with its value.
pub fn options(overrides: &Overrides) -> Vec<(String, String)> {
    let sessions = overrides.sessions.map(|sessions| match sessions {
        Sessions::Auto => "auto".to_owned(),
        Sessions::Count(count) => count.to_string(),
    });
    [
        ("--name", overrides.name.clone()),
        ("--test", overrides.test.clone()),
        ("--size", overrides.size.map(write_size)),
        ("--duration", overrides.duration.map(write_duration)),
        ("--threads", sessions),
        ("--target-iops", overrides.target_iops.map(|rate| rate.to_string())),
        ("--seed", overrides.seed.map(|seed| seed.to_string())),
    ]
    .into_iter()
    .filter_map(|(option, value)| Some((option.to_owned(), shell_word(Path::new(&value?)))))
    .collect()
}

/// Quotes `path` as one word of a shell command line.
pub fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    if !text.is_empty() && text.chars().all(is_plain) { text } else { system::quoted_word(&text) }
}

fn is_plain(character: char) -> bool {
    character.is_alphanumeric() || system::PLAIN_CHARACTERS.contains(character)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use plan::Overrides;
    use units::{Bytes, Nanos};

    use super::{options, shell_word};
    use crate::system::quoted_word;

    #[test]
    fn options_are_said_as_they_were() {
        let overrides = Overrides {
            size: Some(Bytes(64 << 20)),
            duration: Some(Nanos::from_secs(90)),
            target_iops: Some(500),
            ..Overrides::default()
        };
        let said = options(&overrides);
        let words: Vec<String> =
            said.iter().map(|(name, value)| format!("{name} {value}")).collect();
        assert_eq!(words, ["--size 64MiB", "--duration 90s", "--target-iops 500"]);
    }

    #[test]
    fn only_what_a_shell_would_change_is_quoted() {
        assert_eq!(shell_word(Path::new("/mnt/disk-1")), "/mnt/disk-1");
        for name in ["", "my disk", "it's", "a$b"] {
            assert_eq!(shell_word(Path::new(name)), quoted_word(name));
        }
    }
}
