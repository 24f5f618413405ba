//! A result independent of its form: sections with rows of cells and lines of text.

/// A whole result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    /// The sections, in order.
    pub sections: Vec<OutlineSection>,
}

/// A section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OutlineSection {
    /// Its heading.
    pub title: String,
    /// Its rows, without empty ones.
    pub rows: Vec<Vec<String>>,
    /// Text outside rows.
    pub lines: Vec<String>,
}

impl Outline {
    /// The value next to a name, from the first row of two cells with that name.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let found = self.pairs().find(|(_, of, _)| normal(of) == normal(name));
        found.map(|(_, _, value)| value).filter(|value| !is_missing(value))
    }

    /// Section, name and value of every row with two cells.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.sections.iter().flat_map(|section| {
            let pairs = section.rows.iter().filter_map(|row| match row.as_slice() {
                [name, value] => Some((name.as_str(), value.as_str())),
                _ => None,
            });
            pairs.map(|(name, value)| (section.title.as_str(), name, value))
        })
    }
}

/// A name in normal form, since results differ in units, spaces and `/s/sec`.
pub(super) fn normal(name: &str) -> String {
    let words: Vec<String> = name.split_whitespace().map(str::to_lowercase).collect();
    let name = words.join(" ").replace("/s/sec", "/sec").replace("mseexchange", "msexchange");
    let name = name.trim_end_matches(':').trim_end();
    name.strip_suffix("(msec)").unwrap_or(name).trim_end().to_owned()
}

/// Whether a cell is marked as having no value.
pub(super) fn is_missing(value: &str) -> bool {
    matches!(value.trim().to_lowercase().as_str(), "" | "-" | "--" | "n/a" | "nan" | "\u{a0}")
}

/// Collapses each run of white space to one space.
pub(super) fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
