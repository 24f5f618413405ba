//! The flash of a cache: a device of this machine, or a file.

use std::path::Path;
use std::rc::Rc;

use device::{Device, OpenMode};
use device_os::World;
use flashcache::{ExamineDepth, StoreContents, examine};
use host::target::{RawDevice, RawTarget};
use host::wire;

use crate::error::CommandError;

/// Opens the flash at `path`; for writes it is locked against every other process.
pub(crate) fn open(
    path: &Path,
    world: &World,
    mode: OpenMode,
) -> Result<Rc<dyn Device>, CommandError> {
    let local = match RawTarget::of(path) {
        None => path.to_owned(),
        Some(RawTarget { device: RawDevice::Local(device), inside, .. }) if inside.is_empty() => {
            device
        }
        Some(_) => {
            return Err(CommandError::new(format!(
                "{}: is no flash of this machine; name a device such as /dev/nvme0n1, or a file",
                path.display()
            )));
        }
    };
    let name = path.display().to_string();
    Ok(world.executor().block_on(world.raw_device(&local, &name, mode))?)
}

/// Reads what a store holds, without a change.
pub(super) fn contents(path: &Path, depth: ExamineDepth) -> Result<StoreContents, CommandError> {
    let world = wire::world()?;
    let flash = open(path, &world, OpenMode::ReadOnly)?;
    let runtime = world.executor().runtime();
    let examining = async move { examine(flash, &runtime, depth).await };
    Ok(world.executor().block_on(examining)?)
}
