//! Interfaces between crates: the number of public items, how many of them no other crate names,
//! and how many type names have two meanings.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::{Source, Tree};

/// A definition at the start of a line of code.
#[derive(Debug, PartialEq, Eq)]
struct Definition<'a> {
    kind: &'a str,
    name: &'a str,
    /// Whether the definition is `pub` without a restriction.
    is_public: bool,
}

/// The public surface of the product's crates, without their tests.
#[derive(Default)]
pub(super) struct Surface {
    lines: usize,
    public: usize,
    /// `crate::name` of each public item that no other crate names.
    unused: Vec<String>,
    /// Items among these that no public signature of their crate mentions, so they could be
    /// private.
    needless: Vec<String>,
    types: usize,
    /// Names of types that are defined more than once, with the places of the definitions.
    shared: BTreeMap<String, Vec<String>>,
}

/// Kinds of items that can have a `pub`.
const KINDS: [&str; 9] =
    ["fn", "struct", "enum", "trait", "type", "const", "static", "mod", "union"];
const TYPES: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

/// Measures the surface of every crate under `crates/`.
pub(super) fn measure(tree: &Tree) -> Surface {
    let words = words_of_crates(tree);
    let signatures = signatures_of_crates(tree);
    let mut surface = Surface::default();
    for (owner, source) in product(tree) {
        let code = without_tests(source);
        surface.lines += lines_of_code(code);
        let mut modules = Modules::default();
        for line in code.lines() {
            let is_item = modules.is_item(line);
            let Some(definition) = definition(line) else {
                continue;
            };
            let used_elsewhere = || {
                let mut others = words.iter().filter(|(other, _)| **other != owner);
                others.any(|(_, words)| words.contains(definition.name))
            };
            if definition.is_public {
                surface.public += 1;
                if !used_elsewhere() {
                    let item = format!("{}: {}", source.path, definition.name);
                    if !signatures.get(owner).is_some_and(|words| words.contains(definition.name)) {
                        surface.needless.push(item.clone());
                    }
                    surface.unused.push(item);
                }
            }
            if is_item && TYPES.contains(&definition.kind) {
                surface.types += 1;
                let places = surface.shared.entry(definition.name.to_owned());
                places.or_default().push(source.path.clone());
            }
        }
    }
    surface.shared.retain(|_, places| places.len() > 1);
    surface
}

impl Surface {
    /// Public items per 1,000 lines of code.
    pub(super) fn public_per_1000_lines(&self) -> usize {
        (self.public * 1000).div_ceil(self.lines.max(1))
    }

    /// Percent of the public items that no other crate names.
    pub(super) fn unused_percent(&self) -> usize {
        (self.unused.len() * 100).div_ceil(self.public.max(1))
    }

    /// Number of items per 1,000 public ones that no other crate names and no public signature
    /// mentions. The others counted in [`unused_percent`](Self::unused_percent) belong to something
    /// that another crate names, such as the error of a function, so the compiler does not allow
    /// them to be private.
    pub(super) fn needless_per_1000(&self) -> usize {
        (self.needless.len() * 1000).div_ceil(self.public.max(1))
    }

    /// Percentage of types that share their name with another type.
    pub(super) fn shared_percent(&self) -> usize {
        let shared: usize = self.shared.values().map(Vec::len).sum();
        (shared * 100).div_ceil(self.types.max(1))
    }

    /// All details behind the figures, one per line.
    pub(super) fn details(&self) -> Vec<String> {
        let unused = self.unused.iter();
        let unused = unused.map(|item| format!("public, used in its crate only: {item}"));
        let needless = self.needless.iter();
        let needless = needless.map(|item| format!("public and could be private: {item}"));
        let shared = self.shared.iter();
        let shared = shared.map(|(name, places)| format!("{name}: {}", places.join(", ")));
        unused.chain(needless).chain(shared).collect()
    }
}

/// The sources of crates, each with the name of its crate, without test files.
pub(super) fn product(tree: &Tree) -> impl Iterator<Item = (&str, &Source)> {
    tree.sources.iter().filter_map(|source| {
        let (owner, file) = in_crate(&source.path)?;
        let file = file.strip_prefix("src/")?;
        (!is_test(file)).then_some((owner, source))
    })
}

/// The crate of a file, and the path within it: `crates/ROOM/CRATE/PATH`.
fn in_crate(path: &str) -> Option<(&str, &str)> {
    let (_room, path) = path.strip_prefix("crates/")?.split_once('/')?;
    path.split_once('/')
}

/// Whether a file contains only tests.
pub(super) fn is_test(path: &str) -> bool {
    path.ends_with("tests.rs") || path.contains("tests/")
}

/// The code before the unit tests at the end of a file.
pub(super) fn without_tests(source: &Source) -> &str {
    let end = source.masked.find("#[cfg(test)]\nmod tests {");
    &source.masked[..end.unwrap_or(source.masked.len())]
}

/// Number of lines that are not blank; comments in `masked` already are.
pub(super) fn lines_of_code(masked: &str) -> usize {
    masked.lines().filter(|line| !line.trim().is_empty()).count()
}

/// The words in the public signatures of each crate, and all words of its integration tests and
/// additional programs, which the compiler treats as separate crates.
fn signatures_of_crates(tree: &Tree) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut words: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (owner, source) in product(tree) {
        words.entry(owner).or_default().extend(signatures(without_tests(source)));
    }
    for source in &tree.sources {
        let Some((owner, file)) = in_crate(&source.path) else { continue };
        if file.starts_with("tests/") || file.starts_with("src/bin/") {
            words.entry(owner).or_default().extend(words_of(&source.masked));
        }
    }
    words
}

