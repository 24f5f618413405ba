//! Words of the command lines that the program tells people to type.

use std::path::Path;

/// `path` as a word of a shell's command line.
pub(crate) fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain =
        |character: char| character.is_alphanumeric() || "/._-+=:@%,".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::shell_word;

    #[test]
    fn names_with_blanks_are_quoted() {
        assert_eq!(shell_word(Path::new("/mnt/disk-1")), "/mnt/disk-1");
        assert_eq!(shell_word(Path::new("my disk")), "'my disk'");
        assert_eq!(shell_word(Path::new("it's")), r"'it'\''s'");
    }
}
