//! Takes typed values out of TOML sections and complains about everything else, with its line.
//!
//! A section learns the keys it knows from being asked for them, so an unknown key can be answered
//! with the nearest known one and no second list of names has to be kept.

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::{Bytes, Nanos};

use crate::complaint::{Complaint, Problem};
use crate::quantity::{parse_duration, parse_size};

/// A value with its position.
#[derive(Clone, Debug)]
pub(crate) struct Given<T> {
    pub value: T,
    pub place: TomlPlace,
}

/// A value without a position: for documents that are written.
pub(crate) fn given<T>(value: T) -> Given<T> {
    let place = TomlPlace::default();
    Given { value, place }
}

/// Position of a value, for complaints about it.
#[derive(Clone, Debug, Default)]
pub(crate) struct TomlPlace {
    /// Line counted from 1; 0 for the command line.
    pub line: usize,
    /// The key, with its section.
    pub key: String,
}

impl TomlPlace {
    pub(crate) fn complaint(&self, problem: Problem) -> Complaint {
        Complaint { line: self.line, key: self.key.clone(), problem }
    }
}

/// A value that a key may take.
pub(crate) trait Value: Sized {
    /// The complaint's description of valid values.
    const WANTED: &'static str;

    fn read(value: &DeValue<'_>) -> Option<Self>;
}

impl Value for String {
    const WANTED: &'static str = "text in quotes";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }
}

impl Value for bool {
    const WANTED: &'static str = "true or false";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        value.as_bool()
    }
}

impl Value for f64 {
    const WANTED: &'static str = "a number";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value.as_float() {
            Some(number) => number.as_str().replace('_', "").parse().ok(),
            // Exact up to 2^53, far beyond every bound.
            None => i128::read(value).map(|number| number as Self),
        }
    }
}

impl Value for i128 {
    const WANTED: &'static str = "a whole number below 2^63";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        let integer = value.as_integer()?;
        Self::from_str_radix(integer.as_str(), integer.radix()).ok()
    }
}

impl Value for Bytes {
    const WANTED: &'static str = "a size below 16 EiB in quotes, such as \"10GiB\" or \"32KiB\"";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        parse_size(value.as_str()?)
    }
}

impl Value for Nanos {
    const WANTED: &'static str =
        "a duration below 584 years in quotes, such as \"2h\", \"45s\" or \"100ms\"";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        parse_duration(value.as_str()?)
    }
}

/// A number, or the word that leaves it to the program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NumberOrAuto {
    Auto,
    Number(i128),
}

impl Value for NumberOrAuto {
    const WANTED: &'static str = "a whole number or \"auto\"";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value.as_str() {
            Some("auto") => Some(Self::Auto),
            Some(_) => None,
            None => i128::read(value).map(Self::Number),
        }
    }
}

/// The text's line starts, to turn a byte position into a line.
pub(crate) struct Lines {
    breaks: Vec<usize>,
}

impl Lines {
    pub(crate) fn of_text(text: &str) -> Self {
        let breaks = text.match_indices('\n').map(|(position, _)| position);
        Self { breaks: breaks.collect() }
    }

    pub(crate) fn of(&self, byte: usize) -> usize {
        if byte == OUTSIDE {
            return 0;
        }
        1 + self.breaks.partition_point(|position| *position < byte)
    }
}

/// The text as a table; a complaint if it is not TOML at all, which names `example` as the command
/// that prints a document to start from.
pub(crate) fn parse<'a>(
    text: &'a str,
    example: &'static str,
    complaints: &mut Vec<Complaint>,
) -> Option<DeTable<'a>> {
    let error = match DeTable::parse(text) {
        Ok(table) => return Some(table.into_inner()),
        Err(error) => error,
    };
    let problem = Problem::Syntax {
        message: error.message().lines().collect::<Vec<_>>().join(", "),
        example,
    };
    let line = error.span().map_or(1, |span| Lines::of_text(text).of(span.start));
    let place = TomlPlace { line, key: String::new() };
    complaints.push(place.complaint(problem));
    None
}

