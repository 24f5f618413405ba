//! Storage that is named where a folder could stand and has no file system: `/dev/sdx`, or
//! `raw:FILE` for a file that stands for a device. Files and folders on it are parts of the path.

mod source;

use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use device::block::BlockVolume;
use device::{Device, DeviceError, OpenMode, Volume as _};
use device_os::World;
use device_os::probe::{self, VolumeFacts};

use crate::error::CommandError;
use crate::{system, wire};

pub(crate) use source::ByteSource;

/// What marks a file as a device.
const MARK: &str = "raw:";

/// A raw device, and a folder or file on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawTarget {
    /// The device's node, or the file that stands for it.
    pub device: PathBuf,
    /// The same as people write it.
    pub name: String,
    /// What follows in the path, without a slash at either end.
    pub inside: String,
}

impl RawTarget {
    /// What `path` names on a raw device; none where it is an ordinary path.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let text = path.to_str()?.trim_end_matches('/');
        let given = text.strip_prefix(MARK);
        let whole = Path::new(given.unwrap_or(text));
        let device = match whole.ancestors().find(|path| is_raw(path, given.is_some())) {
            Some(device) => device,
            // Marked as a device, so that the error is that of one.
            None => given.map(Path::new)?,
        };
        let inside = whole.strip_prefix(device).ok()?.to_str()?.to_owned();
        let mark = if given.is_some() { MARK } else { "" };
        Some(Self {
            device: device.to_owned(),
            name: format!("{mark}{}", device.display()),
            inside,
        })
    }

    /// Its volume, opened in `world`.
    pub(crate) fn open(&self, world: &World, mode: OpenMode) -> Result<BlockVolume, CommandError> {
        let opening = world.raw_device(&self.device, &self.name, mode);
        let runtime = world.executor().runtime();
        let opened = world.executor().block_on(async move {
            let device = opening.await?;
            BlockVolume::open(device, &runtime).await
        });
        Ok(opened?)
    }

    /// The file that it names, for reads. The volume is read anew each time: another process may
    /// have changed it.
    pub(crate) fn open_file(&self, world: &World) -> Result<Rc<dyn Device>, DeviceError> {
        let opening = world.raw_device(&self.device, &self.name, OpenMode::ReadOnly);
        let (runtime, file) = (world.executor().runtime(), self.inside.clone());
        world.executor().block_on(async move {
            let volume = BlockVolume::open(opening.await?, &runtime).await?;
            let (folder, name) = file.rsplit_once('/').unwrap_or(("", &file));
            volume.folder(folder).open(name, OpenMode::ReadOnly).await
        })
    }

    /// What stands under the volume.
    fn facts(&self) -> Result<VolumeFacts, DeviceError> {
        let facts = probe::volume(&self.device)?;
        let below = match facts.file_system.as_str() {
            "" => String::new(),
            kind => format!(" in a file on {kind}"),
        };
        let file_system = format!("none, raw device{below}");
        let mount_point = self.name.clone();
        // The file system that holds the node, or the file, says nothing of the device's size.
        let total_bytes = self.bytes().unwrap_or(facts.total_bytes);
        let free_bytes = facts.free_bytes.min(total_bytes);
        Ok(VolumeFacts { mount_point, file_system, total_bytes, free_bytes, ..facts })
    }

    /// Bytes of the device.
    fn bytes(&self) -> io::Result<u64> {
        File::open(&self.device)?.seek(SeekFrom::End(0))
    }

    /// Free bytes on its volume.
    fn free_bytes(&self) -> Result<u64, CommandError> {
        let world = wire::world()?;
        let volume = self.open(&world, OpenMode::ReadOnly)?;
        Ok(world.executor().block_on(volume.free_bytes())?)
    }
}

fn is_raw(path: &Path, marked: bool) -> bool {
    fs::metadata(path)
        .is_ok_and(|found| system::is_block_device(found.file_type()) || marked && found.is_file())
}

/// What stands under the folder `path`, on a raw device or not.
pub(crate) fn facts(path: &Path) -> Result<VolumeFacts, DeviceError> {
    RawTarget::of(path).map_or_else(|| probe::volume(path), |target| target.facts())
}

/// Free bytes for files in the folder `path`.
pub(crate) fn free_bytes(path: &Path) -> Result<u64, CommandError> {
    match RawTarget::of(path) {
        Some(target) => target.free_bytes(),
        None => Ok(probe::free_bytes(path)?),
    }
}

/// What the system knows of the storage under `path`: the path itself, or its device.
pub(crate) fn of_system(path: &Path) -> PathBuf {
    RawTarget::of(path).map_or_else(|| path.to_owned(), |target| target.device)
}

/// The length of the file at `path`; none where there is none.
pub(crate) fn length(path: &Path) -> Option<u64> {
    ByteSource::open(path).ok()?.length().ok()
}

/// The names and lengths of the files in the folder `path`.
pub(crate) fn list(path: &Path) -> Result<Vec<device::FileEntry>, CommandError> {
    let world = wire::world()?;
    let volume = match RawTarget::of(path) {
        Some(target) => Rc::new(target.open(&world, OpenMode::ReadOnly)?.folder(&target.inside)),
        None => wire::volume(&world, path)?,
    };
    Ok(world.executor().block_on(volume.list())?)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::RawTarget;

    #[test]
    fn a_marked_file_is_a_device_and_the_rest_of_the_path_is_on_it() {
        let file = std::env::current_exe().unwrap();
        let of = |rest: &str| {
            let text = format!("raw:{}{rest}", file.display());
            RawTarget::of(Path::new(&text)).unwrap()
        };
        for (rest, inside) in [("", ""), ("/", ""), ("/db1/a.edb", "db1/a.edb")] {
            let target = of(rest);
            assert_eq!((target.device.as_path(), target.inside.as_str()), (&*file, inside));
            assert_eq!(target.name, format!("raw:{}", file.display()));
        }
    }

    #[test]
    fn ordinary_paths_stay_what_they_are_and_a_missing_device_keeps_its_mark() {
        let file = std::env::current_exe().unwrap();
        assert_eq!(RawTarget::of(&file), None);
        assert_eq!(RawTarget::of(file.parent().unwrap()), None);
        assert_eq!(RawTarget::of(Path::new("no/such/folder")), None);
        let missing = RawTarget::of(Path::new("raw:/no/such/file")).unwrap();
        assert_eq!((missing.name.as_str(), missing.inside.as_str()), ("raw:/no/such/file", ""));
    }
}
