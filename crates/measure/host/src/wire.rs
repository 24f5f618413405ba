//! The only place that builds device stacks: from a plan or a path to worlds, volumes and open
//! files.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::thread;

use device::block::BlockVolume;
use device::{Device, DeviceError, OpenMode, Volume};
use device_os::probe::Caching;
use device_os::{Backend, World};
use plan::Plan;
use trial::{CopyFolder, Location};

use crate::error::HostError;
use crate::target::{self, RawDevice, RawTarget, TargetError};

/// Returns the operating system's storage, for the calling thread.
pub fn world() -> Result<World, HostError> {
    Ok(World::new(Backend::Auto)?)
}

/// An existing folder, or a folder on a raw device.
pub fn volume(world: &World, folder: &Path) -> Result<Rc<dyn Volume>, HostError> {
    OpenVolumes::new(world, OpenMode::ReadWrite).open(folder)
}

/// The names and lengths of the files in the folder `path`.
pub(crate) fn list(path: &Path) -> Result<Vec<device::FileEntry>, HostError> {
    let world = world()?;
    let volume = OpenVolumes::new(&world, OpenMode::ReadOnly).open(path)?;
    Ok(world.executor().block_on(volume.list())?)
}

/// Folders and files opened together: those of one raw device share its volume, which is held only
/// once and takes one connection.
pub struct OpenVolumes<'a> {
    world: &'a World,
    mode: OpenMode,
    raw: RefCell<BTreeMap<RawDevice, Rc<BlockVolume>>>,
}

impl<'a> OpenVolumes<'a> {
    /// Creates an empty set; raw devices are opened in `mode`.
    pub fn new(world: &'a World, mode: OpenMode) -> Self {
        Self { world, mode, raw: RefCell::default() }
    }

    /// An existing folder, or a folder on a raw device.
    pub fn open(&self, folder: &Path) -> Result<Rc<dyn Volume>, HostError> {
        let Some(target) = RawTarget::of(folder) else {
            return self.world.volume(folder).map_err(no_folder);
        };
        Ok(Rc::new(self.raw(&target)?.folder(&target.inside)))
    }

    /// An existing file for reads only, on any file system or on a raw device.
    pub(crate) fn file_to_read(&self, path: &Path) -> Result<Rc<dyn Device>, HostError> {
        match RawTarget::of(path) {
            Some(target) => Ok(target.file_on(&*self.raw(&target)?, self.world)?),
            None => Ok(self.world.executor().block_on(self.world.open_to_read(path))?),
        }
    }

    fn raw(&self, target: &RawTarget) -> Result<Rc<BlockVolume>, TargetError> {
        let opened = self.raw.borrow().get(&target.device).cloned();
        let volume = match opened {
            Some(volume) => volume,
            None => Rc::new(target.open(self.world, self.mode)?),
        };
        self.raw.borrow_mut().insert(target.device.clone(), Rc::clone(&volume));
        Ok(volume)
    }
}

fn no_folder(error: DeviceError) -> HostError {
    match error {
        DeviceError::NotFound { file } => {
            HostError::new(format!("{file}: no such folder; create it, or name another one"))
        }
        error => error.into(),
    }
}

/// Locations of the given databases of `plan`, opened for the calling thread.
pub fn locations(
    world: &World,
    plan: &Plan,
    databases: &[plan::Database],
) -> Result<Vec<Location>, HostError> {
    let volumes = OpenVolumes::new(world, OpenMode::ReadWrite);
    databases.iter().map(|database| location(&volumes, plan, database)).collect()
}

fn location(
    volumes: &OpenVolumes<'_>,
    plan: &Plan,
    database: &plan::Database,
) -> Result<Location, HostError> {
    let (folder, log_folder) = (Path::new(&database.folder), Path::new(&database.log_folder));
    Ok(Location {
        plan: database.clone(),
        database: volumes.open(folder)?,
        log: volumes.open(log_folder)?,
        storage: storage(folder)?,
        log_storage: storage(log_folder)?,
        copies: plan.backup_folder(database).map(|of| copy_folder(volumes, of)).transpose()?,
    })
}

fn copy_folder(volumes: &OpenVolumes<'_>, folder: &str) -> Result<CopyFolder, HostError> {
    Ok(CopyFolder {
        folder: folder.to_owned(),
        volume: volumes.open(Path::new(folder))?,
        storage: storage(Path::new(folder))?,
    })
}

