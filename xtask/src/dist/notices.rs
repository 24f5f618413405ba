//! The licences of everything that the programs contain, in one file: each text once, with the
//! components that it covers.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};

use xtask::failure::Failure;
use xtask::shell;

/// Runtimes that compilers add to a program, and the files in which Debian's packages state their
/// terms.
const RUNTIMES: [(&str, &str); 3] = [
    ("mingw-w64 runtime (Windows)", "/usr/share/doc/mingw-w64-x86-64-dev/copyright"),
    ("GCC runtime (Windows)", "/usr/share/doc/gcc-mingw-w64-base/copyright"),
    ("musl (Linux)", "/usr/share/doc/musl-dev/copyright"),
];

const RULE: &str =
    "================================================================================";

/// The texts of all crates in the programs for `targets`, and of the compilers' runtimes.
pub(super) fn of(targets: &[&str]) -> Result<String, Failure> {
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for target in targets {
        for package in linked(target)? {
            let whose = format!("{} {} ({})", package.name, package.version, terms(&package));
            for text in texts_of(&package)? {
                texts.entry(text).or_default().insert(whose.clone());
            }
        }
    }
    for (name, file) in RUNTIMES {
        if let Ok(text) = fs::read_to_string(file) {
            texts.entry(text).or_default().insert(name.to_owned());
        }
    }
    texts.entry(of_the_standard_library()?).or_default().insert("Rust standard library".to_owned());
    Ok(joined(&texts))
}

/// The toolchain's notices for its library, without HTML tags.
fn of_the_standard_library() -> Result<String, Failure> {
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let root = shell::capture(&[&compiler, "--print", "sysroot"])?;
    let file = Path::new(root.trim()).join("share/doc/rust/COPYRIGHT-library.html");
    let page = fs::read_to_string(&file)
        .map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
    Ok(without_tags(&page))
}

fn without_tags(page: &str) -> String {
    let between = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    let text = between.collect::<String>();
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&#39;", "'").replace("&amp;", "&")
}

fn terms(package: &Package) -> &str {
    package.license.as_deref().unwrap_or("see below")
}

/// All crates that are linked into the program for `target`, including our own.
pub(super) fn linked(target: &str) -> Result<Vec<Package>, Failure> {
    let options = ["--filter-platform", target].map(str::to_owned);
    let metadata = MetadataCommand::new()
        .current_dir(shell::root())
        .other_options(options)
        .exec()
        .map_err(|error| Failure::new(format!("cargo metadata: {error}")))?;
    let ids = reached(&metadata);
    let is_foreign = |package: &Package| package.source.is_some() || package.name == "plimsoll";
    Ok(metadata
        .packages
        .into_iter()
        .filter(|package| ids.contains(&package.id) && is_foreign(package))
        .collect())
}

/// Runtime dependencies of the program, direct and indirect.
fn reached(metadata: &Metadata) -> BTreeSet<PackageId> {
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let edges: BTreeMap<_, _> = nodes.map(|node| (&node.id, &node.deps)).collect();
    let program = metadata.packages.iter().find(|package| package.name == "plimsoll");
    let mut waiting: Vec<&PackageId> = program.map(|package| &package.id).into_iter().collect();
    let mut ids = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if ids.insert(id.clone()) {
            let normal = edges.get(id).into_iter().flat_map(|deps| deps.iter()).filter(|edge| {
                edge.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal)
            });
            waiting.extend(normal.map(|edge| &edge.pkg));
        }
    }
    ids
}

/// The licence texts in a crate's folder; if there are none, the crate's authors and the standard
/// text of its licence.
fn texts_of(package: &Package) -> Result<Vec<String>, Failure> {
    let folder = package.manifest_path.parent().map(|folder| folder.as_std_path().to_owned());
    let folder = folder.unwrap_or_else(shell::root);
    let folder = if package.source.is_some() { folder } else { shell::root() };
    let texts = texts_in(&folder)?;
    if !texts.is_empty() {
        return Ok(texts);
    }
    let (name, terms, authors) = (&package.name, terms(package), package.authors.join(", "));
    if terms.contains("MIT") {
        let mit = own_text("LICENSE-MIT")?;
        let conditions = mit.find("Permission is").map_or(&*mit, |begin| &mit[begin..]);
        return Ok(vec![format!("Copyright (c) {authors}\n\n{conditions}")]);
    }
    if terms.split(" OR ").any(|choice| choice == "Apache-2.0") {
        return Ok(vec![format!("Copyright {authors}\n\n{}", own_text("LICENSE-APACHE")?)]);
    }
    Err(Failure::new(format!("{name} ({terms}) comes without the text of its licence")))
}

fn own_text(file: &str) -> Result<String, Failure> {
    fs::read_to_string(shell::root().join(file)).map_err(Failure::of)
}

fn texts_in(folder: &Path) -> Result<Vec<String>, Failure> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).map_err(Failure::of)?.flatten() {
        let path = entry.path();
        if path.is_file() && is_licence(&entry.file_name().to_string_lossy()) {
            let bytes = fs::read(&path).map_err(Failure::of)?;
            texts.push(String::from_utf8_lossy(&bytes).replace("\r\n", "\n").trim().to_owned());
        }
    }
    Ok(texts)
}

fn is_licence(file: &str) -> bool {
    let upper = file.to_uppercase();
    let begins = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
    begins.iter().any(|begin| upper.starts_with(begin))
}

fn joined(texts: &BTreeMap<String, BTreeSet<String>>) -> String {
    let mut all = "What Plimsoll contains, and the terms of it.\n".to_owned();
    for (text, whose) in texts {
        let _ = writeln!(all, "\n{RULE}");
        for name in whose {
            let _ = writeln!(all, "{name}");
        }
        let _ = writeln!(all, "{RULE}\n\n{text}");
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{is_licence, of, without_tags};

    #[test]
    fn every_crate_of_a_program_states_its_terms() {
        let windows = of(&["x86_64-pc-windows-gnu"]).unwrap();
        for part in ["windows-sys 0.", "clap 4.", "axum 0.", "plimsoll 0.", "docx-rs 0."] {
            assert!(windows.lines().any(|line| line.starts_with(part)), "{part}");
        }
        assert!(!windows.contains("libesedb"), "tests alone link it");
        assert!(!windows.lines().any(|line| line.starts_with("io-uring ")));
        assert!(of(&["x86_64-unknown-linux-musl"]).unwrap().contains("\nio-uring 0."));
    }

    #[test]
    fn the_terms_of_the_standard_library_are_there_as_text() {
        let all = of(&[]).unwrap();
        assert!(
            all.contains("The Rust Standard Library is dual-licensed") && !all.contains("<h1>")
        );
        assert_eq!(without_tags("<p class=\"a\">1 &lt; 2 &amp; <b>3</b>"), "1 < 2 & 3");
    }

    #[test]
    fn licences_are_known_by_their_names() {
        assert!(is_licence("LICENSE-MIT") && is_licence("copying.md") && is_licence("NOTICE"));
        assert!(!is_licence("README.md"));
    }
}
