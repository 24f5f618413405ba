//! Independent readers of the file format, in a virtual environment under `target/`, so that the
//! databases are judged by code that is not ours. `testkit` knows which and how; it is built first.

use std::path::PathBuf;

use xtask::failure::Failure;
use xtask::shell;

/// Names the folder to the tests that use it.
pub(crate) const VARIABLE: &str = "PLIMSOLL_PEERS";

/// Folder of the virtual environment.
pub(crate) fn folder() -> PathBuf {
    shell::root().join("target/peers")
}

/// Makes the virtual environment and fetches the samples that come with one of its packages, where
/// they are missing or of other versions.
pub(crate) fn install() -> Result<(), Failure> {
    let folders = [folder(), shell::root().join("target/samples")];
    let [peers, samples] = folders.map(|folder| folder.display().to_string());
    let words = "cargo run -q -p testkit --bin peers -- set-up";
    let mut words: Vec<&str> = words.split(' ').collect();
    words.extend([peers.as_str(), samples.as_str()]);
    shell::run(&words)
}