/// Position of a value that is in no document: beyond the end of every text.
pub(crate) const OUTSIDE: usize = usize::MAX;

/// Maximum length of a text value in bytes: that of a path.
const LONGEST_TEXT: usize = 4096;
/// Maximum length of a key; no known key comes close.
const LONGEST_KEY: usize = 64;

/// One table of the document.
pub(crate) struct TomlSection<'a> {
    title: String,
    line: usize,
    lines: &'a Lines,
    table: Option<&'a DeTable<'a>>,
    known: Vec<&'static str>,
}

impl<'a> TomlSection<'a> {
    /// The document itself.
    pub(crate) fn root(table: &'a DeTable<'a>, lines: &'a Lines) -> Self {
        Self { title: String::new(), line: 1, lines, table: Some(table), known: Vec::new() }
    }

    /// Returns the position of `key`, or of the section if the key is absent.
    pub(crate) fn place(&self, key: &str) -> TomlPlace {
        let entry = self.table.and_then(|table| table.get_key_value(key));
        let line = entry.map_or(self.line, |(name, _)| self.lines.of(name.span().start));
        let key = match (self.title.as_str(), key) {
            ("", key) => key.to_owned(),
            (title, "") => title.to_owned(),
            (title, key) => format!("{title} {key}"),
        };
        TomlPlace { line, key }
    }

    fn find(&mut self, key: &'static str) -> Option<&'a Spanned<DeValue<'a>>> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.table?.get(key)
    }

    /// Whether the document gives `key`, which counts as known from now on.
    pub(crate) fn has(&mut self, key: &'static str) -> bool {
        self.find(key).is_some()
    }

    /// Whether the document gives `key`, known or not.
    pub(crate) fn holds(&self, key: &str) -> bool {
        self.table.is_some_and(|table| table.contains_key(key))
    }

    /// The value of `key`, if it is given and of its kind.
    pub(crate) fn take<T: Value>(
        &mut self,
        key: &'static str,
        complaints: &mut Vec<Complaint>,
    ) -> Option<Given<T>> {
        let value = self.find(key)?;
        self.read(key, value, complaints)
    }

    /// The values of the list `key`.
    pub(crate) fn take_list<T: Value>(
        &mut self,
        key: &'static str,
        complaints: &mut Vec<Complaint>,
    ) -> Option<Vec<Given<T>>> {
        let value = self.find(key)?;
        let Some(items) = value.get_ref().as_array() else {
            complaints.push(self.wrong_kind(
                key,
                "a list in brackets, such as [\"a\", \"b\"]",
                value,
            ));
            return None;
        };
        Some(items.iter().filter_map(|item| self.read(key, item, complaints)).collect())
    }

