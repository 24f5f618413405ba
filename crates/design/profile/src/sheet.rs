//! Tables as written by administrators' tools: any column order; comma, semicolon or tab; comment
//! lines from PowerShell, Excel and message tracking.

use std::fmt;

use csv::{ReaderBuilder, StringRecord};

use crate::date::DateOrder;

/// An unusable row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// Line counted from 1.
    pub line: u64,
    /// Its column.
    pub column: String,
    /// The text found.
    pub found: String,
    /// The kind of value expected.
    pub wanted: &'static str,
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, found, wanted } = self;
        let found: String = found.chars().take(40).collect();
        write!(f, "line {line}: {column} is {found:?}, not {wanted}")
    }
}

/// The version in the first lines of a log, written there by message tracking.
pub(super) fn version(text: &str) -> Option<String> {
    let mut comments = text.lines().take_while(|line| line.starts_with('#'));
    let version = comments.find_map(|line| line.strip_prefix("#Version:"))?;
    Some(version.trim().to_owned())
}

/// A table with named columns.
pub(super) struct Sheet<'a> {
    reader: csv::Reader<&'a [u8]>,
    headers: Vec<String>,
    /// The headers in the form compared by [`same`].
    names: Vec<String>,
    record: StringRecord,
    /// The table, from which `reader` reads.
    body: &'a str,
    /// Position in `body` up to which lines have been counted.
    counted: usize,
    /// Number of lines before that position, in the whole text.
    lines: u64,
}

/// Start of the line that names the columns of a message tracking log.
const FIELDS: &str = "#Fields:";

impl<'a> Sheet<'a> {
    /// Finds the headers of `text`.
    pub(super) fn open(text: &'a str) -> Self {
        let (start, before) = first_line_of_table(text);
        let body = &text[start..];
        let first = body.lines().next().unwrap_or("");
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter(first))
            .from_reader(body.as_bytes());
        let mut record = StringRecord::new();
        let found = reader.read_record(&mut record).unwrap_or(false);
        let mut sheet = Self {
            reader,
            headers: Vec::new(),
            names: Vec::new(),
            record: StringRecord::new(),
            body,
            counted: 0,
            lines: before,
        };
        if found {
            sheet.name_columns(&record);
        }
        sheet
    }

    fn name_columns(&mut self, record: &StringRecord) {
        self.headers = record.iter().map(|field| column_name(field).to_owned()).collect();
        self.headers.retain(|header| !header.is_empty());
        self.names = record.iter().map(|field| same(column_name(field))).collect();
    }

    /// The names of the columns.
    pub(super) fn headers(&self) -> &[String] {
        &self.headers
    }

    /// Whether there is a column `name`.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(&same(name))
    }

    /// Detects the order of the dates in the first existing column of `columns`, read to the end.
    pub(super) fn date_order(mut self, columns: [&str; 2]) -> DateOrder {
        let mut dates = Vec::new();
        while let Some(row) = self.next() {
            let row = row.ok();
            let text = row.map(|row| columns.map(|column| row.text(column)).concat());
            dates.extend(text.and_then(|text| Some(text.split([' ', 'T']).next()?.to_owned())));
        }
        DateOrder::of(dates.iter().map(String::as_str))
    }

    /// Line number of the record. The reader's own count is one short if lines end in CR LF: it
    /// leaves the LF to the next record.
    fn line(&mut self) -> u64 {
        let position = self.record.position().map_or(0, csv::Position::byte);
        let byte = usize::try_from(position).unwrap_or(usize::MAX);
        let rest = self.body.as_bytes().get(byte..).unwrap_or(&[]);
        let ends = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
        let start = byte + ends.count();
        let passed = self.body.get(self.counted..start).unwrap_or("");
        self.lines += passed.matches('\n').count() as u64;
        self.counted = start;
        self.lines + 1
    }

    /// Returns the next row; rows of a message tracking log that rename the columns take effect
    /// here.
    pub(super) fn next(&mut self) -> Option<Result<SheetRow<'_>, BadRow>> {
        loop {
            match self.reader.read_record(&mut self.record) {
                Ok(false) => return None,
                Ok(true) => {}
                Err(error) => {
                    return Some(Err(BadRow {
                        line: self.lines + 1,
                        column: "the row".to_owned(),
                        found: error.to_string(),
                        wanted: "comma-separated values",
                    }));
                }
            }
            let first = self.record.get(0).unwrap_or("");
            if first.starts_with(FIELDS) {
                let record = self.record.clone();
                self.name_columns(&record);
            } else if !first.starts_with('#') {
                break;
            }
        }
        let line = self.line();
        Some(Ok(SheetRow { record: &self.record, names: &self.names, line }))
    }
}

