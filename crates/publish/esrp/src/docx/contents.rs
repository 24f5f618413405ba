//! The contents: a line for each chapter, whose page is a field that word processors fill in. A
//! single field around all lines would be regenerated as a whole, and `LibreOffice` would show no
//! page numbers until then.

use docx_rs::{
    FieldCharType, InstrPAGEREF, InstrText, Paragraph, Run, Tab, TabLeaderType, TabValueType,
};

use super::piece::{Piece, text};
use crate::paper::Chapter;

/// A line for each chapter, `width` twentieths of a point wide.
pub(super) fn contents(chapters: &[Chapter], width: usize) -> Vec<Piece> {
    chapters.iter().map(|chapter| Piece::Paragraph(Box::new(line(chapter, width)))).collect()
}

/// The bookmark name of a chapter's heading.
pub(super) fn bookmark(chapter: &Chapter) -> String {
    format!("_Toc_{}", chapter.id.replace('-', "_"))
}

fn line(chapter: &Chapter, width: usize) -> Paragraph {
    let end_of_line = Tab::new().val(TabValueType::Right).leader(TabLeaderType::Dot).pos(width);
    Paragraph::new()
        .add_tab(end_of_line)
        .add_run(text(&chapter.title))
        .add_run(Run::new().add_tab())
        .add_run(page_of(chapter))
}

fn page_of(chapter: &Chapter) -> Run {
    let reference = InstrPAGEREF::new(bookmark(chapter)).hyperlink();
    Run::new()
        .add_field_char(FieldCharType::Begin, true)
        .add_instr_text(InstrText::PAGEREF(reference))
        .add_field_char(FieldCharType::Separate, false)
        .add_text("?")
        .add_field_char(FieldCharType::End, false)
}
