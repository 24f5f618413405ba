//! Formats commands and keys within sentences, which have backticks, as on a terminal.

use super::options::OPTION;

/// Turns text between backticks into code elements; in attributes the backticks are removed. A
/// command continues across the options within it, which may be wrapped already, and ends with any
/// other element.
pub(super) fn set_commands(page: &str) -> String {
    let mut set = String::with_capacity(page.len());
    let mut is_open = false;
    for (index, part) in page.split('<').enumerate() {
        let (tag, text) = match part.split_once('>') {
            Some((tag, text)) if index > 0 => (Some(tag), text),
            _ => (None, part),
        };
        if is_open && !tag.is_some_and(is_of_option) {
            set.push_str("</code>");
            is_open = false;
        }
        if index > 0 {
            set.push('<');
        }
        if let Some(tag) = tag {
            set.push_str(&tag.replace('`', ""));
            set.push('>');
        }
        is_open = push_text(&mut set, text, is_open);
    }
    if is_open {
        set.push_str("</code>");
    }
    set
}

/// Whether a tag begins or ends an option.
fn is_of_option(tag: &str) -> bool {
    tag == OPTION || tag == "/span"
}

/// Returns whether a command is open after the text.
fn push_text(set: &mut String, text: &str, mut is_open: bool) -> bool {
    for (index, piece) in text.split('`').enumerate() {
        if index > 0 {
            set.push_str(if is_open { "</code>" } else { "<code>" });
            is_open = !is_open;
        }
        set.push_str(piece);
    }
    is_open
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

    #[test]
    fn a_command_ends_behind_its_options() {
        let page = "(`size <span class=\"option\">--predict</span>` is stricter: `a` is not)";
        let set = "(<code>size <span class=\"option\">--predict</span></code> is stricter: \
                   <code>a</code> is not)";
        assert_eq!(set_commands(page), set);
        let unclosed = "<p>`size</p><p>text `</p>";
        let set = "<p><code>size</code></p><p>text <code></code></p>";
        assert_eq!(set_commands(unclosed), set);
    }
}
