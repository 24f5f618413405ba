//! Rules about the text of files.

use super::sources::{Source, Tree};

/// Maximum columns of a line.
const COLUMNS: usize = 100;

/// Words that mark unfinished work, spelled in halves so that this file passes.
const UNFINISHED: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("HA", "CK"),
    concat!("unimpl", "emented!"),
    concat!("to", "do!"),
];

/// Addresses that do not belong in the repository: hosts of package registries, and folders of one
/// machine.
const ADDRESSES: &[&str] = &[
    concat!("pypi", ".org"),
    concat!("npmjs", ".org"),
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
];

/// Applies `judge` to every line of every source.
fn lines(tree: &Tree, judge: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut found = Vec::new();
    for source in &tree.sources {
        for (at, line) in source.text.lines().enumerate() {
            let complaint = judge(line);
            found.extend(complaint.map(|text| format!("{}:{}: {text}", source.path, at + 1)));
        }
    }
    found
}

/// Complains of modules that do not begin with a line on why they exist. Tests in a file next to
/// their module need none.
pub(super) fn module_lines(tree: &Tree) -> Vec<String> {
    let silent =
        |source: &&Source| !source.text.starts_with("//! ") && !source.path.ends_with("/tests.rs");
    tree.sources
        .iter()
        .filter(silent)
        .map(|source| format!("{}:1: begin with a `//!` line: why is this here?", source.path))
        .collect()
}

/// Complains of lines that are wider than the limit.
pub(super) fn columns(tree: &Tree) -> Vec<String> {
    lines(tree, |line| {
        let width = line.chars().count();
        (width > COLUMNS).then(|| format!("{width} columns, the limit is {COLUMNS}"))
    })
}

/// Complains of characters other than ASCII, so that code contains only the characters that one
/// sees.
pub(super) fn ascii(tree: &Tree) -> Vec<String> {
    lines(tree, |line| {
        let odd = line.chars().find(|character| !character.is_ascii())?;
        Some(format!("{:?} is not ASCII; write \\u{{{:x}}} in a string", odd, u32::from(odd)))
    })
}

/// Complains of words that mark unfinished work.
pub(super) fn unfinished_words(tree: &Tree) -> Vec<String> {
    lines(tree, |line| {
        let word = UNFINISHED.iter().find(|word| line.contains(**word))?;
        Some(format!("`{word}`: finish it, or open an issue"))
    })
}

/// Complains of files that name the host of a package registry, or a folder of the machine on which
/// they were written.
pub(super) fn addresses(tree: &Tree) -> Vec<String> {
    let sources = tree.sources.iter().map(|source| (&source.path, &source.text));
    let texts = tree.texts.iter().map(|(path, text)| (path, text));
    let mut found = Vec::new();
    for (path, text) in sources.chain(texts) {
        for (at, line) in text.lines().enumerate() {
            let address = ADDRESSES.iter().find(|address| line.contains(**address));
            found.extend(address.map(|address| {
                format!("{path}:{}: names `{address}`, which is not everybody's", at + 1)
            }));
        }
    }
    found
}
