//! The paper as a document that a vendor can edit: real headings, tables and lists, gaps on yellow,
//! and charts as pictures, since word processors differ in how they draw SVG.

mod charts;
mod contents;
mod piece;
mod table;

use std::fmt;
use std::io::Cursor;

use docx_rs::{
    AbstractNumbering, AlignmentType, Docx, Footer, IndentLevel, Level, LevelJc, LevelText,
    NumberFormat, Numbering, NumberingId, PageNum, PageOrientationType, PageSize, Paragraph, Pic,
    Run, RunFonts, Section, SpecialIndentType, Start, Style, StyleType,
};
use report::document::{Block, Fact, Table as ReportTable};

use self::charts::charts;
use self::contents::{bookmark, contents};
use self::piece::{Piece, text};
use self::table::{table, with_repeated_headings};
use crate::Picture;
use crate::code::pieces;
use crate::paper::{Chapter, Content, Cover, Paper, PaperTable, Words};

/// A4 in twentieths of a point.
const A4: (u32, u32) = (11_906, 16_838);
/// Widths of text between the usual margins, in the same unit.
const UPRIGHT_WIDTH: usize = 8_500;
const SIDEWAYS_WIDTH: usize = 13_400;
/// Font sizes, in half points.
const SMALL: usize = 14;
const TABLE_SIZE: usize = 18;
/// English metric units in a pixel of 1/96 inch.
const EMU_PER_PIXEL: u32 = 9_525;
/// Width of the text in pixels.
const WIDEST_PIXELS: u32 = 560;
/// The fixed-width font that every word processor has.
const CODE_FONT: &str = "Courier New";
/// Id of our list style; 1 is the library's own.
const BULLETS: usize = 2;

/// Why the document could not be made.
#[derive(Debug)]
pub struct DocxError(String);

impl fmt::Display for DocxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the document could not be packed: {}; make the paper as HTML", self.0)
    }
}

impl std::error::Error for DocxError {}

/// Returns the bytes of the document: cover, contents and chapters in portrait, appendices in
/// landscape.
pub fn docx(paper: &Paper) -> Result<Vec<u8>, DocxError> {
    let mut docx = pushed(styled(Docx::new()), cover(&paper.cover));
    docx = pushed(docx, contents(&paper.chapters, UPRIGHT_WIDTH));
    let mut width = UPRIGHT_WIDTH;
    for (number, of) in paper.chapters.iter().enumerate() {
        if of.opens_page && width == UPRIGHT_WIDTH {
            // A section ends the text before it; the last section is that of the document itself.
            let upright = PageSize::new().size(A4.0, A4.1);
            docx = docx.add_section(Section::new().page_size(upright).footer(footer()));
            width = SIDEWAYS_WIDTH;
        }
        docx = pushed(docx, chapter(of, number, width));
    }
    let docx =
        docx.page_size(A4.1, A4.0).page_orient(PageOrientationType::Landscape).footer(footer());
    let mut bytes = Cursor::new(Vec::new());
    let mut package = docx.build();
    package.document = with_repeated_headings(package.document);
    package.pack(&mut bytes).map_err(|error| DocxError(error.to_string()))?;
    Ok(bytes.into_inner())
}

fn pushed(docx: Docx, pieces: Vec<Piece>) -> Docx {
    pieces.into_iter().fold(docx, |docx, piece| match piece {
        Piece::Paragraph(paragraph) => docx.add_paragraph(*paragraph),
        Piece::Table(table) => docx.add_table(*table),
    })
}

fn footer() -> Footer {
    let number = Paragraph::new().add_page_num(PageNum::new()).align(AlignmentType::Center);
    Footer::new().add_paragraph(number)
}

fn heading_style(id: &str, name: &str, size: usize) -> Style {
    Style::new(id, StyleType::Paragraph).name(name).size(size).bold()
}

fn styled(docx: Docx) -> Docx {
    let bullets = Level::new(
        0,
        Start::new(1),
        NumberFormat::new("bullet"),
        LevelText::new("\u{2022}"),
        LevelJc::new("left"),
    )
    .indent(Some(360), Some(SpecialIndentType::Hanging(360)), None, None);
    docx.default_fonts(RunFonts::new().ascii("Calibri").hi_ansi("Calibri"))
        .default_size(21)
        .add_style(heading_style("Title", "Title", 52))
        .add_style(heading_style("Heading1", "heading 1", 32))
        .add_style(heading_style("Heading2", "heading 2", 24))
        .add_abstract_numbering(AbstractNumbering::new(BULLETS).add_level(bullets))
        .add_numbering(Numbering::new(BULLETS, BULLETS))
}

/// The runs of a text, with gaps marked and code set as such.
fn runs(words: &Words) -> Vec<Run> {
    let runs = runs_of(&words.text());
    if words.is_missing() {
        return runs.into_iter().map(|run| run.highlight("yellow")).collect();
    }
    runs
}

fn runs_of(words: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    for (piece, is_code) in pieces(words) {
        let code = RunFonts::new().ascii(CODE_FONT).hi_ansi(CODE_FONT);
        runs.push(if is_code { text(piece).fonts(code) } else { text(piece) });
    }
    runs
}

