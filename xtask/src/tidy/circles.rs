//! Import cycles: sets of files in one crate that import from each other, so that none can be read
//! before the others.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::{Import, imports};
use super::sources::{Source, Tree};
use super::surface::{product, without_tests};

/// Path of a module or item, from the root of its crate.
type ItemPath<'a> = Vec<&'a str>;
/// For each file of a crate, the files that it imports from.
type Needs<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Maximum depth of re-exports to follow; real items have fewer.
const MOST_RE_EXPORTS: usize = 8;

/// Files that import from each other by `use crate::` or `use super::`, directly or indirectly. An
/// import from a module's own children by their bare names does not count, nor does re-exporting
/// their items.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Circles {
    circles: Vec<Vec<String>>,
}

/// Measures the crates without their tests and without programs under `bin`.
pub(super) fn measure(tree: &Tree) -> Circles {
    let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for (owner, source) in product(tree).filter(|(_, source)| !source.path.contains("/src/bin/")) {
        crates.entry(owner).or_default().push(source);
    }
    Circles { circles: crates.values().flat_map(|sources| circles(&needs(sources))).collect() }
}

impl Circles {
    /// Number of cycles; cycles that share a file count as one.
    pub(super) fn count(&self) -> usize {
        self.circles.len()
    }

    /// The files of each cycle, one line per cycle.
    pub(super) fn details(&self) -> impl Iterator<Item = String> {
        self.circles.iter().map(|files| format!("import each other: {}", files.join(", ")))
    }
}

/// The sets of files that reach each other.
fn circles(needs: &Needs<'_>) -> Vec<Vec<String>> {
    let reached: Needs<'_> = needs.keys().map(|&file| (file, reachable(needs, file))).collect();
    let mut found: BTreeSet<Vec<String>> = BTreeSet::new();
    for (file, others) in reached.iter().filter(|(file, others)| others.contains(*file)) {
        let both_ways = others.iter().filter(|other| reached[*other].contains(file));
        found.insert(both_ways.map(|&other| other.to_owned()).collect());
    }
    found.into_iter().collect()
}

/// Every file from which `file` imports, directly or indirectly.
fn reachable<'a>(needs: &Needs<'a>, file: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<&str> = needs[file].iter().copied().collect();
    while let Some(next) = waiting.pop() {
        if reached.insert(next) {
            waiting.extend(&needs[next]);
        }
    }
    reached
}

fn needs<'a>(sources: &[&'a Source]) -> Needs<'a> {
    let places = ItemPlaces::of(sources);
    let mut needs = Needs::new();
    for source in sources {
        let needed = needs.entry(source.path.as_str()).or_default();
        let here = module(&source.path);
        for import in imports(without_tests(source)) {
            let Some(path) = absolute(&here, &import) else {
                continue;
            };
            let is_own = import.is_public && path.starts_with(&here);
            needed.extend(places.file(path).filter(|file| *file != source.path && !is_own));
        }
    }
    needs
}

/// The locations of a crate's modules, and their re-exports.
struct ItemPlaces<'a> {
    files: BTreeMap<ItemPath<'a>, &'a str>,
    /// Path of each re-exported item, by the path under which it is re-exported.
    re_exports: BTreeMap<ItemPath<'a>, ItemPath<'a>>,
}

