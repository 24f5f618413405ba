//! Pages that a database refers to but its file lacks: a truncated file lacks many in a row, so
//! they are named as ranges, once for all objects with the same consequence.

use std::collections::{BTreeMap, BTreeSet};

use units::PageNumber;

/// Ranges that one sentence names.
const MOST_RANGES: usize = 8;

/// The affected object, the consequence, and the missing pages.
#[derive(Default)]
pub(super) struct BeyondFile {
    pages: BTreeMap<(String, String), BTreeSet<PageNumber>>,
}

impl BeyondFile {
    /// Records that `whose` lacks `page`, with this consequence.
    pub(super) fn note(&mut self, whose: &str, consequence: &str, page: PageNumber) {
        let key = (whose.to_owned(), consequence.to_owned());
        self.pages.entry(key).or_default().insert(page);
    }

    /// Takes one sentence for all pages with the same affected object and consequence; each is
    /// returned once.
    pub(super) fn take_sentences(&mut self) -> Vec<String> {
        let pages = std::mem::take(&mut self.pages);
        let mut sentences = Vec::new();
        for ((whose, consequence), pages) in pages {
            let lie = lie(&pages);
            sentences.push(format!("{whose}: {lie} past the end of the file; {consequence}"));
        }
        sentences
    }
}

/// The pages as ranges, followed by the verb `is` or `are`.
fn lie(pages: &BTreeSet<PageNumber>) -> String {
    let ranges = ranges(pages);
    let (named, rest) = ranges.split_at(ranges.len().min(MOST_RANGES));
    let named = named.iter().copied().map(range_name).collect::<Vec<String>>().join(", ");
    let rest: u32 = rest.iter().map(|(first, last)| last.0 - first.0 + 1).sum();
    match (pages.len(), rest) {
        (1, _) => format!("page {named} is"),
        (_, 0) => format!("pages {named} are"),
        (_, rest) => format!("pages {named} and {rest} more are"),
    }
}

fn range_name((first, last): (PageNumber, PageNumber)) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// First and last page of every contiguous range.
fn ranges(pages: &BTreeSet<PageNumber>) -> Vec<(PageNumber, PageNumber)> {
    let mut ranges: Vec<(PageNumber, PageNumber)> = Vec::new();
    for &page in pages {
        match ranges.last_mut() {
            Some((_, last)) if last.0.checked_add(1) == Some(page.0) => *last = page,
            _ => ranges.push((page, page)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use units::PageNumber;

    use super::{BeyondFile, MOST_RANGES};

    #[test]
    fn pages_in_a_row_are_one_range() {
        let mut beyond = BeyondFile::default();
        for page in [9, 343, 344, 345, 7, 12] {
            beyond.note("Messages", "rows are skipped", PageNumber(page));
        }
        beyond.note("Index", "rows are skipped", PageNumber(9));
        assert_eq!(
            beyond.take_sentences(),
            [
                "Index: page 9 is past the end of the file; rows are skipped",
                "Messages: pages 7, 9, 12, 343-345 are past the end of the file; rows are \
                 skipped",
            ]
        );
        assert!(beyond.take_sentences().is_empty());
        let odd = (0..MOST_RANGES + 3).map(|number| u32::try_from(number).unwrap() * 2 + 1);
        odd.for_each(|page| beyond.note("T", "skipped", PageNumber(page)));
        let [sentence] = &*beyond.take_sentences() else { panic!("one sentence") };
        assert!(sentence.contains("15 and 3 more are past"), "{sentence}");
    }
}
