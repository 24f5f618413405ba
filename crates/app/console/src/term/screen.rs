//! Terminal lines that are redrawn in place and never wrap: a wrapped line would leave part of
//! itself behind.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Width assumed for a terminal of unknown size.
const USUAL_COLUMNS: usize = 80;
const USUAL_ROWS: usize = 24;

/// Set once the work is asked to stop: a second signal may end the program at any moment, so every
/// line is complete from then on.
static WHOLE_LINES: AtomicBool = AtomicBool::new(false);

/// Number of rows drawn above the cursor, for other writers.
static ROWS_ABOVE: AtomicUsize = AtomicUsize::new(0);

/// Stops all overwriting from now on.
pub(super) fn keep_lines_whole() {
    WHOLE_LINES.store(true, Ordering::Relaxed);
}

/// Whether overwriting has stopped.
pub(super) fn are_lines_whole() -> bool {
    WHOLE_LINES.load(Ordering::Relaxed)
}

/// The sequence that removes the last lines drawn.
pub(super) fn erasing() -> String {
    erase(ROWS_ABOVE.swap(0, Ordering::Relaxed))
}

/// The lines on the terminal.
#[derive(Debug, Default)]
pub(super) struct Screen {
    /// Width of each line, in characters.
    widths: Vec<usize>,
}

impl Screen {
    /// Draws lines, made for the terminal's columns, in place of the present ones.
    pub(super) fn draw(&mut self, lines: impl FnOnce(Option<usize>) -> Vec<String>) {
        let (columns, rows) = size();
        let old = rows_above(&self.widths, columns);
        let mut lines = lines(Some(columns));
        lines.truncate(rows.saturating_sub(1).max(1));
        self.widths.clear();
        for line in &mut lines {
            line.truncate(cropped(line, columns).len());
            self.widths.push(line.chars().count());
        }
        ROWS_ABOVE.store(lines.len().saturating_sub(1), Ordering::Relaxed);
        let _ = write!(io::stderr(), "{}{}", erase(old), lines.join("\n"));
    }

    /// Removes the lines from the terminal.
    pub(super) fn clear(&mut self) {
        if !self.widths.is_empty() {
            let old = rows_above(&self.widths, size().0);
            let _ = write!(io::stderr(), "{}", erase(old));
        }
        self.widths.clear();
        ROWS_ABOVE.store(0, Ordering::Relaxed);
    }
}

/// Columns and rows of the terminal.
fn size() -> (usize, usize) {
    let size = terminal_size::terminal_size_of(io::stderr());
    size.map_or((USUAL_COLUMNS, USUAL_ROWS), |(width, height)| {
        (usize::from(width.0), usize::from(height.0))
    })
}

/// Removes the cursor's row, `above` rows above it, and everything below.
fn erase(above: usize) -> String {
    match above {
        0 => "\r\x1b[J".to_owned(),
        _ => format!("\r\x1b[{above}A\x1b[J"),
    }
}

/// Rows above the cursor that lines of these widths occupy, since a terminal that has become
/// narrower wraps them.
fn rows_above(widths: &[usize], columns: usize) -> usize {
    let rows: usize = widths.iter().map(|width| width.div_ceil(columns.max(1)).max(1)).sum();
    rows.saturating_sub(1)
}

/// Crops a line to the part that fits in `columns` without wrapping.
fn cropped(line: &str, columns: usize) -> &str {
    let end = line.char_indices().nth(columns.saturating_sub(1));
    end.map_or(line, |(end, _)| &line[..end])
}

#[cfg(test)]
mod tests {
    use super::{cropped, erase, rows_above};

    #[test]
    fn a_line_never_wraps() {
        assert_eq!(cropped("reads at 0.25 ms", 80), "reads at 0.25 ms");
        assert_eq!(cropped("reads at 0.25 ms", 6), "reads");
        assert_eq!(cropped("\u{b5}s \u{b5}s", 3), "\u{b5}s");
        assert_eq!(cropped("reads", 0), "");
    }

    #[test]
    fn lines_that_a_narrower_terminal_has_broken_are_removed_whole() {
        assert_eq!(rows_above(&[79, 40, 60], 80), 2);
        assert_eq!(rows_above(&[79, 40, 60], 40), 4);
        assert_eq!(rows_above(&[], 80), 0);
        assert_eq!(rows_above(&[0, 0], 0), 1);
        assert_eq!(erase(0), "\r\u{1b}[J");
        assert_eq!(erase(2), "\r\u{1b}[2A\u{1b}[J");
    }
}
