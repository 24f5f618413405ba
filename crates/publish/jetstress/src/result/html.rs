//! Parses the page of a result. It is not XML, and people save it through browsers, so tags are
//! read one by one, in time linear in the text, and unknown ones are skipped.

use super::ResultError;
use super::outline::{Outline, OutlineSection, collapsed};

/// A piece of a page.
enum Piece<'a> {
    /// A tag with its name in lower case.
    Tag { name: String, is_end: bool },
    /// Text between tags.
    Text(&'a str),
}

/// The name of the first element after declarations and comments, in lower case.
pub(super) fn first_element(text: &str) -> Option<String> {
    let text = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    if !text.starts_with('<') {
        return None;
    }
    let mut pieces = Pieces { rest: text };
    pieces.find_map(|piece| match piece {
        Piece::Tag { name, is_end: false } => Some(name),
        _ => None,
    })
}

/// The sections of a page.
pub(super) fn outline(text: &str) -> Result<Outline, ResultError> {
    let mut page = Page::default();
    for piece in (Pieces { rest: text }) {
        match piece {
            Piece::Text(text) => page.text(text),
            Piece::Tag { name, is_end: false } => page.open(&name),
            Piece::Tag { name, is_end: true } => page.close(&name),
        }
    }
    if !page.is_closed {
        return Err(ResultError::CutOff);
    }
    page.end_row();
    page.end_line();
    Ok(Outline { sections: page.sections })
}

/// Contents of a page read so far.
#[derive(Default)]
struct Page {
    sections: Vec<OutlineSection>,
    /// The row that is open.
    row: Option<Vec<String>>,
    /// Text of the open cell, heading or line.
    text: String,
    is_heading: bool,
    is_closed: bool,
}

impl Page {
    fn section(&mut self) -> &mut OutlineSection {
        if self.sections.is_empty() {
            self.sections.push(OutlineSection::default());
        }
        let last = self.sections.len() - 1;
        &mut self.sections[last]
    }

    fn text(&mut self, text: &str) {
        self.text.push_str(&decoded(text));
    }

    fn open(&mut self, name: &str) {
        match name {
            "fieldset" => {
                self.end_line();
                self.sections.push(OutlineSection::default());
            }
            "legend" | "h1" | "h2" | "h3" | "h4" => {
                self.end_line();
                self.is_heading = true;
            }
            "tr" => {
                self.end_row();
                self.end_line();
                self.row = Some(Vec::new());
            }
            "td" | "th" => self.text.clear(),
            "br" if self.row.is_some() => self.text.push(' '),
            "br" | "p" | "div" | "li" => self.end_line(),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "html" => self.is_closed = true,
            "legend" | "h1" | "h2" | "h3" | "h4" => self.end_heading(),
            "td" | "th" => {
                let cell = collapsed(&std::mem::take(&mut self.text));
                if let Some(row) = &mut self.row {
                    row.push(cell);
                }
            }
            "tr" | "table" => self.end_row(),
            "p" | "div" | "li" | "fieldset" => self.end_line(),
            _ => {}
        }
    }

    fn end_heading(&mut self) {
        let title = collapsed(&std::mem::take(&mut self.text));
        self.is_heading = false;
        let section = self.section();
        if section.title.is_empty() && section.rows.is_empty() {
            section.title = title;
        } else if !title.is_empty() {
            self.sections.push(OutlineSection { title, ..OutlineSection::default() });
        }
    }

    fn end_row(&mut self) {
        if let Some(row) = self.row.take() {
            self.text.clear();
            if row.iter().any(|cell| !cell.is_empty()) {
                self.section().rows.push(row);
            }
        }
    }

    /// Text outside rows is a line of the test log, or decoration.
    fn end_line(&mut self) {
        if self.row.is_some() || self.is_heading {
            return;
        }
        for line in std::mem::take(&mut self.text).lines() {
            let line = collapsed(line);
            if !line.is_empty() {
                self.section().lines.push(line);
            }
        }
    }
}

/// Iterates over the tags and texts of a page; comments, declarations, scripts and styles are
/// skipped.
struct Pieces<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        while let Some(tag) = self.rest.strip_prefix('<') {
            if tag.starts_with("!--") {
                self.rest = behind(tag, "-->");
                continue;
            }
            let end = tag.find('>')?;
            let inside = &tag[..end];
            self.rest = &tag[end + 1..];
            if inside.starts_with(['!', '?']) {
                continue;
            }
            let (is_end, inside) =
                inside.strip_prefix('/').map_or((false, inside), |of| (true, of));
            let name = inside.split(|of: char| !of.is_ascii_alphanumeric()).next();
            let name = name.unwrap_or_default().to_ascii_lowercase();
            if !is_end && matches!(name.as_str(), "script" | "style") {
                self.rest = behind(self.rest, "</");
                continue;
            }
            return Some(Piece::Tag { name, is_end });
        }
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.find('<').unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(Piece::Text(text))
    }
}

/// The text after `mark`; empty if it is missing.
fn behind<'a>(text: &'a str, mark: &str) -> &'a str {
    text.find(mark).map_or("", |at| &text[at + mark.len()..])
}

/// Decodes the entities that occur in results; others are left unchanged.
fn decoded(text: &str) -> String {
    const ENTITIES: [(&str, &str); 6] = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    if !text.contains('&') {
        return text.to_owned();
    }
    // The ampersand comes last, so that nothing is decoded twice.
    ENTITIES.iter().fold(text.to_owned(), |text, (entity, sign)| text.replace(entity, sign))
}
