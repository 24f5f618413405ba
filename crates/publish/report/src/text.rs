//! The report as plain text, for terminals, mail and `diff`.

use std::fmt::Write as _;

use crate::document::{Block, Column, Document, Fact, Section, Table};

/// Widest line of our own text.
const WIDTH: usize = 100;
/// Room between two columns.
const GAP: usize = 2;
/// Headings of numbers are broken to about this width.
const HEADING_WIDTH: usize = 12;
/// Columns of text are broken to this width where a table would else be too wide.
const TEXT_WIDTH: usize = 44;

/// A last column of text is not made narrower than this.
const NARROWEST_TEXT: usize = 24;

/// Widths to try for columns of text, until the whole table fits side by side.
const TEXT_WIDTHS: [usize; 6] = [TEXT_WIDTH, 36, 28, 22, 18, 14];

/// The text of a report.
pub(crate) fn render(document: &Document) -> String {
    let banner = &document.banner;
    let mut text = format!("{}\n", banner.subject);
    push_wrapped(&mut text, &banner.started, "");
    text.push('\n');
    let _ = writeln!(
        text,
        "{}  {} {}",
        banner.verdict.to_uppercase(),
        banner.number,
        banner.number_unit
    );
    for sentence in &banner.meaning {
        push_wrapped(&mut text, sentence, "");
    }
    text.push('\n');
    for figure in &banner.figures {
        let _ = writeln!(text, "{}", figure.line());
    }
    for section in &document.sections {
        push_section(&mut text, section);
    }
    units::plain(&text).into_owned()
}

fn push_section(text: &mut String, section: &Section) {
    if section.blocks.iter().all(is_drawn_only) {
        return;
    }
    let rule = "-".repeat(section.title.chars().count());
    let _ = write!(text, "\n\n{}\n{rule}\n", section.title);
    let blocks = section.blocks.iter().filter(|block| !is_drawn_only(block));
    for (index, block) in blocks.enumerate() {
        if index > 0 {
            text.push('\n');
        }
        push_block(text, block);
    }
}

const fn is_drawn_only(block: &Block) -> bool {
    matches!(block, Block::Pictures(_))
}

fn push_block(text: &mut String, block: &Block) {
    match block {
        Block::Facts(facts) => push_facts(text, facts),
        Block::Table(table) => push_table(text, table),
        Block::Pictures(_) => {}
        Block::Note(note) => push_wrapped(text, note, ""),
        Block::Log(lines) => {
            for (time, line) in lines {
                let _ = writeln!(text, "{time}  {line}");
            }
        }
        Block::Verbatim(verbatim) => {
            text.push_str(verbatim.trim_end());
            text.push('\n');
        }
    }
}

fn push_facts(text: &mut String, facts: &[Fact]) {
    let width = facts.iter().map(|fact| fact.label.chars().count()).max();
    let width = width.unwrap_or(0);
    for fact in facts {
        let line = format!("{:<width$}  {}", fact.label, fact.value.text);
        if line.chars().count() <= WIDTH {
            let _ = writeln!(text, "{}", line.trim_end());
            continue;
        }
        let label = format!("{:<width$}  ", fact.label);
        for (index, part) in wrap(&fact.value.text, WIDTH - label.len()).iter().enumerate() {
            let label = if index == 0 { &*label } else { &" ".repeat(label.len()) };
            let _ = writeln!(text, "{label}{part}");
        }
    }
}

/// Words of `content` in lines of at most [`WIDTH`], all but the first behind `indent`.
fn push_wrapped(text: &mut String, content: &str, indent: &str) {
    for (index, line) in wrap(content, WIDTH - indent.len()).iter().enumerate() {
        let indent = if index == 0 { "" } else { indent };
        let _ = writeln!(text, "{indent}{line}");
    }
}

/// `content` broken between words; a word longer than `width` stays whole.
fn wrap(content: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in content.split_whitespace() {
        let line = lines.last_mut().expect("invariant: there is always a line");
        let length = line.chars().count();
        if length > 0 && length + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if length > 0 {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// A column with its heading and cells broken into lines.
struct Laid {
    heading: Vec<String>,
    cells: Vec<Vec<String>>,
    numeric: bool,
    width: usize,
}

impl Laid {
    fn of(table: &Table, index: usize, text_width: usize) -> Self {
        let column = &table.columns[index];
        let heading = wrap(&heading_of(column), HEADING_WIDTH);
        let cells: Vec<Vec<String>> = table
            .rows
            .iter()
            .map(|row| {
                let text = &row.cells[index].text;
                if column.numeric { vec![text.clone()] } else { wrap(text, text_width) }
            })
            .collect();
        let lines = heading.iter().chain(cells.iter().flatten());
        let width = lines.map(|line| line.chars().count()).max();
        Self { heading, cells, numeric: column.numeric, width: width.unwrap_or(0) }
    }

    fn padded(&self, line: Option<&String>) -> String {
        let line = line.map_or("", String::as_str);
        let width = self.width;
        if self.numeric { format!("{line:>width$}") } else { format!("{line:<width$}") }
    }
}

fn heading_of(column: &Column) -> String {
    format!("{} {}", column.group, column.label).trim().to_owned()
}

/// Prints a table; one too wide is cut into several, each with the first column.
fn push_table(text: &mut String, table: &Table) {
    push_wrapped(text, table.caption, "");
    if table.rows.is_empty() {
        let _ = writeln!(text, "(none)");
        return;
    }
    let columns = lay_out(table);
    let (first, rest) = columns.split_first().expect("invariant: a table has a column");
    let mut part = vec![first];
    for column in rest {
        let width: usize = part.iter().map(|laid| laid.width + GAP).sum();
        if part.len() > 1 && width + column.width > WIDTH {
            push_part(text, &part);
            text.push('\n');
            part = vec![first];
        }
        part.push(column);
    }
    push_part(text, &part);
}

/// Columns with their lines; a last column of text is fitted if that leaves it room.
fn lay_out(table: &Table) -> Vec<Laid> {
    let tried = TEXT_WIDTHS.map(|width| lay_out_in(table, width));
    let mut tried = tried.into_iter();
    let widest = tried.next().expect("invariant: there is a first width");
    if is_whole(&widest) {
        widest
    } else {
        tried.find(|columns| is_whole(columns)).unwrap_or(widest)
    }
}

/// Whether all columns fit side by side.
fn is_whole(columns: &[Laid]) -> bool {
    columns.iter().map(|laid| laid.width + GAP).sum::<usize>() <= WIDTH + GAP
}

fn lay_out_in(table: &Table, text_width: usize) -> Vec<Laid> {
    let last = table.columns.len() - 1;
    let mut columns: Vec<Laid> =
        (0..=last).map(|index| Laid::of(table, index, text_width)).collect();
    let before: usize = columns[..last].iter().map(|laid| laid.width + GAP).sum();
    let left_over = WIDTH.saturating_sub(before);
    if left_over >= NARROWEST_TEXT && !columns[last].numeric {
        columns[last] = Laid::of(table, last, left_over);
    }
    columns
}

fn push_part(text: &mut String, part: &[&Laid]) {
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
mod tests {
    use super::wrap;

    #[test]
    fn words_are_kept_whole() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("aaaaaaaa b", 5), ["aaaaaaaa", "b"]);
        assert_eq!(wrap("", 5), [""]);
    }
}
