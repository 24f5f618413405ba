//! Keeps options such as `--duration` whole: browsers break lines after hyphens, which would split
//! an option of a command.

/// The element around an option, without angle brackets.
pub(super) const OPTION: &str = "span class=\"option\"";

/// Elements whose text is not prose, or which cannot contain other elements.
const VERBATIM: [&str; 6] = ["script", "style", "title", "textarea", "option", "svg"];

/// Wraps every option in the text of the page in an element that is not broken; options that are
/// already wrapped are left alone.
pub(super) fn set_options(page: &str) -> String {
    let mut set = String::with_capacity(page.len() + page.len() / 64);
    let mut verbatim = None;
    for (index, part) in page.split('<').enumerate() {
        let (tag, text) = match part.split_once('>') {
            Some(both) if index > 0 => both,
            _ => ("", part),
        };
        if index > 0 {
            set.push('<');
        }
        set.push_str(&part[..part.len() - text.len()]);
        verbatim = verbatim_after(verbatim, tag);
        if verbatim.is_some() || tag == OPTION {
            set.push_str(text);
        } else {
            push_text(&mut set, text);
        }
    }
    set
}

/// The verbatim element that contains the text after `tag`; `open` contained the text before it.
fn verbatim_after(open: Option<&'static str>, tag: &str) -> Option<&'static str> {
    match open {
        Some(name) if tag.strip_prefix('/') == Some(name) => None,
        Some(name) => Some(name),
        None => VERBATIM.into_iter().find(|&name| {
            tag.strip_prefix(name).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        }),
    }
}

fn push_text(set: &mut String, mut text: &str) {
    let mut before = None;
    while let Some(at) = text.find("--") {
        let (ahead, rest) = text.split_at(at);
        set.push_str(ahead);
        before = ahead.chars().next_back().or(before);
        let length = rest.find(|of: char| !of.is_ascii_alphanumeric() && of != '-');
        let (word, after) = rest.split_at(length.unwrap_or(rest.len()));
        if is_option(before, word) {
            set.extend(["<", OPTION, ">", word, "</span>"]);
        } else {
            set.push_str(word);
        }
        before = word.chars().next_back();
        text = after;
    }
    set.push_str(text);
}

/// Whether a word, which begins with two hyphens, is an option rather than a dash or a rule.
fn is_option(before: Option<char>, word: &str) -> bool {
    before.is_none_or(|of| !of.is_alphanumeric() && of != '-')
        && word[2..].starts_with(|of: char| of.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::set_options;

    #[test]
    fn options_are_not_broken_and_nothing_else_changes() {
        let page = "<p title=\"--a\">run <code>x --dry-run --out=f</code>, (`--b`) a--b -- ---</p>";
        let set = "<p title=\"--a\">run <code>x <span class=\"option\">--dry-run</span> \
                   <span class=\"option\">--out</span>=f</code>, \
                   (`<span class=\"option\">--b</span>`) a--b -- ---</p>";
        assert_eq!(set_options(page), set);
        assert_eq!(set_options(set), set, "twice is as once");
        for raw in [
            "<style>:root { --ink: a; }</style>",
            "<script>if (a < b) { c = '--d'; }</script>",
            "<textarea name=\"a\">x --y</textarea>",
            "<svg class=\"a\"><text>--y</text></svg>",
            "<title>x --y</title>",
            "x <!-- no option -->",
        ] {
            assert_eq!(set_options(raw), raw);
        }
    }

    #[test]
    fn the_options_of_a_report_are_whole() {
        let mut run = crate::tests::passing();
        run.start.description = "made with plimsoll run --duration 2h".to_owned();
        let whole = "<span class=\"option\">--duration</span> 2h";
        let page = crate::html(&run, &verdict::judge(&run));
        assert!(page.contains(whole));
        let note = crate::document::Block::Note(run.start.description);
        assert!(crate::block_html(&note).contains(whole));
    }
}
