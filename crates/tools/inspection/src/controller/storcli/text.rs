//! The text that storcli prints without `J`, as the members of its JSON: headings underlined with
//! equals signs, lines of a name and a value, and tables between lines of dashes.

use serde_json::{Map, Value, json};

use super::super::UnreadLine;
use super::super::lines::{is_prompt, must_be_shown_text};
use super::Members;
use super::table::TextTable;

/// Answers, and the lines not understood in them.
#[derive(Default)]
pub(super) struct ParsedText {
    pub answers: Vec<Value>,
    pub unread: Vec<UnreadLine>,
    /// Truncated tables.
    pub gaps: Vec<String>,
}

/// Whether a line starts an answer of this tool and of no other.
pub(super) fn begins(line: &str) -> bool {
    line.split_once(" = ").is_some_and(|(name, value)| match name.trim() {
        "CLI Version" => true,
        "Controller" => value.trim().parse::<u32>().is_ok(),
        _ => false,
    })
}

/// An answer being read.
#[derive(Default)]
struct StorcliParser {
    parsed: ParsedText,
    status: Members,
    data: Members,
    /// Heading above the current lines and tables.
    part: Option<String>,
    table: Option<TextTable>,
}

pub(super) fn parse(text: &str) -> ParsedText {
    let mut parser = StorcliParser::default();
    let all: Vec<&str> = text.lines().map(str::trim).collect();
    for (at, line) in all.iter().enumerate() {
        let next = all.get(at + 1).copied().unwrap_or_default();
        // The `Basics` part has a `Controller = 0`, too.
        if begins(line) && (line.starts_with("CLI") || next.starts_with("Status = ")) {
            parser.begin_answer();
        }
        parser.take(at + 1, line, is_underline(next, '='));
    }
    parser.end_answer();
    parser.parsed
}

fn is_underline(line: &str, of: char) -> bool {
    line.len() > 1 && line.chars().all(|c| c == of)
}

impl StorcliParser {
    fn take(&mut self, number: usize, line: &str, is_heading: bool) {
        if line.is_empty() || is_underline(line, '=') || is_prompt(line) {
            self.cut_table();
        } else if is_underline(line, '-') {
            self.rule();
        } else if let Some(table) = &mut self.table {
            if !table.take(line) {
                self.parsed.unread.push(UnreadLine { number, text: line.to_owned() });
            }
        } else if is_heading {
            self.begin_part(line.trim_end_matches(':').trim());
        } else if let Some((name, value)) = line.split_once(" =").map(|(n, v)| (n.trim(), v.trim()))
        {
            self.pair(name, value, line);
        } else if let Some(heading) = line.strip_suffix(':') {
            self.part = Some(heading.trim().to_owned());
        } else if !is_legend(line) && must_be_shown_text(line) {
            self.parsed.unread.push(UnreadLine { number, text: line.to_owned() });
        }
    }

    fn begin_part(&mut self, name: &str) {
        if name.ends_with("Properties") {
            // Without this entry a part without lines would go unnoticed.
            self.data.entry(name).or_insert_with(|| json!({}));
        }
        self.part = Some(name.to_owned());
    }

    /// Processes a line of dashes: before the names of a table, after them, or after its rows.
    fn rule(&mut self) {
        match &mut self.table {
            None => self.table = Some(TextTable::default()),
            Some(table) => {
                if table.rule() {
                    self.end_table();
                }
            }
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else {
            return;
        };
        let name = self.part.clone().unwrap_or_default();
        let (rows, gaps) = table.into_rows();
        self.parsed.gaps.extend(gaps);
        match self.data.get_mut(&name) {
            Some(Value::Array(known)) => known.extend(rows),
            Some(Value::Object(members)) => {
                drop(members.insert("rows".to_owned(), Value::Array(rows)));
            }
            _ => drop(self.data.insert(name, Value::Array(rows))),
        }
    }

    /// Ends a table whose last line is missing, before another part or at the end.
    fn cut_table(&mut self) {
        if let Some(table) = &self.table
            && table.is_begun()
        {
            let part = self.part.clone().unwrap_or_default();
            self.parsed.gaps.push(format!("the table \"{part}\" has no end"));
            self.end_table();
        }
        self.table = None;
    }

    fn pair(&mut self, name: &str, value: &str, line: &str) {
        const OF_STATUS: [&str; 4] = ["CLI Version", "Operating system", "Status", "Description"];
        if is_legend(line) {
            return;
        }
        let is_of_status =
            self.part.is_none() && (OF_STATUS.contains(&name) || name == "Controller");
        let members = match (&self.part, is_of_status) {
            (_, true) => &mut self.status,
            (Some(part), _) => match self.data.entry(part.clone()).or_insert_with(|| json!({})) {
                Value::Object(members) => members,
                _ => &mut self.data,
            },
            (None, _) => &mut self.data,
        };
        keep(members, name, value);
        if name.starts_with("Virtual Drives") || name.starts_with("Physical Drives") {
            keep(&mut self.data, name, value);
        }
    }

    fn begin_answer(&mut self) {
        if self.status.contains_key("Controller") {
            self.end_answer();
        }
    }

    fn end_answer(&mut self) {
        self.cut_table();
        self.part = None;
        let (status, data) = (std::mem::take(&mut self.status), std::mem::take(&mut self.data));
        if status.contains_key("Controller") {
            self.parsed.answers.push(json!({ "Command Status": status, "Response Data": data }));
        } else if !data.is_empty() {
            self.parsed.gaps.push("a part has no line `Controller = N`".to_owned());
        }
    }
}

/// Keeps both values of a name that occurs twice: a table of one column.
fn keep(members: &mut Map<String, Value>, name: &str, value: &str) {
    match members.get(name) {
        Some(known) if known != value => {
            members.insert(format!("{name} (again)"), value.into());
        }
        _ => drop(members.insert(name.to_owned(), value.into())),
    }
}

/// Abbreviations under a table: `Cac=CacheCade|OfLn=OffLine`, `EID-Enclosure Device ID|Slt-Slot`.
fn is_legend(line: &str) -> bool {
    line.contains('|') && line.contains(['=', '-'])
}
