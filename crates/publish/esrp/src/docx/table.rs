//! Tables of the document: headings never break inside a word, repeat on every page of the table
//! and stay with its first rows, and no row is split between two pages.

use docx_rs::{HeightRule, Paragraph, Run, Table, TableCell, TableRow, WidthType};

use super::piece::{Piece, text};
use super::{of_runs, runs};
use crate::paper::Words;

/// Font sizes in half points; the largest that fits the headings is used.
const SIZES: [usize; 4] = [18, 14, 12, 10];
/// Number of columns from which a table uses at most the second size.
const MANY_COLUMNS: usize = 7;
/// Total left and right margin of a cell, in twentieths of a point.
const CELL_MARGINS: usize = 216;

/// Rows kept on one page with the next row, so that no heading is above a single row.
const KEPT_ROWS: usize = 2;

/// Marks a header row by a height without effect, since the library has no property for it.
const MARKED: &str = "<w:trHeight w:val=\"1\" w:hRule=\"auto\" />";
const REPEATED: &str = "<w:tblHeader />";

/// Makes the header rows of tables repeat on every page.
pub(super) fn with_repeated_headings(document: Vec<u8>) -> Vec<u8> {
    match String::from_utf8(document) {
        Ok(document) => document.replace(MARKED, REPEATED).into_bytes(),
        Err(error) => error.into_bytes(),
    }
}

/// A table as wide as the text.
pub(super) fn table(head: &[&str], rows: &[Vec<Words>], width: usize) -> Piece {
    let texts: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(Words::text).collect()).collect();
    let TableLayout { widths, size } = layout(head, &texts, width);
    let mut made = Vec::with_capacity(rows.len() + 1);
    if !head.is_empty() {
        let cells = head.iter().map(|label| vec![text(label).bold().size(size)]);
        let row = table_row(cells, &widths, true);
        made.push(row.row_height(1.0).height_rule(HeightRule::Auto));
    }
    for (index, row) in rows.iter().enumerate() {
        let keeps_next = index < KEPT_ROWS && index + 1 < rows.len();
        let cells = row.iter().map(|words| sized(runs(words), size));
        made.push(table_row(cells, &widths, keeps_next));
    }
    Piece::Table(Box::new(Table::new(made).width(width, WidthType::Dxa).set_grid(widths)))
}

fn sized(runs: Vec<Run>, size: usize) -> Vec<Run> {
    runs.into_iter().map(|run| run.size(size)).collect()
}

fn table_row(
    cells: impl Iterator<Item = Vec<Run>>,
    widths: &[usize],
    keeps_next: bool,
) -> TableRow {
    let cells = cells.zip(widths).map(|(runs, &width)| {
        let paragraph = of_runs(Paragraph::new(), runs).keep_next(keeps_next);
        TableCell::new().width(width, WidthType::Dxa).add_paragraph(paragraph)
    });
    TableRow::new(cells.collect()).cant_split()
}

/// Column widths in twentieths of a point, and the font size in half points.
#[derive(Debug, PartialEq, Eq)]
struct TableLayout {
    widths: Vec<usize>,
    size: usize,
}

/// Picks the largest size at which the longest words of the headings fit side by side, and
/// distributes the remaining width by the longest text of each column.
fn layout(head: &[&str], rows: &[Vec<String>], width: usize) -> TableLayout {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0).max(head.len()).max(1);
    let first = usize::from(columns >= MANY_COLUMNS);
    let needs = SIZES[first..].iter().map(|&size| (size, needed(head, columns, size)));
    let last = (SIZES[SIZES.len() - 1], needed(head, columns, SIZES[SIZES.len() - 1]));
    let (size, needed) =
        needs.into_iter().find(|(_, needed)| needed.iter().sum::<usize>() <= width).unwrap_or(last);
    TableLayout { widths: widths(&needed, &shares(head, rows, columns), width), size }
}

/// Minimum width of each column: the longest word of its heading.
fn needed(head: &[&str], columns: usize, size: usize) -> Vec<usize> {
    let mut needed = vec![CELL_MARGINS; columns];
    for (need, label) in needed.iter_mut().zip(head) {
        let words = label.split([' ', '/']).map(|word| word.chars().count());
        // Bold letters of Calibri are 0.56 of the type's size wide on average, those of its
        // fallback 0.72, and O and m are wider. A half point is ten units of width.
        *need += words.max().unwrap_or(0) * size * 76 / 10;
    }
    needed
}

/// Longest text of each column, clamped so that a number always fits and a sentence cannot take all
/// the width.
fn shares(head: &[&str], rows: &[Vec<String>], columns: usize) -> Vec<usize> {
    const SHORTEST: usize = 7;
    const LONGEST: usize = 45;
    let mut shares = Vec::with_capacity(columns);
    for column in 0..columns {
        let texts = rows.iter().filter_map(|row| row.get(column));
        let text = texts.map(|text| text.chars().count()).max().unwrap_or(0);
        let heading = head.get(column).map_or(0, |label| label.chars().count() / 2);
        shares.push(text.max(heading).clamp(SHORTEST, LONGEST));
    }
    shares
}

/// Gives every column its minimum plus its share of the remaining width.
fn widths(needed: &[usize], shares: &[usize], width: usize) -> Vec<usize> {
    let sum: usize = needed.iter().sum();
    if sum >= width {
        return needed.iter().map(|need| need * width / sum.max(1)).collect();
    }
    let all: usize = shares.iter().sum();
    let wanted: Vec<usize> = shares.iter().map(|share| share * width / all.max(1)).collect();
    let beyond: Vec<usize> =
        wanted.iter().zip(needed).map(|(want, need)| want.saturating_sub(*need)).collect();
    let (rest, all) = (width - sum, beyond.iter().sum::<usize>());
    if all == 0 {
        return needed.iter().map(|need| need + rest / needed.len()).collect();
    }
    needed.iter().zip(beyond).map(|(need, more)| need + more * rest / all).collect()
}

#[cfg(test)]
mod tests;
