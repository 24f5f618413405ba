//! A table of storcli's text: column names between two lines of dashes, rows up to a third. Cells
//! may contain blanks in sizes (`640.0 GB`) and models; a surplus of words reveals them.

use serde_json::{Map, Value};

/// A table being read.
#[derive(Default)]
pub(super) struct TextTable {
    names: Vec<String>,
    rows: Vec<Value>,
    is_named: bool,
    gaps: Vec<String>,
}

/// Replaces a blank inside a cell.
const INNER: char = '\u{1}';

/// Columns with cells that may contain blanks; one of them takes the surplus words.
const WIDE: [&str; 6] = ["Model", "Name", "Product", "ProdID", "VendorSpecific", "Value"];

impl TextTable {
    /// Whether its names have been read.
    pub(super) fn is_begun(&self) -> bool {
        !self.names.is_empty()
    }

    /// Processes a line of dashes; returns whether it ends the table.
    pub(super) fn rule(&mut self) -> bool {
        if self.is_begun() && !self.is_named {
            self.is_named = true;
            return false;
        }
        self.is_named
    }

    /// Processes a line of names or cells; returns whether it was understood.
    pub(super) fn take(&mut self, line: &str) -> bool {
        if !self.is_begun() {
            self.names = cells(&line.replace("Next Learn", "Next_Learn"));
            let is_row = self.names[0].starts_with(|c: char| c.is_ascii_digit());
            if is_row {
                self.gaps.push(format!("a row is outside of its table: {line}"));
            }
            return !is_row;
        }
        let row = self.is_named.then(|| self.row(cells(line))).flatten();
        let is_understood = row.is_some();
        if !is_understood {
            self.gaps.push(format!("a row does not fit its table: {line}"));
        }
        self.rows.extend(row);
        is_understood
    }

    fn row(&self, mut cells: Vec<String>) -> Option<Value> {
        let wanted = self.names.len();
        if cells.len() > wanted {
            let wide = self.names.iter().position(|name| WIDE.contains(&name.as_str()))?;
            let surplus = cells.len() - wanted;
            let joined = cells[wide..=wide + surplus].join(" ");
            cells.splice(wide..=wide + surplus, [joined]);
        }
        let is_last_empty = cells.len() + 1 == wanted
            && self.names.last().is_some_and(|name| name == "Name" || name == "Type");
        if is_last_empty {
            cells.push(String::new());
        }
        let fits = cells.len() == wanted;
        let cells = cells.into_iter().map(|cell| Value::from(cell.replace(INNER, " ")));
        fits.then(|| Value::Object(self.names.iter().cloned().zip(cells).collect::<Map<_, _>>()))
    }

    pub(super) fn into_rows(self) -> (Vec<Value>, Vec<String>) {
        (self.rows, self.gaps)
    }
}

/// The cells of a line: a number stays with its unit.
fn cells(line: &str) -> Vec<String> {
    const UNITS: [&str; 10] = ["B", "KB", "MB", "GB", "TB", "PB", "KiB", "MiB", "GiB", "TiB"];
    let mut cells: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        match cells.last_mut() {
            Some(last)
                if last.starts_with(|c: char| c.is_ascii_digit())
                    && last.chars().all(|c| c.is_ascii_digit() || c == '.')
                    && (UNITS.contains(&word) || word == "hour(s)") =>
            {
                last.push(INNER);
                last.push_str(word);
            }
            _ => cells.push(word.to_owned()),
        }
    }
    cells
}

#[cfg(test)]
mod tests;