/// The volume that holds a folder, unless its file system reads and writes through a cache.
fn storage(folder: &Path) -> Result<String, HostError> {
    // The server is not queried: it may accept only one connection, which is already open.
    if let Some(name) = target::served(folder) {
        return Ok(name);
    }
    let facts = target::facts(folder)?;
    match facts.caching {
        Caching::InFileSystem(why) => Err(HostError::new(format!(
            "{}: no unbuffered I/O: {why}; choose a folder on a disk (ext4, XFS, NTFS, ReFS)",
            folder.display()
        ))),
        Caching::None | Caching::Below(_) | Caching::Unknown(_) => Ok(facts.mount_point),
    }
}

/// The groups of databases for a run of `plan`. With a flash cache there is only one, since a
/// single thread owns the cache.
pub(crate) fn run_groups(plan: &Plan) -> Vec<Vec<plan::Database>> {
    match &plan.flash_cache {
        Some(_) => vec![plan.databases.clone()],
        None => groups(plan),
    }
}

/// The databases of a plan, dealt out evenly to as many threads as there are processors. Those that
/// share a raw device stay together: one thread owns its volume.
pub(crate) fn groups(plan: &Plan) -> Vec<Vec<plan::Database>> {
    let bundles = bundles(plan, devices_of);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let count = cores.min(bundles.len());
    let mut groups = vec![Vec::new(); count];
    for (number, bundle) in bundles.into_iter().enumerate() {
        groups[number % count].extend(bundle);
    }
    groups
}

fn devices_of(database: &plan::Database) -> BTreeSet<RawDevice> {
    [&database.folder, &database.log_folder]
        .into_iter()
        .filter_map(|folder| RawTarget::of(Path::new(folder)))
        .map(|target| target.device)
        .collect()
}

/// Databases that share a device, directly or by way of others.
fn bundles(
    plan: &Plan,
    devices_of: impl Fn(&plan::Database) -> BTreeSet<RawDevice>,
) -> Vec<Vec<plan::Database>> {
    let mut bundles: Vec<(BTreeSet<RawDevice>, Vec<plan::Database>)> = Vec::new();
    for database in &plan.databases {
        let mut devices = devices_of(database);
        let mut together = Vec::new();
        bundles.retain_mut(|(theirs, members)| {
            let is_apart = devices.is_disjoint(theirs);
            if !is_apart {
                devices.append(theirs);
                together.append(members);
            }
            is_apart
        });
        together.push(database.clone());
        bundles.push((devices, together));
    }
    bundles.into_iter().map(|(_, databases)| databases).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use plan::Plan;

    use crate::target::RawDevice;

    #[test]
    fn databases_are_dealt_out_evenly_and_none_is_lost() {
        let text = "[databases]\nfolders = [\"/a\"]\ncount = 7\nsize = \"1GiB\"\n";
        let plan = Plan::parse("test", text).unwrap();
        let groups = super::groups(&plan);
        let most = groups.iter().map(Vec::len).max().unwrap();
        let least = groups.iter().map(Vec::len).min().unwrap();
        assert!(most - least <= 1);
        let mut indexes: Vec<u32> =
            groups.iter().flatten().map(|database| database.index).collect();
        indexes.sort_unstable();
        assert_eq!(indexes, (0..7).collect::<Vec<_>>());
    }

    #[test]
    fn databases_that_share_a_device_stay_together() {
        let text = "[databases]\nfolders = [\"/a\"]\ncount = 5\nsize = \"1GiB\"\n";
        let plan = Plan::parse("test", text).unwrap();
        let devices = [vec!["x"], vec!["y"], vec![], vec!["z"], vec!["z", "x"]];
        let of = |database: &plan::Database| -> BTreeSet<RawDevice> {
            let local = |name: &&str| RawDevice::Local(name.into());
            devices[database.index as usize].iter().map(local).collect()
        };
        let bundles = super::bundles(&plan, of);
        let indexes: Vec<Vec<u32>> = bundles
            .iter()
            .map(|bundle| bundle.iter().map(|database| database.index).collect())
            .collect();
        assert_eq!(indexes, [vec![1], vec![2], vec![0, 3, 4]]);
    }
}
