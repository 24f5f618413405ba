//! Formats commands and keys within sentences, which have backticks, as on a terminal.

use std::fmt::Write as _;

/// Turns text between backticks into code elements; in attributes the backticks are removed.
pub(super) fn set_commands(page: &str) -> String {
    let mut set = String::with_capacity(page.len());
    for (index, part) in page.split('<').enumerate() {
        if index > 0 {
            set.push('<');
        }
        let (tag, text) = match part.split_once('>') {
            Some((tag, text)) if index > 0 => (Some(tag), text),
            _ => (None, part),
        };
        if let Some(tag) = tag {
            set.push_str(&tag.replace('`', ""));
            set.push('>');
        }
        let mut pieces = text.split('`');
        set.push_str(pieces.next().unwrap_or_default());
        while let Some(command) = pieces.next() {
            let _ = write!(set, "<code>{command}</code>");
            set.push_str(pieces.next().unwrap_or_default());
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::set_commands;

    #[test]
    fn commands_are_set_as_code_and_attributes_lose_their_marks() {
        let page = "<p title=\"`a`\">run `plimsoll size`, `b` now</p>";
        let set = "<p title=\"a\">run <code>plimsoll size</code>, <code>b</code> now</p>";
        assert_eq!(set_commands(page), set);
    }
}