impl<'a> ItemPlaces<'a> {
    fn of(sources: &[&'a Source]) -> Self {
        let files = sources.iter().map(|source| (module(&source.path), source.path.as_str()));
        let mut places = Self { files: files.collect(), re_exports: BTreeMap::new() };
        for source in sources {
            let here = module(&source.path);
            let imports = imports(without_tests(source)).into_iter();
            for import in imports.filter(|import| import.is_public) {
                let outside = [here.as_slice(), &[import.name]].concat();
                let item = absolute(&here, &import).or_else(|| places.of_child(&here, &import));
                let item = item.filter(|item| *item != outside);
                places.re_exports.extend(item.map(|item| (outside, item)));
            }
        }
        places
    }

    /// The item that a module imports from a child by the child's bare name.
    fn of_child(&self, here: &[&'a str], import: &Import<'a>) -> Option<ItemPath<'a>> {
        let path = [here, &import.path].concat();
        self.files.contains_key(&path[..=here.len()]).then_some(path)
    }

    /// The file of a module or item after following re-exports: the file of the longest module in
    /// its path.
    fn file(&self, mut path: ItemPath<'a>) -> Option<&'a str> {
        for _ in 0..MOST_RE_EXPORTS {
            let inside = (1..=path.len()).rev().find_map(|length| {
                let item = self.re_exports.get(&path[..length])?;
                Some([item.as_slice(), &path[length..]].concat())
            });
            path = inside.unwrap_or(path);
        }
        (0..=path.len()).rev().find_map(|length| self.files.get(&path[..length]).copied())
    }
}

/// The path of a file's module: `a`, `b` for `crates/room/c/src/a/b.rs`.
fn module(path: &str) -> ItemPath<'_> {
    let file = path.split_once("/src/").map_or(path, |(_, file)| file);
    let mut names: Vec<&str> = file.trim_end_matches(".rs").split('/').collect();
    if matches!(names.last(), Some(&("mod" | "lib" | "main"))) {
        names.pop();
    }
    names
}

/// The imported path from the crate root; `None` if it starts with neither `crate` nor `super`.
fn absolute<'a>(here: &[&'a str], import: &Import<'a>) -> Option<ItemPath<'a>> {
    let path = &import.path;
    let above = path.iter().take_while(|name| **name == "super").count();
    match path.first() {
        Some(&"crate") => Some(path[1..].to_vec()),
        Some(&"super") => {
            let base = &here[..here.len().saturating_sub(above)];
            Some([base, &path[above..]].concat())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::mask;
    use super::super::sources::{Source, Tree};
    use super::measure;

    fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let source = |(path, text): &(&str, &str)| Source {
            path: format!("crates/room/a/src/{path}"),
            text: (*text).to_owned(),
            masked: mask::mask(text),
        };
        let sources = files.iter().map(source).collect();
        measure(&Tree { root: std::path::PathBuf::new(), sources, texts: Vec::new() }).circles
    }

    #[test]
    fn files_that_import_from_each_other_by_way_of_others_are_one_circle() {
        let three = [
            ("lib.rs", "mod page;\nmod tree;\nmod log;\n"),
            ("page/mod.rs", "use crate::{\n    log::Log,\n    tree::{Node, Root},\n};\n"),
            ("tree.rs", "use super::log::Log;\n"),
            ("log.rs", "    pub(crate) use crate::page::reader::Page;\n"),
        ];
        let [log, page, tree] =
            ["log.rs", "page/mod.rs", "tree.rs"].map(|file| format!("crates/room/a/src/{file}"));
        assert_eq!(circles(&three), [vec![log, page, tree]]);
        assert!(circles(&three[..3]).is_empty());
    }

    #[test]
    fn a_re_export_is_followed_to_where_the_item_is() {
        let files = [
            ("lib.rs", "pub use page::Page as Leaf;\npub(crate) use tree::node::Node;\n"),
            ("page.rs", "use crate::Node;\npub(crate) struct Page;\n"),
            ("tree.rs", "pub(crate) mod node;\n"),
            ("tree/node.rs", "use crate::Leaf;\n"),
        ];
        let circle =
            ["crates/room/a/src/page.rs", "crates/room/a/src/tree/node.rs"].map(str::to_owned);
        assert_eq!(circles(&files), [circle.to_vec()]);
    }

    #[test]
    fn own_children_comments_and_tests_make_no_circle() {
        let parent_and_child = [
            ("page.rs", "mod reader;\npub use reader::Page;\npub use crate::page::reader::Part;\n"),
            ("page/reader.rs", "use super::Number;\n"),
        ];
        assert!(circles(&parent_and_child).is_empty());
        let told = [
            (
                "page.rs",
                "// use crate::tree::A;\n#[cfg(test)]\nmod tests {\n    use crate::tree::A;\n}\n",
            ),
            ("tree.rs", "use crate::page::Page;\n"),
            ("tree/tests.rs", "use crate::tree::Node;\n"),
        ];
        assert!(circles(&told).is_empty());
        let spelled_out = [
            ("page.rs", "use crate::page::reader::Page;\n"),
            ("page/reader.rs", "use super::Number;\n"),
        ];
        assert_eq!(circles(&spelled_out).len(), 1);
    }
}
