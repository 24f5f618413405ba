//! The workspace on disk: its crates, their edges, and the files that have changed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cargo_metadata::{DependencyKind, Package};
use xtask::failure::Failure;
use xtask::shell;

use crate::check::reach::{Member, included};
use crate::{layers, metadata};

/// Every crate of the workspace.
pub(super) fn members() -> Result<Vec<Member>, Failure> {
    let metadata = metadata::workspace()?;
    let names: BTreeSet<&str> = metadata.packages.iter().map(|one| one.name.as_str()).collect();
    let places = entries(&shell::root());
    Ok(metadata.packages.iter().map(|package| member(package, &names, &places)).collect())
}

fn member(package: &Package, names: &BTreeSet<&str>, places: &[String]) -> Member {
    let edges = |in_tests: bool| {
        let edges = package.dependencies.iter().filter(|edge| names.contains(edge.name.as_str()));
        edges
            .filter(|edge| (edge.kind == DependencyKind::Development) == in_tests)
            .map(|edge| edge.name.clone())
            .collect()
    };
    let folder = package.manifest_path.parent().map_or(Path::new(""), |at| at.as_std_path());
    let below = folder.strip_prefix(shell::root()).unwrap_or(folder);
    Member {
        name: package.name.to_string(),
        folder: below.display().to_string(),
        uses: edges(false),
        test_uses: edges(true),
        reads: included(&layers::sources(package), places),
    }
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Files that differ from `revision`, and files that git does not track yet.
pub(super) fn changed_since(revision: &str) -> Result<Vec<String>, Failure> {
    let differing = shell::capture(&["git", "diff", "--name-only", "--no-renames", revision])?;
    let unknown = shell::capture(&["git", "ls-files", "--others", "--exclude-standard"])?;
    Ok(differing.lines().chain(unknown.lines()).map(str::to_owned).collect())
}

/// The commit at which this branch left `main`.
pub(super) fn merge_base() -> Result<String, Failure> {
    let base = shell::capture(&["git", "merge-base", "HEAD", "main"])?;
    Ok(base.trim().to_owned())
}
