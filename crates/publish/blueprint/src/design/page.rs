//! The page of a sizing: its differences from other pages, on a screen and on paper.

use super::{Candidate, Sized, document, scenarios, tables};
use crate::running::titled_html;

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
    let deployment = sized.deployment;
    let assumption = deployment.product.assumption();
    let page = titled_html(&document, &deployment.name, assumption.as_deref());
    let page = page.replacen("</style>", &format!("{STYLE}</style>"), 1);
    page.replacen("<main>\n", &format!("<main>\n{SWITCH}"), 1)
}
