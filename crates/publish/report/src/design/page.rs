//! The page of a sizing: its differences from other pages, on a screen and on paper.

use std::fmt::Write as _;

use super::{Candidate, Sized, document, scenarios, tables};
use crate::html;

/// How the page differs from others: keys and formulas are behind a switch, and a printed page is
/// short.
const STYLE: &str = include_str!("style.css");

/// The switch, above everything.
const SWITCH: &str = "<label class=\"keys\"><input type=\"checkbox\" id=\"keys\"> Show the key of \
                      each number, and every formula</label>\n";

/// One self-contained HTML page, every number with its formula; for a sweep also the table of all
/// `candidates`, which is empty without a sweep.
pub fn sizing_html(sized: Sized<'_>, candidates: &[Candidate]) -> String {
    let mut document = document(sized);
    document.sections.extend(scenarios::trade_offs(candidates));
    document.sections.extend(scenarios::section(candidates));
    document.sections.push(tables::trace(sized));
    let page = html::page(&document);
    let style = format!("{STYLE}{}</style>", running_title(sized));
    let page = page.replacen("</style>", &style, 1);
    let page = page.replacen("<main>\n", &format!("<main>\n{SWITCH}"), 1);
    set_commands(&page)
}

/// Running title of printed pages: the design and, if there is one, the assumption.
fn running_title(sized: Sized<'_>) -> String {
    let mut title = quoted(&sized.deployment.name);
    if let Some(assumption) = sized.deployment.product.assumption() {
        let _ = write!(title, " \". {}\"", quoted(&assumption).trim_matches('"'));
    }
    format!("@page {{ @top-left {{ content: {title}; font: 8pt sans-serif; color: #4c5459; }} }}\n")
}

/// A text as a CSS string, without characters that could end it or the style.
fn quoted(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|symbol| if symbol.is_control() || "\"\\<>".contains(symbol) { ' ' } else { symbol })
        .collect();
    format!("\"{plain}\"")
}

/// The page with text between backticks set as code; in attributes the marks are removed.
fn set_commands(page: &str) -> String {
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
    use super::{quoted, set_commands};

    #[test]
    fn commands_are_set_as_code_and_attributes_lose_their_marks() {
        let page = "<p title=\"`a`\">run `plimsoll size`, `b` now</p>";
        let set = "<p title=\"a\">run <code>plimsoll size</code>, <code>b</code> now</p>";
        assert_eq!(set_commands(page), set);
    }

    #[test]
    fn a_title_ends_no_style() {
        assert_eq!(quoted("a\"</style>\\b"), "\"a  /style  b\"");
    }
}
