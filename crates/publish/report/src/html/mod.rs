//! The report as one HTML page without external files: it can be mailed, archived and opened in
//! twenty years.

mod blocks;
mod commands;
mod options;
mod page;

use crate::document::Tone;

pub use blocks::block as block_html;
pub(crate) use page::page;
pub use page::{CROSSHAIR, STYLE, glossary_html, served};

/// `text` with HTML and SVG markup characters escaped, for use in attributes too.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// A name that leads to its glossary entry.
fn term(label: &str, metric: Option<&str>) -> String {
    let label = escape(label);
    match metric {
        Some(metric) => format!(r##"<a class="term" href="#g-{metric}">{label}</a>"##),
        None => label,
    }
}

/// The class of a tone in the page's style.
const fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "plain",
        Tone::Muted => "muted",
        Tone::Pass => "pass",
        Tone::Warn => "warn",
        Tone::Fail => "fail",
    }
}
