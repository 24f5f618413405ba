//! `cargo xtask check`: finds out in a few minutes what a change has broken.
//!
//! Cargo builds the code that a change reaches; this module picks the tests to run. Every command
//! builds with the features of the whole workspace, because a smaller selection would build
//! dependencies again.

mod reach;
mod workspace;

use std::collections::BTreeSet;

use xtask::failure::Failure;

use crate::check::reach::{Names, Reach, reach};
use crate::steps::{self, Step};
use crate::suite::{self, Kind, PROGRAM, Program};
use crate::{layers, metadata, peers, tidy};

/// Checks the changes since `revision`. Without a revision, checks the uncommitted changes or, if
/// there are none, the whole branch.
pub(crate) fn run(revision: Option<&str>) -> Result<(), Failure> {
    let files = match revision {
        Some(revision) => workspace::changed_since(revision)?,
        None => changed()?,
    };
    let reach = reach(&workspace::members()?, &files);
    println!("{}", described(&files, &reach));
    steps::perform(
        "check",
        &[
            Step { name: "format", what: "cargo fmt", run: &steps::format },
            Step { name: "tidy", what: "the house rules", run: &|| tidy::run(tidy::Mode::Check) },
            Step { name: "layers", what: "who may depend on whom", run: &layers::run },
            Step { name: "lint", what: "clippy, of what was reached", run: &|| lint(&reach) },
            Step { name: "unit", what: "tests, of what was reached", run: &|| unit(&reach) },
        ],
    )
}

fn changed() -> Result<Vec<String>, Failure> {
    let uncommitted = workspace::changed_since("HEAD")?;
    if uncommitted.is_empty() {
        return workspace::changed_since(&workspace::merge_base()?);
    }
    Ok(uncommitted)
}

fn described(files: &[String], reach: &Reach) -> String {
    let listed = |names: &Names| names.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let others: Names = reach.reached.difference(&reach.changed).cloned().collect();
    format!(
        "{} files changed, in: {}\nthey reach: {}",
        files.len(),
        listed(&reach.changed),
        listed(&others)
    )
}

/// Clippy rechecks only code that depends on a changed file.
fn lint(reach: &Reach) -> Result<(), Failure> {
    if reach.reached.is_empty() { Ok(()) } else { steps::lint() }
}

/// Runs the unit tests of all reached crates, and the other tests of the changed crates except the
/// end-to-end tests, which take minutes.
fn unit(reach: &Reach) -> Result<(), Failure> {
    if reach.reached.is_empty() {
        return Ok(());
    }
    let mut words = vec!["--workspace".to_owned(), "--lib".to_owned(), "--bins".to_owned()];
    for target in integration_tests(&reach.changed)? {
        words.extend(["--test".to_owned(), target]);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let programs = suite::build(&words)?;
    let due = programs.into_iter().filter(|program| is_due(program, reach));
    suite::run(due.collect(), &peers::variables())
}

fn is_due(program: &Program, reach: &Reach) -> bool {
    match program.kind {
        Kind::Unit => reach.reached.contains(&program.package),
        Kind::Integration => reach.changed.contains(&program.package),
    }
}

/// Names of the integration tests of `packages`.
fn integration_tests(packages: &Names) -> Result<BTreeSet<String>, Failure> {
    let metadata = metadata::workspace()?;
    let chosen = metadata
        .packages
        .iter()
        .filter(|one| packages.contains(one.name.as_str()) && one.name.as_str() != PROGRAM);
    let targets = chosen.flat_map(|package| &package.targets);
    Ok(targets.filter(|target| target.is_test()).map(|target| target.name.clone()).collect())
}