fn of_runs(paragraph: Paragraph, runs: Vec<Run>) -> Paragraph {
    runs.into_iter().fold(paragraph, Paragraph::add_run)
}

fn paragraph(words: &Words) -> Piece {
    Piece::Paragraph(Box::new(of_runs(Paragraph::new(), runs(words))))
}

fn heading(style: &str, title: &str, opens_page: bool) -> Piece {
    let heading = Paragraph::new().add_run(text(title)).style(style).keep_next(true);
    Piece::Paragraph(Box::new(heading.page_break_before(opens_page)))
}

fn cover(cover: &Cover) -> Vec<Piece> {
    let title = of_runs(Paragraph::new(), runs(&cover.title)).style("Title");
    let mut pieces = vec![paragraph(&cover.vendor), Piece::Paragraph(Box::new(title))];
    let rows = cover.lines.iter().map(|(name, words)| vec![Words::said(*name), words.clone()]);
    pieces.push(table(&[], &rows.collect::<Vec<_>>(), UPRIGHT_WIDTH));
    pieces.extend(cover.legal.iter().map(paragraph));
    pieces.push(heading("Heading2", "Contents", true));
    pieces
}

fn chapter(chapter: &Chapter, number: usize, width: usize) -> Vec<Piece> {
    let title = Paragraph::new()
        .add_bookmark_start(number, bookmark(chapter))
        .add_run(text(&chapter.title))
        .add_bookmark_end(number)
        .style("Heading1")
        .keep_next(true)
        .page_break_before(chapter.opens_page);
    let mut pieces = vec![Piece::Paragraph(Box::new(title))];
    for content in &chapter.content {
        pieces.extend(piece(content, width));
    }
    pieces
}

fn piece(content: &Content, width: usize) -> Vec<Piece> {
    match content {
        Content::Heading(title) => vec![heading("Heading2", title, false)],
        Content::Paragraph(words) => vec![paragraph(words)],
        Content::List(points) => points.iter().map(bullet).collect(),
        Content::Table(PaperTable { caption, head, rows }) => {
            vec![captioned(caption), table(head, rows, width), gap()]
        }
        Content::Figure(picture, caption) => vec![drawn(picture), captioned(caption)],
        Content::Report(block) => report_block(block, width),
    }
}

fn bullet(words: &Words) -> Piece {
    let point = of_runs(Paragraph::new(), runs(words));
    Piece::Paragraph(Box::new(point.numbering(NumberingId::new(BULLETS), IndentLevel::new(0))))
}

fn captioned(caption: &str) -> Piece {
    let runs = runs_of(caption).into_iter().map(|run| run.italic().size(TABLE_SIZE)).collect();
    Piece::Paragraph(Box::new(of_runs(Paragraph::new(), runs).keep_next(true)))
}

/// Without a paragraph between them, two tables would merge.
fn gap() -> Piece {
    Piece::Paragraph(Box::new(Paragraph::new()))
}

fn drawn(picture: &Picture) -> Piece {
    let image = image(picture, WIDEST_PIXELS);
    Piece::Paragraph(Box::new(Paragraph::new().add_run(Run::new().add_image(image))))
}

/// A picture at most `widest` pixels of 1/96 inch wide.
fn image(picture: &Picture, widest: u32) -> Pic {
    let width = picture.width.min(widest);
    let height = u64::from(picture.height) * u64::from(width) / u64::from(picture.width);
    let height = u32::try_from(height).unwrap_or(widest).clamp(1, 2 * WIDEST_PIXELS);
    Pic::new_with_dimensions(picture.bytes.clone(), picture.width, picture.height)
        .size(width * EMU_PER_PIXEL, height * EMU_PER_PIXEL)
}

/// A part of a run's own report.
fn report_block(block: &Block, width: usize) -> Vec<Piece> {
    match block {
        Block::Facts(facts) => {
            let rows: Vec<Vec<Words>> = facts.iter().map(fact).collect();
            vec![table(&[], &rows, width), gap()]
        }
        Block::Table(content) => {
            vec![captioned(content.caption), report_table(content, width), gap()]
        }
        Block::Note(said) => vec![paragraph(&Words::said(said))],
        Block::Log(lines) => {
            lines.iter().map(|(time, said)| set_small(&format!("{time}  {said}"))).collect()
        }
        Block::Verbatim(said) => said.lines().map(set_small).collect(),
        Block::Pictures(pictures) => charts(pictures, width),
    }
}

fn set_small(line: &str) -> Piece {
    Piece::Paragraph(Box::new(Paragraph::new().add_run(text(line).size(SMALL))))
}

fn fact(fact: &Fact) -> Vec<Words> {
    vec![Words::said(fact.label), Words::said(&fact.value.text)]
}

fn report_table(content: &ReportTable, width: usize) -> Piece {
    let head: Vec<String> = content
        .columns
        .iter()
        .map(|column| [column.group, &column.label].join(" ").trim().to_owned())
        .collect();
    let rows: Vec<Vec<Words>> = content
        .rows
        .iter()
        .map(|row| row.cells.iter().map(|cell| Words::said(&cell.text)).collect())
        .collect();
    table(&head.iter().map(String::as_str).collect::<Vec<_>>(), &rows, width)
}
