//! Turns of phrase that make prose read as translated. They are counted in comments and Markdown,
//! because readers who stumble over a sentence stop trusting what it says.

use super::mask;
use super::sources::Tree;

/// A turn of phrase: for each word in it, the forms that count.
type Turn = &'static [&'static [&'static str]];

/// Turns are matched in any case, except for `Where`, which must be capitalised as at the start of
/// a sentence.
const TURNS: &[Turn] = &[
    &[&["what"], &["is", "was", "comes", "others"]],
    &[&["stands"]],
    &[&["told", "tells"]],
    &[&["Where"], &["a", "an", "the", "it", "there", "no"]],
    &[&["goes"], &["on"]],
    &[&["so"], &["many"]],
    &[&["of"], &["its"], &["own"]],
    &[&["as"], &["it"], &["is", "was", "goes", "ends"]],
    &[&["is"], &["to"], &["be", "end"]],
    &[&["comes"], &["to"]],
    &[&["that"], &["is"], &["there"]],
    &[&["mend", "mends", "mended", "mending"]],
];

/// The turns of a tree.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Turns {
    /// Lines of comments and of Markdown.
    lines: usize,
    /// File, line and words of each turn.
    places: Vec<String>,
}

/// Searches the comments of every source, and every Markdown file. This folder is left out, because
/// it must contain the turns.
pub(super) fn measure(tree: &Tree) -> Turns {
    let mut turns = Turns::default();
    for source in tree.sources.iter().filter(|one| !one.path.starts_with("xtask/src/tidy")) {
        turns.search(&source.path, &mask::comments(&source.text), false);
    }
    for (path, text) in &tree.texts {
        if path.rsplit('.').next() == Some("md") {
            turns.search(path, text, true);
        }
    }
    turns
}

impl Turns {
    pub(super) fn per_10000_lines(&self) -> usize {
        (self.places.len() * 10_000).div_ceil(self.lines.max(1))
    }

    /// The places, one per line.
    pub(super) fn details(&self) -> Vec<String> {
        self.places.iter().map(|place| format!("translated turn: {place}")).collect()
    }

    fn search(&mut self, path: &str, text: &str, blank_lines_count: bool) {
        let prose = text.lines().filter(|line| blank_lines_count || !line.trim().is_empty());
        self.lines += prose.count();
        let words = words(text);
        for at in 0..words.len() {
            let length = TURNS.iter().find_map(|turn| matches(&words[at..], turn));
            if let Some(length) = length {
                let found: Vec<_> = words[at..at + length].iter().map(|word| word.text).collect();
                self.places.push(format!("{path}:{}: {}", words[at].line, found.join(" ")));
            }
        }
    }
}

/// A word, and whether only white space and comment markers separate it from the one before.
struct Word<'a> {
    text: &'a str,
    line: usize,
    follows: bool,
}

fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut follows = false;
    for (at, line) in text.lines().enumerate() {
        let prose = line.trim_start().trim_start_matches(['/', '!']);
        follows &= !prose.trim().is_empty();
        for piece in prose.split_inclusive(|c: char| !c.is_alphanumeric()) {
            let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
            if !word.is_empty() {
                words.push(Word { text: word, line: at + 1, follows });
                follows = true;
            }
            follows &= piece[word.len()..].chars().all(char::is_whitespace);
        }
    }
    words
}

/// Length of `turn` in words, if `words` begins with it.
fn matches(words: &[Word<'_>], turn: Turn) -> Option<usize> {
    let found = words.get(..turn.len())?;
    let is_whole = found.iter().skip(1).all(|word| word.follows);
    let is_turn = found.iter().zip(turn).all(|(word, forms)| {
        forms.contains(&word.text) || forms.contains(&word.text.to_lowercase().as_str())
    });
    (is_whole && is_turn).then_some(turn.len())
}

#[cfg(test)]
mod tests {
    use super::Turns;
    use crate::tidy::mask;

    fn turns(text: &str) -> Turns {
        let mut turns = Turns::default();
        turns.search("a.md", text, true);
        turns
    }

    #[test]
    fn a_turn_counts_in_any_case_and_across_a_line_break() {
        let found = turns("What is left.\nHeld at so\nmany reads; it stands.").places;
        assert_eq!(found, ["a.md:1: What is", "a.md:2: so many", "a.md:3: stands"]);
    }

    #[test]
    fn where_counts_only_at_the_start_of_a_sentence() {
        assert_eq!(turns("Where the file ends. Known where the file ends.").places.len(), 1);
    }

    #[test]
    fn punctuation_and_blank_lines_end_a_turn() {
        assert!(
            turns("so, many; it goes. On\n\nof its\n\nown, standstill, mendacious")
                .places
                .is_empty()
        );
    }

    #[test]
    fn only_comments_of_a_source_count() {
        let source = "/// So\n/// many.\nlet tells = \"what is\"; // told\n";
        let found = turns(&mask::comments(source)).places;
        assert_eq!(found, ["a.md:1: So many", "a.md:3: told"]);
    }

    #[test]
    fn the_figure_is_per_lines_of_prose() {
        assert_eq!(turns("stands\n\n\n\n").per_10000_lines(), 2_500);
    }
}
