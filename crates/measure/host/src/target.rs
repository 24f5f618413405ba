//! Storage named in the place of a folder, without a file system: `/dev/sdx`, `raw:FILE` for a file
//! used as a device, `nbd://` for an export of a server, `iscsi://` for a LUN. Files and folders on
//! it are parts of the path.

mod error;
mod export;
mod login;
mod lun;
mod source;

use std::fs;
use std::path::{self, Path, PathBuf};
use std::rc::Rc;

use device::block::BlockVolume;
use device::{Device, DeviceError, OpenMode, Volume as _};
use device_net::{IscsiAddress, NbdAddress};
use device_os::probe::{self, BlockDevice, VolumeFacts};
use device_os::{Backend, World};

use crate::error::HostError;
use crate::system;

pub use error::TargetError;
pub(crate) use error::is_cut_off;
pub use login::ask_for_secrets;
pub(crate) use login::initiator;
pub use source::ByteSource;

/// Prefix of a file used as a device.
const MARK: &str = "raw:";

/// A raw device, and a folder or file on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawTarget {
    /// The device.
    pub device: RawDevice,
    /// The target as written by the user.
    pub name: String,
    /// The rest of the path, without a slash at either end.
    pub inside: String,
}

/// Address of a raw device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RawDevice {
    /// A device's node, or the file used as one.
    Local(PathBuf),
    /// An export of an NBD server.
    Export(NbdAddress),
    /// A logical unit of an iSCSI target.
    Lun(IscsiAddress),
    /// An address that names neither.
    NoAddress,
}

/// `text` with the slashes of a volume and of an address, whatever the system joins paths with.
fn slashed(text: &str) -> String {
    text.replace(path::MAIN_SEPARATOR, "/")
}

/// Whether `text` names a device by an address or a mark, and not by its path.
pub(crate) fn is_named_device(text: &str) -> bool {
    NbdAddress::is_meant(text) || IscsiAddress::is_meant(text) || text.starts_with(MARK)
}

impl RawTarget {
    /// The raw device that `path` names; `None` if it is an ordinary path.
    pub fn of(path: &Path) -> Option<Self> {
        let text = path.to_str()?;
        if NbdAddress::is_meant(text) || IscsiAddress::is_meant(text) {
            return Some(Self::of_address(&slashed(text)));
        }
        let text = text.trim_end_matches('/');
        let given = text.strip_prefix(MARK);
        let whole = Path::new(given.unwrap_or(text));
        let device = match whole.ancestors().find(|path| is_raw(path, given.is_some())) {
            Some(device) => device,
            // Marked as a device, so the error should be a device's.
            None => given.map(Path::new)?,
        };
        let inside = slashed(whole.strip_prefix(device).ok()?.to_str()?);
        let mark = if given.is_some() { MARK } else { "" };
        let name = format!("{mark}{}", device.display());
        Some(Self { device: RawDevice::Local(device.to_owned()), name, inside })
    }

    fn of_address(text: &str) -> Self {
        if let Some((address, name, inside)) = export::parse(text) {
            return Self { device: RawDevice::Export(address), name, inside };
        }
        if let Some((address, name, inside)) = IscsiAddress::parse(text) {
            return Self { device: RawDevice::Lun(address), name, inside };
        }
        Self { device: RawDevice::NoAddress, name: text.to_owned(), inside: String::new() }
    }

    /// Opens the whole device, whatever its contents.
    pub fn connect(&self, world: &World, mode: OpenMode) -> Result<Rc<dyn Device>, TargetError> {
        match &self.device {
            RawDevice::Local(path) => {
                let opening = world.raw_device(path, &self.name, mode);
                Ok(world.executor().block_on(opening)?)
            }
            RawDevice::Export(address) => export::open(address, &self.name, world, mode),
            RawDevice::Lun(address) => lun::open(address, &self.name, world, mode),
            RawDevice::NoAddress => Err(TargetError::NoAddress(self.name.clone())),
        }
    }

