//! Refuses a database that lost its end before recovery writes to it.

use std::path::Path;

use device_os::World;
use engine::recovery::growth;
use engine::{DatabaseFiles, OpenError};
use ese::page::PageSize;
use host::lost_end::lost_by_more_than_a_crash;
use host::scan::{FileFault, truncations};

use crate::check::fault_text;
use console::error::CommandError;

/// Refuses a closed database whose file ends too early.
pub(super) fn require_whole(path: &Path, size: PageSize) -> Result<(), CommandError> {
    refuse(path, &truncations(path, size))
}

/// Refuses a dirty database whose file is shorter than any crash could have left it.
pub(super) fn require_recoverable(
    world: &World,
    path: &Path,
    size: PageSize,
    files: &DatabaseFiles,
) -> Result<(), CommandError> {
    let faults = lost_by_more_than_a_crash(path, size, || {
        let files = files.clone();
        world.executor().block_on(async move { growth(&files).await })
    });
    refuse(path, &faults.map_err(|error| super::not_open(&OpenError::Recovery(error)))?)
}

fn refuse(path: &Path, faults: &[FileFault]) -> Result<(), CommandError> {
    if faults.is_empty() {
        return Ok(());
    }
    Err(CommandError::Damage(fault_text(path, faults, "nothing was written")))
}
