//! Names of runs become parts of folder names, so their valid characters are decided here once.

/// Maximum number of characters in a name.
const LONGEST_NAME: usize = 64;

/// Path separators, and characters that Windows forbids in names.
const RESERVED: &[char] = &['/', '\\', ':', '*', '?', '"', '<', '>', '|'];

/// The fault in a run's name and the remedy; `None` if it is valid.
pub fn name_fault(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        return Some("is empty; give a name such as \"array-a\"");
    }
    if name.chars().count() > LONGEST_NAME {
        return Some("is longer than 64 characters; shorten it");
    }
    if name.starts_with(['.', ' ']) || name.ends_with(['.', ' ']) {
        return Some("begins or ends with a dot or a blank; take it away");
    }
    if name.contains(RESERVED) {
        return Some("holds one of / \\ : * ? \" < > |, which no folder's name can; replace it");
    }
    if name.chars().any(char::is_control) || units::plain(name) != name {
        return Some("holds characters that do not print; leave them out");
    }
    None
}

/// The valid name closest to `text`; `None` if no character can stay.
pub fn sound_name(text: &str) -> Option<String> {
    let plain = units::plain(text);
    let replaced = plain.chars().map(|character| {
        let is_kept = !RESERVED.contains(&character) && !character.is_control();
        if is_kept { character } else { '-' }
    });
    let name: String =
        replaced.skip_while(|of| ['.', ' '].contains(of)).take(LONGEST_NAME).collect();
    let name = name.trim_end_matches(['.', ' ']).to_owned();
    name_fault(&name).is_none().then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::{LONGEST_NAME, name_fault, sound_name};

    #[test]
    fn names_that_leave_their_folder_or_break_it_are_refused() {
        for name in ["array-a", "EX01 disk 3", "K\u{f6}ln", "-", "a..b", "run.1"] {
            assert_eq!(name_fault(name), None, "{name}");
        }
        let long = "x".repeat(LONGEST_NAME + 1);
        let bad =
            ["", "  ", ".", "..", ".hidden", "../up", "a/b", "a\\b", "C:", "a\nb", "a\u{202e}b"];
        for name in bad.into_iter().chain(["end.", "end ", &long]) {
            assert!(name_fault(name).is_some(), "{name:?}");
        }
    }

    #[test]
    fn a_title_becomes_the_nearest_name() {
        assert_eq!(sound_name("E3: 5/8 on EX01").as_deref(), Some("E3- 5-8 on EX01"));
        assert_eq!(sound_name("...").as_deref(), None);
    }

    proptest! {
        #[test]
        fn a_made_name_is_sound_and_a_sound_one_stays(
            text in "\\PC{0,80}|[./\\\\ a\n]{0,9}",
        ) {
            if let Some(name) = sound_name(&text) {
                prop_assert!(name_fault(&name).is_none());
            }
            if name_fault(&text).is_none() {
                prop_assert_eq!(sound_name(&text), Some(text));
            }
        }
    }
}
