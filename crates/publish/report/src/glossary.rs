//! Meanings of the numbers: the entries of `docs/glossary.md`, so that a reader of the page sees
//! the same text as the document in the repository.

use std::sync::LazyLock;

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GlossaryEntry {
    /// Name for links.
    pub(crate) id: &'static str,
    /// Name for people.
    pub(crate) title: &'static str,
    /// Unit of the number.
    pub(crate) unit: &'static str,
    /// How the number is measured or computed.
    pub(crate) source: &'static str,
    /// The definition, in paragraphs of plain text.
    pub(crate) text: &'static str,
}

static TEXT: &str = include_str!("../glossary.md");

static ENTRIES: LazyLock<Vec<GlossaryEntry>> = LazyLock::new(|| parse(TEXT));

/// Every entry, in the order of the document.
pub(crate) fn entries() -> &'static [GlossaryEntry] {
    &ENTRIES
}

/// The entries of a document: a heading of level three, the line with link, unit and source, and
/// the text up to the next heading. An entry without that line is left out.
fn parse(text: &'static str) -> Vec<GlossaryEntry> {
    text.split("\n### ").skip(1).filter_map(parse_entry).collect()
}

fn parse_entry(text: &'static str) -> Option<GlossaryEntry> {
    let (title, rest) = text.split_once('\n')?;
    let (facts, rest) = rest.split_once('\n')?;
    let mut facts = facts.split(" | ");
    let id = facts.next()?.trim_matches('`');
    let (unit, source) = (facts.next()?, facts.next()?);
    let end = rest.find("\n## ").unwrap_or(rest.len());
    Some(GlossaryEntry { id, title, unit, source, text: rest[..end].trim() })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{TEXT, entries};

    #[test]
    fn every_entry_is_whole_and_named_once() {
        assert_eq!(entries().len(), TEXT.matches("\n### ").count());
        let ids: BTreeSet<_> = entries().iter().map(|entry| entry.id).collect();
        assert_eq!(ids.len(), entries().len());
        for entry in entries() {
            let texts = [entry.id, entry.title, entry.unit, entry.source, entry.text];
            assert!(texts.iter().all(|text| !text.is_empty()), "{entry:?}");
            assert!(!entry.text.contains('#'), "{entry:?}");
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(entry.id.chars().all(plain), "{entry:?}");
        }
    }
}
