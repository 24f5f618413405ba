//! Tables as text: as wide as the terminal and no wider, without breaking words.
//!
//! A table whose columns do not fit side by side moves its keys below its first column; if it
//! contains sentences it becomes a list, otherwise it is printed in parts, each with the columns
//! that name its rows.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::iter::zip;

use super::{push_wrapped, wrap};
use crate::document::{Column, ColumnRole, Table};

/// Room between two columns.
const GAP: usize = 2;
/// Headings of numbers are broken to about this width.
const HEADING_WIDTH: usize = 12;
/// Minimum width of a column of sentences, and of a last column of text.
const NARROWEST_TEXT: usize = 24;
/// Widths to try for columns of text, until the whole table fits side by side.
const TEXT_WIDTHS: [usize; 6] = [44, 36, 28, 22, 18, 14];
/// Longer texts are sentences, which are hard to read in a column a few words wide.
const SENTENCE: usize = 44;
/// Indent of the values in a list, and of keys below a first column.
const INDENT: usize = 2;

/// A column with its heading and cells broken into lines.
#[derive(Clone)]
struct Laid {
    heading: Vec<String>,
    cells: Vec<Vec<String>>,
    numeric: bool,
    width: usize,
}

/// Prints a table in lines of at most `width` characters, unless a single word is longer.
pub(super) fn push_table(text: &mut String, table: &Table, width: usize) {
    push_wrapped(text, table.caption, "", width);
    if table.rows.is_empty() {
        let _ = writeln!(text, "(none)");
        return;
    }
    let sources: Vec<Source> = (0..table.columns.len()).map(|at| Source::of(table, at)).collect();
    for most in TEXT_WIDTHS {
        let columns = lay_out(table, most, width);
        if fits(&columns, width)
            && !zip(&sources, &columns).any(|(of, laid)| of.is_squeezed(laid.width))
        {
            return push_part(text, &columns);
        }
    }
    let folded = with_keys_below(table, &sources);
    for sources in [folded.as_ref(), Some(&sources)].into_iter().flatten() {
        if let Some(columns) = shared(sources, width) {
            return push_part(text, &columns);
        }
    }
    if sources.iter().any(|of| !of.numeric && of.widest() > SENTENCE) {
        return push_list(text, table, width);
    }
    push_parts(text, &folded.unwrap_or(sources), width);
}

impl Laid {
    fn of(table: &Table, index: usize, text_width: usize) -> Self {
        Source::of(table, index).laid(text_width)
    }

    fn padded(&self, line: Option<&String>) -> String {
        let line = line.map_or("", String::as_str);
        let width = self.width;
        if self.numeric { format!("{line:>width$}") } else { format!("{line:<width$}") }
    }
}

fn fits(columns: &[Laid], width: usize) -> bool {
    columns.iter().map(|laid| laid.width + GAP).sum::<usize>() <= width + GAP
}

/// Lays out columns of text at most `most` wide; a last one takes the remaining width if that is
/// enough.
fn lay_out(table: &Table, most: usize, width: usize) -> Vec<Laid> {
    let last = table.columns.len() - 1;
    let mut columns: Vec<Laid> = (0..=last).map(|index| Laid::of(table, index, most)).collect();
    let before: usize = columns[..last].iter().map(|laid| laid.width + GAP).sum();
    let left_over = width.saturating_sub(before);
    if left_over >= NARROWEST_TEXT && !columns[last].numeric {
        columns[last] = Laid::of(table, last, left_over);
    }
    columns
}

/// A column before its lines are broken: its heading, and the paragraphs of each cell.
#[derive(Clone)]
struct Source {
    heading: String,
    cells: Vec<Vec<String>>,
    numeric: bool,
}

impl Source {
    fn of(table: &Table, index: usize) -> Self {
        let column = &table.columns[index];
        Self {
            heading: heading_of(column),
            cells: table.rows.iter().map(|row| vec![row.cells[index].text.clone()]).collect(),
            numeric: column.numeric,
        }
    }

    /// Breaks the column into lines of at most `width`; a single long word may exceed it.
    fn laid(&self, width: usize) -> Laid {
        let heading = wrap(&self.heading, HEADING_WIDTH);
        let cells: Vec<Vec<String>> =
            self.cells.iter().map(|paragraphs| self.lines(paragraphs, width)).collect();
        let all = heading.iter().chain(cells.iter().flatten());
        let width = all.map(|line| line.chars().count()).max().unwrap_or(0);
        Laid { heading, cells, numeric: self.numeric, width }
    }

    /// The lines of a cell; numbers, and the keys below a text, stay whole.
    fn lines(&self, paragraphs: &[String], width: usize) -> Vec<String> {
        match paragraphs.split_first() {
            Some((first, keys)) if !self.numeric || first.starts_with(char::is_alphabetic) => {
                [wrap(first, width), keys.to_vec()].concat()
            }
            _ => paragraphs.to_vec(),
        }
    }

    /// The width of its longest word.
    fn narrowest(&self) -> usize {
        self.laid(1).width
    }

    /// Width of its longest cell when sentences are broken.
    fn usual(&self) -> usize {
        self.laid(SENTENCE).width
    }

    /// Whether it has sentences that are hard to read in `width` columns.
    fn is_squeezed(&self, width: usize) -> bool {
        self.widest() > SENTENCE && width < NARROWEST_TEXT
    }

    /// The width of its longest cell on one line.
    fn widest(&self) -> usize {
        self.laid(usize::MAX).width
    }
}

fn heading_of(column: &Column) -> String {
    format!("{} {}", column.group, column.label).trim().to_owned()
}

