//! Writing habits that make readers look twice: closures named before their only use, iterators
//! bound only to be collected, and parts of the program described as people.

use super::sources::Tree;
use super::surface::{lines_of_code, product, without_tests};

/// Occurrences of each habit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Habits {
    lines: usize,
    /// File and line of each closure that is bound to a name.
    named_closures: Vec<String>,
    /// File and line of each iterator that is bound to a name and collected next.
    bound_to_collect: Vec<String>,
    /// File and line of `whoever`, `nobody` and `somebody` in sources and documents.
    people: Vec<String>,
}

const PEOPLE: [&str; 3] = ["whoever", "nobody", "somebody"];

/// Searches the crates without their tests; for the words, searches every text.
pub(super) fn measure(tree: &Tree) -> Habits {
    let mut habits = Habits {
        lines: 0,
        named_closures: Vec::new(),
        bound_to_collect: Vec::new(),
        people: Vec::new(),
    };
    for (_, source) in product(tree) {
        let code = without_tests(source);
        habits.lines += lines_of_code(code);
        let numbered = code.lines().enumerate().filter(|(_, line)| names_a_closure(line));
        habits.named_closures.extend(numbered.map(|(at, _)| format!("{}:{}", source.path, at + 1)));
        for at in bound_to_collect(code) {
            let line = code[..at].matches('\n').count() + 1;
            habits.bound_to_collect.push(format!("{}:{line}", source.path));
        }
    }
    let sources = tree.sources.iter().map(|one| (&one.path, &one.text));
    let sources = sources.filter(|(path, _)| !path.starts_with("xtask/src/tidy"));
    let documents = tree.texts.iter().map(|(path, text)| (path, text));
    let documents = documents.filter(|(path, _)| path.rsplit('.').next() == Some("md"));
    for (path, text) in sources.chain(documents) {
        habits.people.extend(people(path, text));
    }
    habits
}

impl Habits {
    /// Closures bound to a name, per 10,000 lines of code.
    pub(super) fn named_closures_per_10000_lines(&self) -> usize {
        (self.named_closures.len() * 10_000).div_ceil(self.lines.max(1))
    }

    /// Iterators bound to a name and collected by the next statement, per 10,000 lines of code.
    pub(super) fn bound_to_collect_per_10000_lines(&self) -> usize {
        (self.bound_to_collect.len() * 10_000).div_ceil(self.lines.max(1))
    }

    /// Places that describe parts of the program as people.
    pub(super) fn people(&self) -> &[String] {
        &self.people
    }

    /// The places behind the figures, one per line.
    pub(super) fn details(&self) -> Vec<String> {
        let mut details = Vec::new();
        for (habit, places) in [
            ("closure bound to a name", &self.named_closures),
            ("bound to a name and collected next", &self.bound_to_collect),
            ("whoever, nobody or somebody", &self.people),
        ] {
            details.extend(places.iter().map(|place| format!("{habit}: {place}")));
        }
        details
    }
}

/// Whether a line begins a `let name = |...|`.
fn names_a_closure(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix("let ") else {
        return false;
    };
    let Some((_, value)) = rest.split_once(" = ") else {
        return false;
    };
    value.trim_start_matches("async ").trim_start_matches("move ").starts_with('|')
}

/// Offsets of each `let name = ...;` whose next statement is a chain on `name` that ends in a
/// collection.
fn bound_to_collect(code: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("let ") {
        let Some(end) = statement_end(&code[at..]) else {
            continue;
        };
        let name = code[at + 4..].trim_start_matches("mut ");
        let length = name.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let name = &name[..length.unwrap_or(0)];
        let next = &code[at + end + 1..];
        let next = &next[..statement_end(next).unwrap_or(next.len())];
        let value = next.split_once(" = ").map_or(next, |(_, value)| value);
        let rest = value.trim_start().strip_prefix(name);
        let is_chain = rest.is_some_and(|rest| rest.trim_start().starts_with('.'));
        if !name.is_empty() && is_chain && next.contains(".collect") {
            found.push(at);
        }
    }
    found
}

/// The end of the statement at the start of `code`: its semicolon, or the end of its block.
fn statement_end(code: &str) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, character) in code.char_indices() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth < 0 || (depth == 0 && character == ';') {
            return Some(at);
        }
    }
    None
}

fn people(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().enumerate();
    let told = lines.filter(|(_, line)| {
        let line = line.to_lowercase();
        let mut words = line.split(|c: char| !c.is_alphanumeric());
        words.any(|word| PEOPLE.contains(&word))
    });
    told.map(|(at, _)| format!("{path}:{}", at + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::{bound_to_collect, names_a_closure, people};

    #[test]
    fn a_closure_counts_where_it_gets_a_name() {
        assert!(names_a_closure("    let tell = |x: u32| x + 1;"));
        assert!(names_a_closure("let tell = move || {"));
        assert!(!names_a_closure("let all = list.map(|x| x);"));
        assert!(!names_a_closure("let mask = a | b;"));
    }

    #[test]
    fn an_iterator_counts_where_the_next_statement_collects_it() {
        let bound =
            "let live = all.iter().filter(is_live);\n    let live: Vec<_> = live.collect();";
        assert_eq!(bound_to_collect(bound), [0]);
        assert_eq!(bound_to_collect("{\nlet words = text.split(' ');\nwords.collect()\n}"), [2]);
        let counted = "let n = all.iter().count();\nother.collect()";
        assert!(bound_to_collect(counted).is_empty());
    }

    #[test]
    fn words_count_whole_and_in_any_case() {
        assert_eq!(people("a.md", "Nobody waits.\nbusybody\nfor whoever"), ["a.md:1", "a.md:3"]);
    }
}