/// Words in the heads of public functions, in public fields, in the bodies of public enums and
/// traits, and in associated types, except for the name that a line defines.
fn signatures(code: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut body_indent = None;
    let mut is_open = false;
    for line in code.lines() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let own = definition(text);
        let begins = text.starts_with("pub ") || text.starts_with("type ");
        if is_open || begins || body_indent.is_some() {
            let own_name = own.as_ref().map(|own| own.name);
            found.extend(words_of(text).filter(|word| Some(*word) != own_name));
        }
        match own {
            Some(own) if own.is_public && own.kind == "fn" => is_open = true,
            Some(own) if own.is_public && ["enum", "trait"].contains(&own.kind) => {
                body_indent = text.ends_with('{').then_some(indent).or(body_indent);
            }
            _ => {}
        }
        is_open &= !text.contains(['{', ';']);
        body_indent = body_indent.filter(|begun| !(text == "}" && indent == *begun));
    }
    found
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}

/// Every word of every crate, including its tests and programs.
fn words_of_crates(tree: &Tree) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut words: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in &tree.sources {
        let first = source.path.split('/').next().unwrap_or(&source.path);
        let owner = in_crate(&source.path).map_or(first, |(owner, _)| owner);
        words.entry(owner).or_default().extend(words_of(&source.masked));
    }
    words
}

/// Tracks the inline modules around a line of a formatted file.
#[derive(Default)]
struct Modules {
    depth: usize,
}

impl Modules {
    const INDENT: usize = 4;

    /// Whether the next line of the file starts an item of a module. Deeper lines, such as the
    /// associated types of an `impl`, do not define separate types.
    fn is_item(&mut self, line: &str) -> bool {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        if code == "}" && indent + Self::INDENT == self.depth * Self::INDENT {
            self.depth -= 1;
        }
        let is_item = indent == self.depth * Self::INDENT;
        let is_module = definition(line).is_some_and(|found| found.kind == "mod");
        if is_item && is_module && code.ends_with('{') {
            self.depth += 1;
        }
        is_item
    }
}

fn definition(line: &str) -> Option<Definition<'_>> {
    let mut words = line.split_whitespace().peekable();
    let is_public = words.next_if_eq(&"pub").is_some();
    while words
        .next_if(|word| matches!(*word, "async" | "unsafe") || word.starts_with("pub("))
        .is_some()
    {}
    let mut kind = words.next()?;
    if kind == "const" && words.peek() == Some(&"fn") {
        kind = words.next()?;
    }
    let name = words.next()?;
    let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    let name = &name[..end.unwrap_or(name.len())];
    (KINDS.contains(&kind) && !name.is_empty() && name != "_").then_some(Definition {
        kind,
        name,
        is_public,
    })
}

#[cfg(test)]
mod tests {
    use super::super::mask;
    use super::super::sources::{Source, Tree};
    use super::measure;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned(), masked: mask::mask(text) }
    }

    #[test]
    fn a_public_item_counts_as_used_where_another_crate_names_it() {
        let tree = Tree {
            root: std::path::PathBuf::new(),
            sources: vec![
                source(
                    "crates/room/a/src/lib.rs",
                    "pub struct Page;\npub const fn seal() {}\npub(crate) fn inner() {}\n",
                ),
                source("crates/room/b/src/lib.rs", "struct Page;\nfn f() { a::seal() }\n"),
            ],
            texts: Vec::new(),
        };
        let surface = measure(&tree);
        assert_eq!(surface.public, 2);
        assert_eq!(surface.public_per_1000_lines(), 400);
        // `Page` of `b` is another type of the same name, which words cannot distinguish.
        assert!(surface.unused.is_empty());
        assert_eq!((surface.types, surface.shared_percent()), (2, 100));
    }

    #[test]
    fn a_type_counts_where_it_is_an_item_of_a_module() {
        let owner = "impl Future for Read {\n    type Output = u8;\n}\n\
                     mod inner {\n    pub(super) struct Page;\n    impl T for Page {\n        \
                     type Output = u8;\n    }\n}\nstruct Read;\n";
        let tree = Tree {
            root: std::path::PathBuf::new(),
            sources: vec![
                source("crates/room/a/src/lib.rs", owner),
                source("crates/room/b/src/lib.rs", "struct Page;\nstruct Last;\n"),
            ],
            texts: Vec::new(),
        };
        let surface = measure(&tree);
        assert_eq!((surface.types, surface.shared_percent()), (4, 50));
    }

    #[test]
    fn what_a_public_signature_holds_cannot_be_private() {
        let owner = "pub struct Held;\npub struct Alone;\npub enum Said {\n    Much(Deep),\n}\n\
                     pub struct Deep;\npub fn open(\n    at: u8,\n) -> Result<Held, Said> {\n    \
                     Alone.open()\n}\n";
        let tree = Tree {
            root: std::path::PathBuf::new(),
            sources: vec![
                source("crates/room/a/src/lib.rs", owner),
                source("crates/room/b/src/lib.rs", "fn f() { a::open() }\n"),
            ],
            texts: Vec::new(),
        };
        let surface = measure(&tree);
        assert_eq!(surface.unused.len(), 4);
        assert_eq!(surface.needless, ["crates/room/a/src/lib.rs: Alone"]);
    }

    #[test]
    fn names_in_comments_and_unit_tests_are_no_use() {
        let tree = Tree {
            root: std::path::PathBuf::new(),
            sources: vec![
                source(
                    "crates/room/a/src/lib.rs",
                    "pub fn seal() {}\n#[cfg(test)]\nmod tests {\n    pub fn help() {}\n}\n",
                ),
                source("crates/room/b/src/lib.rs", "// seal\n"),
            ],
            texts: Vec::new(),
        };
        let surface = measure(&tree);
        assert_eq!((surface.public, surface.unused_percent()), (1, 100));
    }
}
