//! Finds duplicated code, in which a fix of one copy misses the other.

use std::collections::HashMap;

use super::sources::{Source, Tree};
use super::surface::{is_test, without_tests};

/// Number of consecutive lines that two places must share to count.
const SHARED_LINES: usize = 6;

/// Pairs of places, in two files or in one, that share six or more consecutive lines of code.
///
/// Lines are compared without their indentation. Blank lines, comments, imports and lines with only
/// punctuation are skipped. A run of shared lines counts once for each pair of places, however long
/// it is. Unit tests and integration tests are left out, because they repeat set-up on purpose.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Repeats {
    pairs: Vec<SharedRun>,
}

/// Two places with the same lines.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SharedRun {
    lines: usize,
    /// File and line of each place, where the run begins.
    places: [String; 2],
}

/// The lines of a file that count, each with its number.
struct CountedLines<'a> {
    path: &'a str,
    lines: Vec<&'a str>,
    numbers: Vec<usize>,
}

/// Measures every source of a program or library.
pub(super) fn measure(tree: &Tree) -> Repeats {
    let files: Vec<CountedLines<'_>> = tree
        .sources
        .iter()
        .filter(|source| source.path.contains("/src/") && !is_test(&source.path))
        .map(CountedLines::of)
        .collect();
    let mut windows: HashMap<&[&str], Vec<(usize, usize)>> = HashMap::new();
    for (file, counted) in files.iter().enumerate() {
        for (at, window) in counted.lines.windows(SHARED_LINES).enumerate() {
            windows.entry(window).or_default().push((file, at));
        }
    }
    let mut pairs = Vec::new();
    for places in windows.values() {
        for (index, &one) in places.iter().enumerate() {
            pairs.extend(places[index + 1..].iter().filter_map(|&other| run(&files, one, other)));
        }
    }
    pairs.sort_unstable_by(|one: &SharedRun, other| other.cmp(one));
    Repeats { pairs }
}

impl Repeats {
    /// Number of pairs of places.
    pub(super) fn count(&self) -> usize {
        self.pairs.len()
    }

    /// The places of each pair, one line per pair, longest runs first.
    pub(super) fn details(&self) -> impl Iterator<Item = String> {
        self.pairs.iter().map(|SharedRun { lines, places: [one, other] }| {
            format!("the same {lines} lines: {one} and {other}")
        })
    }
}

/// The run of shared lines that starts at two places; `None` if it starts before them, or if they
/// overlap.
fn run(
    files: &[CountedLines<'_>],
    one: (usize, usize),
    other: (usize, usize),
) -> Option<SharedRun> {
    let ((file, at), (other_file, other_at)) = (one, other);
    let (left, right) = (&files[file], &files[other_file]);
    let overlaps = file == other_file && other_at - at < SHARED_LINES;
    let begins_before = at > 0 && other_at > 0 && left.lines[at - 1] == right.lines[other_at - 1];
    if overlaps || begins_before {
        return None;
    }
    let both = left.lines[at..].iter().zip(&right.lines[other_at..]);
    Some(SharedRun {
        lines: both.take_while(|(one, other)| one == other).count(),
        places: [left.place(at), right.place(other_at)],
    })
}

impl<'a> CountedLines<'a> {
    fn of(source: &'a Source) -> Self {
        let mut counted = Self { path: &source.path, lines: Vec::new(), numbers: Vec::new() };
        let mut is_import = false;
        let end = without_tests(source).lines().count();
        for (index, line) in source.text.lines().take(end).enumerate() {
            let line = line.trim();
            is_import = is_import || begins_import(line);
            let is_code = !line.starts_with("//") && line.contains(char::is_alphanumeric);
            if is_code && !is_import {
                counted.lines.push(line);
                counted.numbers.push(index + 1);
            }
            is_import = is_import && !line.contains(';');
        }
        counted
    }

    fn place(&self, at: usize) -> String {
        format!("{}:{}", self.path, self.numbers[at])
    }
}

fn begins_import(line: &str) -> bool {
    let (before, _) = line.split_once("use ").unwrap_or(("none", ""));
    before.is_empty() || before == "pub " || before.starts_with("pub(") && before.ends_with(") ")
}

#[cfg(test)]
mod tests {
    use super::super::mask;
    use super::super::sources::{Source, Tree};
    use super::measure;

    const SHARED: &str = "let a = 1;\nlet b = 2;\nlet c = 3;\nlet d = 4;\nlet e = 5;\nlet f = 6;\n";

    /// The pairs of places in files with these paths and texts.
    fn places(files: &[(&str, &str)]) -> Vec<(usize, [String; 2])> {
        let source = |(path, text): &(&str, &str)| Source {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
            masked: mask::mask(text),
        };
        let sources = files.iter().map(source).collect();
        let repeats =
            measure(&Tree { root: std::path::PathBuf::new(), sources, texts: Vec::new() });
        repeats.pairs.into_iter().map(|run| (run.lines, run.places)).collect()
    }

    #[test]
    fn a_run_counts_once_for_each_pair_of_places() {
        let seven = format!("fn f() {{\n{SHARED}let g = 7;\n}}\n");
        let indented = seven.replace("let c", "\n    // Why.\n    }\n    let c");
        let files = [("a/src/lib.rs", &*seven), ("b/src/lib.rs", &*indented)];
        let begin = ["a/src/lib.rs:1", "b/src/lib.rs:1"].map(str::to_owned);
        assert_eq!(places(&files), [(8, begin)]);
        let twice = format!("{SHARED}other();\n{SHARED}");
        let pairs = places(&[("a/src/lib.rs", &twice), ("b/src/lib.rs", SHARED)]);
        assert_eq!(pairs.len(), 3, "{pairs:?}");
    }

    #[test]
    fn five_lines_imports_tests_and_a_run_beside_itself_do_not_count() {
        let five = SHARED.replace("let a = 1;\n", "");
        assert!(places(&[("a/src/lib.rs", SHARED), ("b/src/lib.rs", &five)]).is_empty());
        let imports = "use a::{\n    b,\n    c,\n    d,\n    e,\n    f,\n    g,\n    h,\n};\n";
        assert!(places(&[("a/src/lib.rs", imports), ("b/src/lib.rs", imports)]).is_empty());
        let tests = format!("#[cfg(test)]\nmod tests {{\n{SHARED}}}\n");
        assert!(places(&[("a/src/lib.rs", SHARED), ("b/src/lib.rs", &tests)]).is_empty());
        assert!(places(&[("a/src/lib.rs", SHARED), ("a/src/tests.rs", SHARED)]).is_empty());
        assert!(places(&[("a/src/lib.rs", SHARED), ("a/tests/it.rs", SHARED)]).is_empty());
        assert!(places(&[("a/src/lib.rs", &"again();\n".repeat(11))]).is_empty());
    }
}
