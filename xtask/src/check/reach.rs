//! Which crates a change can reach, as a pure function of files, folders and dependencies.

use std::collections::BTreeSet;

/// A crate of the workspace, with the properties that decide which changes reach it.
pub(crate) struct Member {
    pub name: String,
    /// Folder below the root, such as `crates/engine/engine`.
    pub folder: String,
    /// Crates of the workspace that the crate is built with.
    pub uses: Vec<String>,
    /// Crates of the workspace that only the crate's tests are built with.
    pub test_uses: Vec<String>,
    /// Files and folders below the root, outside every crate, that the crate's sources include.
    pub reads: Vec<String>,
}

/// Crates of the workspace, by name.
pub(crate) type Names = BTreeSet<String>;

/// The crates that have changed, and those whose behaviour may have changed as a result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Crates with a changed file: all their tests run.
    pub changed: Names,
    /// The changed crates and every crate that depends on a changed one, even if only in its tests:
    /// their unit tests run.
    pub reached: Names,
}

/// Files at the root that affect the build of every crate; `.cargo/` is another.
const SETTINGS: [&str; 4] = ["Cargo.toml", "Cargo.lock", "clippy.toml", "rust-toolchain.toml"];

/// The reach of `files`, paths below the root that were changed, added or removed.
pub(crate) fn reach(members: &[Member], files: &[String]) -> Reach {
    let changed: Names = files.iter().flat_map(|file| touched(members, file)).collect();
    let mut reached = changed.clone();
    while let Some(next) = members.iter().find(|one| {
        !reached.contains(&one.name) && one.uses.iter().any(|used| reached.contains(used))
    }) {
        reached.insert(next.name.clone());
    }
    // No crate is built with another crate's tests, so these edges are not followed further.
    let in_tests = members
        .iter()
        .filter(|one| one.test_uses.iter().any(|used| reached.contains(used)))
        .map(|one| one.name.clone())
        .collect::<Vec<_>>();
    reached.extend(in_tests);
    Reach { changed, reached }
}

/// The crates whose sources include `file`.
fn touched(members: &[Member], file: &str) -> Names {
    if SETTINGS.contains(&file) || file.starts_with(".cargo/") {
        return members.iter().map(|member| member.name.clone()).collect();
    }
    members
        .iter()
        .filter(|one| is_below(file, &one.folder) || one.reads.iter().any(|at| is_below(file, at)))
        .map(|one| one.name.clone())
        .collect()
}

/// Whether `file` is `place` or is inside it.
fn is_below(file: &str, place: &str) -> bool {
    file.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Paths below the root that `source` includes from outside its crate: string literals that climb
/// with `../` to one of `places`, the entries of the root.
pub(crate) fn included(source: &str, places: &[String]) -> Vec<String> {
    let climbing = source.split('"').filter_map(|literal| {
        let start = literal.rfind("../")?;
        Some(&literal[start + 3..])
    });
    let at_root = |path: &&str| {
        let first = path.split('/').next().unwrap_or_default();
        places.iter().any(|place| place == first)
    };
    climbing.filter(at_root).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{Member, Reach, included, reach};

    fn member(name: &str, uses: &[&str], test_uses: &[&str], reads: &[&str]) -> Member {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Member {
            name: name.to_owned(),
            folder: format!("crates/{name}"),
            uses: owned(uses),
            test_uses: owned(test_uses),
            reads: owned(reads),
        }
    }

    /// The crates units <- engine <- trial <- app; kit uses trial, and the tests of net and of
    /// engine-2 use kit.
    fn workspace() -> Vec<Member> {
        vec![
            member("app", &["net", "trial"], &[], &[]),
            member("trial", &["engine"], &[], &[]),
            member("engine", &["units"], &[], &[]),
            member("engine-2", &["units"], &["kit"], &["arrays"]),
            member("kit", &["trial"], &[], &["docs/facts.md"]),
            member("net", &[], &["kit"], &[]),
            member("units", &[], &[], &[]),
        ]
    }

    fn reached(files: &[&str]) -> Reach {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        reach(&workspace(), &files)
    }

    #[track_caller]
    fn expect(files: &[&str], changed: &[&str], others: &[&str]) {
        let found = reached(files);
        assert!(found.changed.iter().eq(changed.iter()), "{found:?}");
        let mut all = [changed, others].concat();
        all.sort_unstable();
        assert!(found.reached.iter().eq(all.iter()), "{found:?}");
    }

    #[test]
    fn every_crate_that_is_built_with_a_changed_one_is_reached() {
        expect(&["crates/trial/src/lib.rs"], &["trial"], &["app", "engine-2", "kit", "net"]);
        expect(&["crates/app/src/main.rs"], &["app"], &[]);
    }

    #[test]
    fn an_edge_of_tests_ends_where_it_leads() {
        // The tests of `net` use `kit`, but `app` is built with `net` without its tests.
        expect(&["crates/kit/src/lib.rs"], &["kit"], &["engine-2", "net"]);
    }

    #[test]
    fn a_name_that_another_begins_with_is_another_crate() {
        expect(&["crates/engine-2/src/lib.rs"], &["engine-2"], &[]);
    }

    #[test]
    fn a_file_outside_every_crate_reaches_those_that_include_it() {
        expect(&["arrays/nvme.toml"], &["engine-2"], &[]);
        expect(&["docs/facts.md"], &["kit"], &["engine-2", "net"]);
        expect(&["docs/other.md", "README.md"], &[], &[]);
        expect(&[], &[], &[]);
    }

    #[test]
    fn what_every_crate_is_built_with_reaches_all() {
        for file in ["Cargo.lock", "Cargo.toml", "clippy.toml", ".cargo/config.toml"] {
            assert_eq!(reached(&[file]).changed.len(), workspace().len(), "{file}");
        }
    }

    #[test]
    fn literals_that_climb_to_the_root_are_what_a_source_includes() {
        let source = r#"include_str!("../../../arrays/nvme.toml"); join("../../fuzz/corpus");
            let unrelated = "../else/where"; mod_path("arrays/nvme.toml");"#;
        let places = ["arrays", "fuzz", "docs"].map(str::to_owned);
        assert_eq!(included(source, &places), ["arrays/nvme.toml", "fuzz/corpus"]);
    }
}
