//! Independent readers of the file format, in a virtual environment under `target/`, so that
//! independent code judges the databases. `testkit` defines the readers and how to install them, so
//! it is built first.

use std::path::PathBuf;

use xtask::failure::Failure;
use xtask::shell;

use crate::suite::{self, Variables};

/// Variable with the folder of the virtual environment, for the tests that use it.
pub(crate) const VARIABLE: &str = "PLIMSOLL_PEERS";

/// Folder of the virtual environment.
pub(crate) fn folder() -> PathBuf {
    shell::root().join("target/peers")
}

/// Variables for tests that use the environment; empty if it does not exist, so that those tests
/// report a skip.
pub(crate) fn variables() -> Variables {
    if folder().exists() { vec![(VARIABLE, folder())] } else { Vec::new() }
}

/// Creates the virtual environment and fetches the samples of one of its packages, if they are
/// missing or have other versions.
pub(crate) fn install() -> Result<(), Failure> {
    let folders = [folder(), shell::root().join("target/samples")];
    let [peers, samples] = folders.map(|folder| folder.display().to_string());
    // `cargo run` would build it again: on its own, its dependencies have other features.
    let program = suite::helper("peers")?.display().to_string();
    shell::run(&[&program, "set-up", &peers, &samples])
}