/// The columns with the keys moved below the texts of the first column; `None` if the table has no
/// keys.
fn with_keys_below(table: &Table, sources: &[Source]) -> Option<Vec<Source>> {
    let key = (1..sources.len()).find(|&at| table.columns[at].role == ColumnRole::Key)?;
    let mut columns = sources.to_vec();
    let keys = columns.remove(key);
    for (cell, key) in columns[0].cells.iter_mut().zip(keys.cells) {
        cell.extend(key.into_iter().map(|key| format!("{:INDENT$}{key}", "")));
    }
    Some(columns)
}

/// The columns side by side: each fits its longest word, and narrow columns get their full width
/// first. `None` if the words do not fit, or a column of sentences would be too narrow to read.
fn shared(sources: &[Source], width: usize) -> Option<Vec<Laid>> {
    let mut widths: Vec<usize> = sources.iter().map(Source::narrowest).collect();
    let wanted: Vec<usize> = sources.iter().map(Source::widest).collect();
    let gaps = GAP * (sources.len() - 1);
    let mut left_over = width.checked_sub(gaps + widths.iter().sum::<usize>())?;
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_by_key(|&at| wanted[at]);
    for at in order {
        let more = (wanted[at] - widths[at]).min(left_over);
        widths[at] += more;
        left_over -= more;
    }
    if zip(sources, &widths).any(|(source, width)| source.is_squeezed(*width)) {
        return None;
    }
    Some(sources.iter().zip(widths).map(|(source, width)| source.laid(width)).collect())
}

/// Width of the columns if only sentences are broken.
fn usual(sources: &[Source]) -> usize {
    sources.iter().map(|of| of.usual() + GAP).sum()
}

/// Prints as many columns at a time as fit when only sentences are broken, each part with the
/// columns that name its rows.
fn push_parts(text: &mut String, sources: &[Source], width: usize) {
    let names = naming(sources, width);
    let mut rest: Vec<usize> = (0..sources.len()).filter(|at| !names.contains(at)).collect();
    while !rest.is_empty() {
        let mut all = (1..=rest.len()).rev();
        let fits = all.find(|&count| usual(&part_of(sources, &names, &rest[..count])) <= width);
        let count = fits.unwrap_or(1);
        let part = part_of(sources, &names, &rest[..count]);
        let narrow = part.iter().map(|source| source.laid(1));
        push_part(text, &shared(&part, width).unwrap_or_else(|| narrow.collect()));
        rest.drain(..count);
        if !rest.is_empty() {
            text.push('\n');
        }
    }
}

/// The columns `names` and `others`, in the order of the table.
fn part_of(sources: &[Source], names: &[usize], others: &[usize]) -> Vec<Source> {
    let mut part = [names, others].concat();
    part.sort_unstable();
    part.into_iter().map(|at| sources[at].clone()).collect()
}

/// The columns that every part repeats: of the texts before the first numbers, the fewest that
/// distinguish the rows, if there is a choice the first one and not the widest. Only the first
/// column if none do, or if they leave no room for the rest.
fn naming(sources: &[Source], width: usize) -> Vec<usize> {
    let texts = sources.iter().take_while(|of| !of.numeric).count();
    let mut names: Vec<usize> = (0..texts).collect();
    if !distinguish(sources, &names) {
        return vec![0];
    }
    let mut by_use = names.clone();
    by_use.sort_by_key(|&at| (at == 0, Reverse(sources[at].widest())));
    for at in by_use {
        let fewer: Vec<usize> = names.iter().copied().filter(|&name| name != at).collect();
        if distinguish(sources, &fewer) {
            names = fewer;
        }
    }
    let taken: usize = names.iter().map(|&at| sources[at].usual() + GAP).sum();
    if names.is_empty() || taken > width / 2 { vec![0] } else { names }
}

/// Whether no two rows are alike in the columns `names`.
fn distinguish(sources: &[Source], names: &[usize]) -> bool {
    let rows = sources[0].cells.len();
    let distinct: BTreeSet<Vec<_>> =
        (0..rows).map(|row| names.iter().map(|&at| &sources[at].cells[row]).collect()).collect();
    distinct.len() == rows
}

/// Prints each row as a list of its values, labelled with their headings.
fn push_list(text: &mut String, table: &Table, width: usize) {
    for (number, row) in table.rows.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        for (at, (column, cell)) in table.columns.iter().zip(&row.cells).enumerate() {
            let indent = if at == 0 { 0 } else { INDENT };
            let line = format!("{}: {}", heading_of(column), cell.text);
            let inner = " ".repeat(2 * INDENT);
            let lines = wrap(&line, width.saturating_sub(inner.len()).max(1));
            for (index, part) in lines.iter().enumerate() {
                let margin = if index == 0 { &inner[..indent] } else { &inner };
                let _ = writeln!(text, "{margin}{part}");
            }
        }
    }
}

fn push_part(text: &mut String, part: &[Laid]) {
    let height = part.iter().map(|laid| laid.heading.len()).max().unwrap_or(0);
    for line in 0..height {
        // Headings are bottom-aligned.
        let cells = part.iter().map(|laid| {
            let above = height - laid.heading.len();
            laid.padded(line.checked_sub(above).and_then(|line| laid.heading.get(line)))
        });
        push_line(text, cells);
    }
    push_line(text, part.iter().map(|laid| "-".repeat(laid.width)));
    for row in 0..part[0].cells.len() {
        let height = part.iter().map(|laid| laid.cells[row].len()).max();
        for line in 0..height.unwrap_or(0) {
            push_line(text, part.iter().map(|laid| laid.padded(laid.cells[row].get(line))));
        }
    }
}

fn push_line(text: &mut String, cells: impl Iterator<Item = String>) {
    let line = cells.collect::<Vec<String>>().join(&" ".repeat(GAP));
    let _ = writeln!(text, "{}", line.trim_end());
}

#[cfg(test)]
mod tests;
