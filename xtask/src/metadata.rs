//! The crates of the workspace, from cargo's metadata.

use cargo_metadata::{Metadata, MetadataCommand};
use xtask::failure::Failure;
use xtask::shell;

/// Metadata of every crate in the workspace, without third-party crates.
pub(crate) fn workspace() -> Result<Metadata, Failure> {
    MetadataCommand::new()
        .current_dir(shell::root())
        .no_deps()
        .exec()
        .map_err(|error| Failure::new(format!("cargo metadata: {error}")))
}
