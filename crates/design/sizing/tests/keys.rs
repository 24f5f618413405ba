//! The name of a key appears in the source once, so that formulas, pages and programs cannot mean
//! different things by it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Every source file below `folder`, except tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.ends_with("tests") || path.ends_with("tests.rs") {
            continue;
        }
        if path.is_dir() {
            found.extend(sources(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// Quoted texts in the form of a key, such as `db.count`.
fn names(source: &str) -> impl Iterator<Item = &str> {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    source.split('"').filter(move |text| {
        let parts = text.split_once('.');
        parts.is_some_and(|(stage, what)| {
            stage.starts_with(is_letter) && (stage.to_owned() + what).chars().all(is_letter)
        })
    })
}

#[test]
fn the_name_of_a_key_stands_in_the_source_once() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let catalogue = std::fs::read_to_string(own.join("key/catalogue.rs")).expect("the catalogue");
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names(&catalogue) {
        *places.entry(name).or_default() += 1;
    }
    assert!(places.len() > 230, "only {} names were found", places.len());
    let provision = own.join("../../provision/src");
    let pages = own.join("../../../publish/blueprint/src/design");
    for path in [sources(&own), sources(&provision), sources(&pages)].concat() {
        let text = std::fs::read_to_string(&path).expect("a source file");
        for name in names(&text).filter(|_| !path.ends_with("key/catalogue.rs")) {
            let known = places.contains_key(name);
            assert!(!known, "{name} stands in {} too", path.display());
        }
    }
    let twice: Vec<_> = places.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}