    /// A device with a volume on it, locked against other processes if opening it has not done so.
    pub fn held(
        &self,
        device: Rc<dyn Device>,
        world: &World,
        mode: OpenMode,
    ) -> Result<Rc<dyn Device>, TargetError> {
        match &self.device {
            RawDevice::Export(_) | RawDevice::Lun(_) => export::hold(device, world, mode),
            RawDevice::Local(_) | RawDevice::NoAddress => Ok(device),
        }
    }

    /// Its volume, opened in `world`.
    pub(crate) fn open(&self, world: &World, mode: OpenMode) -> Result<BlockVolume, TargetError> {
        let device = self.held(self.connect(world, mode)?, world, mode)?;
        let runtime = world.executor().runtime();
        let opening = async move { BlockVolume::open(device, &runtime).await };
        Ok(world.executor().block_on(opening)?)
    }

    /// Opens the named file for reading. The volume is read anew each time: another process may
    /// have changed it.
    pub(crate) fn open_file(&self, world: &World) -> Result<Rc<dyn Device>, TargetError> {
        self.file_on(&self.open(world, OpenMode::ReadOnly)?, world)
    }

    /// Opens the named file on its open volume for reading.
    pub(crate) fn file_on(
        &self,
        volume: &BlockVolume,
        world: &World,
    ) -> Result<Rc<dyn Device>, TargetError> {
        let (folder, name) = self.inside.rsplit_once('/').unwrap_or(("", &self.inside));
        let folder = volume.folder(folder);
        if !name.is_empty() {
            match world.executor().block_on(folder.open(name, OpenMode::ReadOnly)) {
                Err(DeviceError::NotFound { .. }) => {}
                opened => return Ok(opened?),
            }
        }
        let files = world.executor().block_on(folder.list())?;
        let names = files.into_iter().map(|file| file.name);
        Err(TargetError::NoFile {
            file: self.inside.clone(),
            device: self.name.clone(),
            databases: names.filter(|name| is_database(name)).collect(),
        })
    }

    /// Facts about the storage underneath the volume, and its free space.
    fn facts(&self) -> Result<VolumeFacts, TargetError> {
        let world = World::new(Backend::Auto)?;
        let path = match &self.device {
            RawDevice::Local(path) => path,
            RawDevice::Lun(address) => {
                let facts = lun::facts(&self.name, &lun::attach(address, &self.name)?, 0);
                let device = self.connect(&world, OpenMode::ReadOnly)?;
                return Ok(VolumeFacts { free_bytes: free_on(device, &world), ..facts });
            }
            RawDevice::Export(_) | RawDevice::NoAddress => {
                let device = self.connect(&world, OpenMode::ReadOnly)?;
                let total = device.length();
                return Ok(export::facts(&self.name, total, free_on(device, &world)));
            }
        };
        let facts = probe::volume(path)?;
        let below = match facts.file_system.as_str() {
            "" => String::new(),
            kind => format!(" in a file on {kind}"),
        };
        let file_system = format!("none, raw device{below}");
        let mount_point = self.name.clone();
        // The file system that holds the node or file says nothing about the device's capacity.
        let (total_bytes, free_bytes) = match self.connect(&world, OpenMode::ReadOnly) {
            Ok(device) => (device.length(), free_on(device, &world)),
            Err(_) => (facts.total_bytes, facts.free_bytes),
        };
        Ok(VolumeFacts { mount_point, file_system, total_bytes, free_bytes, ..facts })
    }

    /// Free bytes on its volume.
    fn free_bytes(&self) -> Result<u64, HostError> {
        let world = World::new(Backend::Auto)?;
        let volume = self.open(&world, OpenMode::ReadOnly)?;
        Ok(world.executor().block_on(volume.free_bytes())?)
    }
}

/// Free bytes on the volume of a device; 0 if there is no volume yet.
fn free_on(device: Rc<dyn Device>, world: &World) -> u64 {
    let runtime = world.executor().runtime();
    let looking = async move { BlockVolume::open(device, &runtime).await?.free_bytes().await };
    world.executor().block_on(looking).unwrap_or(0)
}

fn is_database(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("edb"))
}

fn is_raw(path: &Path, marked: bool) -> bool {
    fs::metadata(path)
        .is_ok_and(|found| system::is_block_device(found.file_type()) || marked && found.is_file())
}

