//! The flash of a cache: a local device or file.

use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use device::{Device, DeviceError, OpenMode};
use device_os::World;
use flashcache::{ExamineDepth, StoreContents, examine};
use host::target::{RawDevice, RawTarget};
use host::wire;

use console::error::CommandError;

/// How long a server waits for a lock, which may outlive its holder: after a kill the kernel first
/// completes the requests of the dead process.
#[cfg(target_os = "linux")]
pub(super) const AFTER_A_KILL: Duration = Duration::from_secs(5);

/// Opens the flash at `path`; for writes it is locked against every other process.
pub(super) fn open(
    path: &Path,
    world: &World,
    mode: OpenMode,
    patience: Duration,
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
    Ok(open_local(&local, &path.display().to_string(), (world, mode), patience)?)
}

/// Opens a local device or file, called `name` in errors; waits while another process has it
/// locked.
pub(super) fn open_local(
    path: &Path,
    name: &str,
    (world, mode): (&World, OpenMode),
    patience: Duration,
) -> Result<Rc<dyn Device>, DeviceError> {
    let begun = Instant::now();
    loop {
        match world.executor().block_on(world.raw_device(path, name, mode)) {
            Err(DeviceError::Locked { .. }) if begun.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(50));
            }
            opened => return opened,
        }
    }
}

/// Reads the contents of a store without changing it.
pub(super) fn contents(path: &Path, depth: ExamineDepth) -> Result<StoreContents, CommandError> {
    let world = wire::world()?;
    let flash = open(path, &world, OpenMode::ReadOnly, Duration::ZERO)?;
    let runtime = world.executor().runtime();
    let examining = async move { examine(flash, &runtime, depth).await };
    Ok(world.executor().block_on(examining)?)
}
