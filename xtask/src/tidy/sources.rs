//! The files that the rules inspect.

use std::path::{Path, PathBuf};

use super::mask;
use xtask::failure::Failure;
use xtask::shell;

/// A Rust source file.
pub(super) struct Source {
    /// Path from the root.
    pub path: String,
    /// The file's text.
    pub text: String,
    /// The text with comments, strings and characters blanked; each line keeps its length.
    pub masked: String,
}

/// All files that git tracks, and untracked ones that it does not ignore.
pub(super) struct Tree {
    /// The root of the repository.
    pub root: PathBuf,
    /// Rust sources of the workspace and of the benches and fuzz targets beside it.
    pub sources: Vec<Source>,
    /// Every other text file: path from the root, text.
    pub texts: Vec<(String, String)>,
}

impl Tree {
    /// Reads the tree as git sees it.
    pub(super) fn load(root: &Path) -> Result<Self, Failure> {
        let listing =
            shell::capture(&["git", "ls-files", "--cached", "--others", "--exclude-standard"])?;
        let mut tree = Self { root: root.to_path_buf(), sources: Vec::new(), texts: Vec::new() };
        for path in listing.lines() {
            let Ok(text) = std::fs::read_to_string(root.join(path)) else {
                continue; // Deleted, or not text.
            };
            if Path::new(path).extension().is_some_and(|extension| extension == "rs") {
                let masked = mask::mask(&text);
                let path = path.to_string();
                tree.sources.push(Source { path, text, masked });
            } else {
                tree.texts.push((path.to_string(), text));
            }
        }
        Ok(tree)
    }

    /// The text of a file that is not Rust.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        let (_, text) = self.texts.iter().find(|(found, _)| found == path)?;
        Some(text)
    }
}

/// Complains of files that no `mod` line reaches: they are never compiled and rot unnoticed.
pub(super) fn dead_files(tree: &Tree) -> Vec<String> {
    let reached = |source: &&Source| {
        let Some(parents) = parents(&source.path) else {
            return true;
        };
        let path = Path::new(&source.path);
        let stem = match path.file_stem().and_then(|stem| stem.to_str()) {
            Some("mod") => path.parent().and_then(Path::file_name).and_then(|name| name.to_str()),
            stem => stem,
        };
        let Some(stem) = stem else { return true };
        let declaration = format!("mod {stem};");
        tree.sources
            .iter()
            .any(|other| parents.contains(&other.path) && other.masked.contains(&declaration))
    };
    tree.sources
        .iter()
        .filter(|source| !reached(source))
        .map(|source| format!("{}: no `mod` line reaches it; add one or remove it", source.path))
        .collect()
}

/// Files that may declare the module in this file; `None` for the root of a target.
fn parents(path: &str) -> Option<Vec<String>> {
    let (folder, file) = path.rsplit_once('/')?;
    let is_root = matches!(file, "main.rs" | "lib.rs" | "build.rs")
        || ["/tests", "/benches", "/examples", "/bin", "/fuzz_targets"]
            .iter()
            .any(|kind| folder.ends_with(kind));
    if is_root {
        return None;
    }
    let folder = match file {
        "mod.rs" => folder.rsplit_once('/')?.0,
        _ => folder,
    };
    let mut parents = vec![format!("{folder}.rs")];
    for name in ["mod.rs", "lib.rs", "main.rs"] {
        parents.push(format!("{folder}/{name}"));
    }
    if folder.ends_with("/tests") {
        return None; // Shared by the test programs of that folder, each of which declares it.
    }
    Some(parents)
}

#[cfg(test)]
mod tests {
    use super::{Source, Tree, dead_files};

    fn tree(files: &[(&str, &str)]) -> Tree {
        let source = |(path, text): &(&str, &str)| Source {
            path: (*path).to_string(),
            text: (*text).to_string(),
            masked: super::mask::mask(text),
        };
        Tree {
            root: std::path::PathBuf::new(),
            sources: files.iter().map(source).collect(),
            texts: Vec::new(),
        }
    }

    #[test]
    fn a_file_is_alive_when_its_parent_declares_it() {
        let alive = tree(&[
            ("crates/room/a/src/lib.rs", "mod page;\nmod tree;\n"),
            ("crates/room/a/src/page.rs", "mod tests;"),
            ("crates/room/a/src/page/tests.rs", ""),
            ("crates/room/a/src/tree/mod.rs", ""),
        ]);
        assert!(dead_files(&alive).is_empty());
        let dead = tree(&[
            ("crates/room/a/src/lib.rs", "// mod page;\n"),
            ("crates/room/a/src/page.rs", ""),
        ]);
        assert_eq!(dead_files(&dead).len(), 1);
    }
}