/// Facts about the storage underneath the folder `path`, on a raw device or not.
pub fn facts(path: &Path) -> Result<VolumeFacts, TargetError> {
    match RawTarget::of(path) {
        Some(target) => target.facts(),
        None => Ok(probe::volume(path)?),
    }
}

/// Name of the volume of the folder `path`.
pub(crate) fn mount_point(path: &Path) -> Result<String, TargetError> {
    match RawTarget::of(path) {
        Some(target) => Ok(target.name),
        None => Ok(probe::volume(path)?.mount_point),
    }
}

/// Name of the export or LUN that holds `path`, if any.
pub(crate) fn served(path: &Path) -> Option<String> {
    let target = RawTarget::of(path)?;
    matches!(target.device, RawDevice::Export(_) | RawDevice::Lun(_)).then_some(target.name)
}

/// The LUN that holds `path`, and its name, if any.
pub(crate) fn lun(path: &Path) -> Option<(IscsiAddress, String)> {
    match RawTarget::of(path)? {
        RawTarget { device: RawDevice::Lun(address), name, .. } => Some((address, name)),
        _ => None,
    }
}

/// The devices under `path`, the topmost first. Empty if nothing is known of them.
pub(crate) fn devices(path: &Path) -> Result<Vec<BlockDevice>, TargetError> {
    if let Some((address, name)) = lun(path) {
        return Ok(vec![lun::device(&name, &lun::attach(&address, &name)?)]);
    }
    of_system(path).map_or_else(|| Ok(Vec::new()), |here| Ok(probe::devices(&here)?))
}

/// Free bytes for files in the folder `path`.
pub fn free_bytes(path: &Path) -> Result<u64, HostError> {
    match RawTarget::of(path) {
        Some(target) => target.free_bytes(),
        None => Ok(probe::free_bytes(path)?),
    }
}

/// Local path of the storage under `path`: the path itself, or its device. `None` if the storage
/// belongs to another system.
pub(crate) fn of_system(path: &Path) -> Option<PathBuf> {
    match RawTarget::of(path) {
        None => Some(path.to_owned()),
        Some(RawTarget { device: RawDevice::Local(device), .. }) => Some(device),
        Some(_) => None,
    }
}

/// The length of the file at `path`; `None` if it does not exist.
pub(crate) fn length(path: &Path) -> Option<u64> {
    ByteSource::open(path).ok()?.length().ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{RawDevice, RawTarget};

    #[test]
    fn a_marked_file_is_a_device_and_the_rest_of_the_path_is_on_it() {
        let file = std::env::current_exe().unwrap();
        let of = |rest: &str| {
            let text = format!("raw:{}{rest}", file.display());
            RawTarget::of(Path::new(&text)).unwrap()
        };
        for (rest, inside) in [("", ""), ("/", ""), ("/db1/a.edb", "db1/a.edb")] {
            let target = of(rest);
            assert_eq!(target.device, RawDevice::Local(file.clone()));
            assert_eq!(target.inside, inside);
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

    #[test]
    fn an_address_is_never_a_path() {
        let of = |text: &str| RawTarget::of(Path::new(text)).unwrap();
        let export = of("nbd://array:1/lun/db1/a.edb");
        assert!(matches!(export.device, RawDevice::Export(_)), "{export:?}");
        assert_eq!(
            (export.name.as_str(), export.inside.as_str()),
            ("nbd://array:1/lun", "db1/a.edb")
        );
        // Joined as in a plan's folders and files.
        let joined = Path::new("nbd://array").join("a.edb");
        assert_eq!(RawTarget::of(&joined).unwrap().inside, "a.edb");
        let lun = of("iscsi://me@array:1/iqn.2026-11.example:mail/2/db1/a.edb");
        assert!(matches!(lun.device, RawDevice::Lun(_)), "{lun:?}");
        assert_eq!(
            (lun.name.as_str(), lun.inside.as_str()),
            ("iscsi://me@array:1/iqn.2026-11.example:mail/2", "db1/a.edb")
        );
        for text in ["nbd://", "nbd://array:port/x", "nbd+unix:///x", "iscsi://array/iqn.a"] {
            assert_eq!((of(text).device, of(text).name.as_str()), (RawDevice::NoAddress, text));
        }
    }
}
