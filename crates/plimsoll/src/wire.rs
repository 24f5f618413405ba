//! The only place that builds device stacks: from a path to a world, a volume and an open file.

use std::path::Path;
use std::rc::Rc;

use device::{Device, OpenMode, Volume};
use device_os::{Backend, World};

use crate::error::CommandError;

/// Storage as the operating system gives it, for the calling thread.
pub fn world() -> Result<World, CommandError> {
    Ok(World::new(Backend::Auto)?)
}

/// The volume that holds `path`, and the file's name in it.
pub fn volume_of(world: &World, path: &Path) -> Result<(Rc<dyn Volume>, String), CommandError> {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .ok_or_else(|| {
            CommandError::new(format!(
                "{}: is not the name of a file; name a file",
                path.display()
            ))
        })?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    Ok((world.volume(folder)?, name.to_owned()))
}

/// Opens an existing file for reads only.
pub fn open_read_only(world: &World, path: &Path) -> Result<Rc<dyn Device>, CommandError> {
    let (volume, name) = volume_of(world, path)?;
    let open = async move { volume.open(&name, OpenMode::ReadOnly).await };
    Ok(world.executor().block_on(open)?)
}
