//! The page of a sizing: its differences from other pages, on a screen and on paper.

use std::fmt::Write as _;

use super::{Candidate, Sized, document, scenarios, tables};

/// Styles specific to this page: keys and formulas are behind a switch, and a printed page is
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
    let page = report::document_html(&document);
    let style = format!("{STYLE}{}</style>", running_title(sized));
    let page = page.replacen("</style>", &style, 1);
    page.replacen("<main>\n", &format!("<main>\n{SWITCH}"), 1)
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

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_title_ends_no_style() {
        assert_eq!(quoted("a\"</style>\\b"), "\"a  /style  b\"");
    }
}
