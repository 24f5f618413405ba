//! Building blocks of the document's sections.

use docx_rs::{Paragraph, Run, Table};

/// One piece of a section.
pub(super) enum Piece {
    Paragraph(Box<Paragraph>),
    Table(Box<Table>),
}

/// A run of text without characters that would control a word processor.
pub(super) fn text(text: &str) -> Run {
    Run::new().add_text(units::plain(text).as_ref())
}
