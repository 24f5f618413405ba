//! Independent readers of the file format, in a virtual environment under `target/`, so that the
//! databases are judged by code that is not ours. `testkit` knows which and how; it is built first.

use std::path::PathBuf;

use xtask::failure::Failure;
use xtask::shell;

use crate::suite::{self, Variables};

/// Names the folder to the tests that use it.
pub(crate) const VARIABLE: &str = "PLIMSOLL_PEERS";

/// Folder of the virtual environment.
pub(crate) fn folder() -> PathBuf {
    shell::root().join("target/peers")
}

/// What tests that use it need; nothing before it is made, so that they say what they skip.
pub(crate) fn variables() -> Variables {
    if folder().exists() { vec![(VARIABLE, folder())] } else { Vec::new() }
}

/// Makes the virtual environment and fetches the samples that come with one of its packages, where
/// they are missing or of other versions.
pub(crate) fn install() -> Result<(), Failure> {
    let folders = [folder(), shell::root().join("target/samples")];
    let [peers, samples] = folders.map(|folder| folder.display().to_string());
    // `cargo run` would build it once more: alone, its dependencies have other features.
    let program = suite::helper("peers")?.display().to_string();
    shell::run(&[&program, "set-up", &peers, &samples])
}
