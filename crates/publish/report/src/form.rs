//! The forms in which a report is read.

use crate::document::Document;
use crate::{html, text};

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportForm {
    /// One self-contained HTML page.
    Page,
    /// Plain text.
    Text {
        /// Most characters in a line; a single long word may exceed it.
        width: usize,
    },
    /// JSON for programs.
    Json,
    /// Comma-separated values.
    Csv,
}

impl ReportForm {
    /// Renders a report in this form; only the parts that the form needs are made.
    pub fn render(
        self,
        document: impl FnOnce() -> Document,
        json: impl FnOnce() -> String,
        csv: impl FnOnce() -> String,
    ) -> String {
        match self {
            Self::Page => html::page(&document()),
            Self::Text { width } => text::render_within(&document(), width),
            Self::Json => json(),
            Self::Csv => csv(),
        }
    }
}
