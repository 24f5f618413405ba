//! Pages of designs whose running title names the assumption, if there is one.

use report::document::{Document, running_title};

/// A page that repeats `name` and the assumption at the top of every printed page.
pub(crate) fn titled_html(document: &Document, name: &str, assumption: Option<&str>) -> String {
    let title = match assumption {
        Some(assumption) => format!("{name}. {assumption}"),
        None => name.to_owned(),
    };
    let usual = running_title(&document.banner.subject);
    report::document_html(document).replacen(&usual, &running_title(&title), 1)
}
