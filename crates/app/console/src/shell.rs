//! Quotes words of the command lines that the program suggests.

use std::path::{Path, PathBuf};

use plan::{Overrides, Sessions, write_duration, write_shown_size};

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
        ("--size", overrides.size.map(write_shown_size)),
        ("--duration", overrides.duration.map(write_duration)),
        ("--threads", sessions),
        ("--target-iops", overrides.target_iops.map(|rate| rate.to_string())),
        ("--seed", overrides.seed.map(|seed| seed.to_string())),
    ]
    .into_iter()
    .filter_map(|(option, value)| Some((option.to_owned(), shell_word(Path::new(&value?)))))
    .collect()
}

/// Returns the options that repeat a run: those of `overrides`, its tags, and the folder that the
/// user chose for it.
pub fn options_of_run(
    overrides: &Overrides,
    tags: &[String],
    output: Option<&Path>,
) -> Vec<(String, String)> {
    let mut all = options(overrides);
    all.extend(tags.iter().map(|tag| ("--tag".to_owned(), shell_word(Path::new(tag)))));
    // Without the separator that a shell's completion leaves at the end.
    let output = output.map(|folder| folder.components().collect::<PathBuf>());
    all.extend(output.map(|folder| ("--output".to_owned(), shell_word(&folder))));
    all
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

    use super::{options, options_of_run, shell_word};
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
    fn a_run_is_repeated_with_its_tags_and_its_folder() {
        let tags = ["rack-3".to_owned(), "new disks".to_owned()];
        let said = options_of_run(&Overrides::default(), &tags, Some(Path::new("runs/a/")));
        let words: Vec<String> =
            said.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let quoted = quoted_word("new disks");
        let folder = shell_word(&Path::new("runs").join("a"));
        let expected =
            ["--tag rack-3".to_owned(), format!("--tag {quoted}"), format!("--output {folder}")];
        assert_eq!(words, expected);
    }

    #[test]
    fn only_what_a_shell_would_change_is_quoted() {
        assert_eq!(shell_word(Path::new("/mnt/disk-1")), "/mnt/disk-1");
        for name in ["", "my disk", "it's", "a$b"] {
            assert_eq!(shell_word(Path::new(name)), quoted_word(name));
        }
    }
}