    /// Returns the section `[key]`, empty if the document lacks it.
    pub(crate) fn section(
        &mut self,
        key: &'static str,
        complaints: &mut Vec<Complaint>,
    ) -> TomlSection<'a> {
        let value = self.find(key);
        let table = value.and_then(|value| value.get_ref().as_table());
        if let (Some(value), None) = (value, table) {
            complaints.push(self.wrong_kind(key, "a section in brackets", value));
        }
        let title = match self.title.trim_matches(['[', ']']) {
            "" => format!("[{key}]"),
            above => format!("[{above}.{key}]"),
        };
        self.subsection(title, value, table)
    }

    /// The sections `[[key]]`, in order.
    pub(crate) fn sections(
        &mut self,
        key: &'static str,
        complaints: &mut Vec<Complaint>,
    ) -> Vec<TomlSection<'a>> {
        let Some(value) = self.find(key) else {
            return Vec::new();
        };
        let tables: Option<Vec<_>> = value.get_ref().as_array().and_then(|items| {
            items.iter().map(|item| Some((item, item.get_ref().as_table()?))).collect()
        });
        let Some(tables) = tables else {
            complaints.push(self.wrong_kind(key, "sections in double brackets", value));
            return Vec::new();
        };
        tables
            .into_iter()
            .map(|(item, table)| self.subsection(format!("[[{key}]]"), Some(item), Some(table)))
            .collect()
    }

    /// Complains about every key that was never asked for.
    pub(crate) fn finish(self, complaints: &mut Vec<Complaint>) {
        for (name, _) in self.table.into_iter().flat_map(|table| table.iter()) {
            let key: &str = name.get_ref();
            if !self.known.contains(&key) {
                let problem = Problem::UnknownKey {
                    nearest: nearest(key, &self.known).map(str::to_owned),
                    known: self.known.iter().map(|&key| key.to_owned()).collect(),
                };
                complaints.push(self.place(key).complaint(problem));
            }
        }
    }

    fn read<T: Value>(
        &self,
        key: &str,
        value: &Spanned<DeValue<'_>>,
        complaints: &mut Vec<Complaint>,
    ) -> Option<Given<T>> {
        if value.get_ref().as_str().is_some_and(|text| text.len() > LONGEST_TEXT) {
            let mut complaint = self.place(key).complaint(Problem::TooLong { most: LONGEST_TEXT });
            complaint.line = self.lines.of(value.span().start);
            complaints.push(complaint);
            return None;
        }
        let Some(read) = T::read(value.get_ref()) else {
            complaints.push(self.wrong_kind(key, T::WANTED, value));
            return None;
        };
        let place = TomlPlace { line: self.lines.of(value.span().start), ..self.place(key) };
        Some(Given { value: read, place })
    }

    fn subsection(
        &self,
        title: String,
        value: Option<&'a Spanned<DeValue<'a>>>,
        table: Option<&'a DeTable<'a>>,
    ) -> Self {
        Self {
            title,
            line: value.map_or(self.line, |value| self.lines.of(value.span().start)),
            lines: self.lines,
            table,
            known: Vec::new(),
        }
    }

    fn wrong_kind(
        &self,
        key: &str,
        wanted: &'static str,
        value: &Spanned<DeValue<'_>>,
    ) -> Complaint {
        let problem = Problem::WrongKind { wanted, found: describe(value.get_ref()) };
        let mut complaint = self.place(key).complaint(problem);
        complaint.line = self.lines.of(value.span().start);
        complaint
    }
}

fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => {
            format!("the text {:?}", text.chars().take(40).collect::<String>())
        }
        DeValue::Integer(number) => format!("the number {number}"),
        DeValue::Float(number) => format!("the number {number}"),
        DeValue::Boolean(word) => format!("`{word}`"),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a section".to_owned(),
    }
}

/// The known key with the smallest edit distance from `key`, if that is less than half of its
/// letters.
fn nearest<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    if key.len() > LONGEST_KEY {
        return None;
    }
    let key = key.to_lowercase();
    let distances = known.iter().map(|known| (edit_distance(&key, known), *known));
    let (distance, best) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance * 2 < best.len().max(3)).then_some(best)
}

/// Letters to insert, remove or exchange (Levenshtein), by the two-row method.
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, letter) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, other) in to.iter().enumerate() {
            let exchanged = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = exchanged.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::{edit_distance, nearest};

    #[test]
    fn distance_counts_changed_letters() {
        assert_eq!(edit_distance("insert", "insert"), 0);
        assert_eq!(edit_distance("insrt", "insert"), 1);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
    }

    #[test]
    fn only_a_likely_slip_is_suggested() {
        assert_eq!(
            nearest("cache_max", &["cache_minimum", "cache_maximum"]),
            Some("cache_maximum")
        );
        assert_eq!(nearest("Seed", &["name", "seed"]), Some("seed"));
        assert_eq!(nearest("colour", &["name", "seed"]), None);
    }
}