/// One row.
#[derive(Clone, Copy)]
pub(super) struct SheetRow<'s> {
    record: &'s StringRecord,
    names: &'s [String],
    line: u64,
}

impl<'s> SheetRow<'s> {
    /// Whether there is a column `name`.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(&same(name))
    }

    /// Returns the text in the column; empty if the row has no such column.
    pub(super) fn text(&self, column: &str) -> &'s str {
        let column = same(column);
        let at = self.names.iter().position(|name| *name == column);
        at.and_then(|at| self.record.get(at)).unwrap_or("").trim()
    }

    /// Parses a whole number, ignoring thousands separators of any language.
    pub(super) fn count(&self, column: &str) -> Result<u64, BadRow> {
        let text = self.text(column);
        whole_number(text).ok_or_else(|| self.bad(column, "a whole number"))
    }

    /// Parses a number in a column that may be empty or absent, which counts as 0.
    pub(super) fn count_or_zero(&self, column: &str) -> Result<u64, BadRow> {
        if self.text(column).is_empty() {
            return Ok(0);
        }
        self.count(column)
    }

    /// A length in bytes: a plain number, or the bytes in brackets after a rounded size, as in `1.2
    /// GB (1,288,490,188 bytes)`.
    pub(super) fn length(&self, column: &str) -> Result<u64, BadRow> {
        let text = self.text(column);
        let inside = text
            .rsplit_once('(')
            .and_then(|(_, rest)| rest.split_once(')'))
            .map(|(inside, _)| inside.trim_end_matches(|c: char| c.is_alphabetic() || c == ' '));
        whole_number(inside.unwrap_or(text)).ok_or_else(|| {
            self.bad(column, "a size in bytes, such as `1.2 GB (1,288,490,188 bytes)`")
        })
    }

    /// Whether the column says yes.
    pub(super) fn is_true(&self, column: &str) -> bool {
        self.text(column).eq_ignore_ascii_case("true")
    }

    /// Describes a bad value in the column.
    pub(super) fn bad(&self, column: &str, wanted: &'static str) -> BadRow {
        BadRow {
            line: self.line,
            column: column.to_owned(),
            found: self.text(column).to_owned(),
            wanted,
        }
    }
}

/// Parses digits with thousands separators: comma, point, apostrophes and blanks of any width.
fn whole_number(text: &str) -> Option<u64> {
    let text = text.trim();
    let starts_well = text.starts_with(|c: char| c.is_ascii_digit());
    let grouped = text.split(is_separator).skip(1).all(|group| group.len() == 3);
    if !starts_well || !grouped {
        return None;
    }
    text.replace(is_separator, "").parse().ok()
}

const fn is_separator(c: char) -> bool {
    matches!(c, ',' | '.' | '\'' | '\u{2019}') || c.is_whitespace()
}

fn column_name(field: &str) -> &str {
    field.trim_start_matches(FIELDS).trim()
}

/// Reduces a header to the part that is compared: its letters and digits, in lower case.
fn same(header: &str) -> String {
    header.chars().filter(|symbol| symbol.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The most frequent of the usual separators in the header line.
fn delimiter(headers: &str) -> u8 {
    let usual = [b'\t', b';', b','];
    usual
        .into_iter()
        .max_by_key(|separator: &u8| headers.matches(char::from(*separator)).count())
        .unwrap_or(b',')
}

/// Start of the table, and the number of lines before it: message tracking comments other than its
/// field names, PowerShell's type line, Excel's separator line and empty lines.
fn first_line_of_table(text: &str) -> (usize, u64) {
    let (mut start, mut before) = (0, 0);
    for line in text.split_inclusive('\n') {
        let plain = line.trim();
        let comment = plain.starts_with('#') && !plain.starts_with(FIELDS);
        if !(plain.is_empty() || comment || plain.starts_with("sep=")) {
            break;
        }
        start += line.len();
        before += 1;
    }
    (start, before)
}

#[cfg(test)]
mod tests {
    use super::{same, whole_number};

    #[test]
    fn numbers_of_many_languages() {
        for text in
            ["1288490188", "1,288,490,188", "1.288.490.188", "1 288 490 188", "1'288'490'188"]
        {
            assert_eq!(whole_number(text), Some(1_288_490_188), "{text}");
        }
        assert_eq!(whole_number("1\u{202F}288\u{A0}490\u{2009}188"), Some(1_288_490_188));
        for text in ["", "-3", "1.5", "12,34", "1e9", "ten", ",5", "99999999999999999999"] {
            assert_eq!(whole_number(text), None, "{text}");
        }
    }

    #[test]
    fn headers_differ_only_in_letters_and_digits() {
        assert_eq!(same("Storage Used (Byte)"), same("storage_used byte"));
        assert_ne!(same("TotalItemSize"), same("TotalItemSize (MB)"));
    }
}
