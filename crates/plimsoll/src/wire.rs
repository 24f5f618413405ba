//! The only place that builds device stacks: from a plan or a path to worlds, volumes and open
//! files.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::thread;

use device::block::BlockVolume;
use device::{DeviceError, OpenMode, Volume};
use device_os::probe::Caching;
use device_os::{Backend, World};
use plan::Plan;
use trial::{CopyFolder, Location};

use crate::error::CommandError;
use crate::target::{self, RawTarget};

/// Storage as the operating system gives it, for the calling thread.
pub(crate) fn world() -> Result<World, CommandError> {
    Ok(World::new(Backend::Auto)?)
}

/// An existing folder, or a folder on a raw device.
pub(crate) fn volume(world: &World, folder: &Path) -> Result<Rc<dyn Volume>, CommandError> {
    OpenVolumes::new(world).open(folder)
}

/// Folders opened together: those of one raw device share its volume, which is held only once.
pub(crate) struct OpenVolumes<'a> {
    world: &'a World,
    raw: RefCell<BTreeMap<PathBuf, Rc<BlockVolume>>>,
}

impl<'a> OpenVolumes<'a> {
    /// None yet.
    pub(crate) fn new(world: &'a World) -> Self {
        Self { world, raw: RefCell::default() }
    }

    /// An existing folder, or a folder on a raw device.
    pub(crate) fn open(&self, folder: &Path) -> Result<Rc<dyn Volume>, CommandError> {
        let Some(target) = RawTarget::of(folder) else {
            return self.world.volume(folder).map_err(no_folder);
        };
        let opened = self.raw.borrow().get(&target.device).cloned();
        let volume = match opened {
            Some(volume) => volume,
            None => Rc::new(target.open(self.world, OpenMode::ReadWrite)?),
        };
        self.raw.borrow_mut().insert(target.device, Rc::clone(&volume));
        Ok(Rc::new(volume.folder(&target.inside)))
    }
}

fn no_folder(error: DeviceError) -> CommandError {
    match error {
        DeviceError::NotFound { file } => {
            CommandError::new(format!("{file}: no such folder; create it, or name another one"))
        }
        error => error.into(),
    }
}

/// An existing file for reads only, on any file system or on a raw device.
pub(crate) fn open_to_read(
    world: &World,
    path: &Path,
) -> Result<Rc<dyn device::Device>, CommandError> {
    let Some(target) = RawTarget::of(path) else {
        return Ok(world.executor().block_on(world.open_to_read(path))?);
    };
    Ok(target.open_file(world)?)
}

/// Where the given databases of `plan` live, opened for the calling thread.
pub(crate) fn locations(
    world: &World,
    plan: &Plan,
    databases: &[plan::Database],
) -> Result<Vec<Location>, CommandError> {
    let volumes = OpenVolumes::new(world);
    databases.iter().map(|database| location(&volumes, plan, database)).collect()
}

fn location(
    volumes: &OpenVolumes<'_>,
    plan: &Plan,
    database: &plan::Database,
) -> Result<Location, CommandError> {
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

fn copy_folder(volumes: &OpenVolumes<'_>, folder: &str) -> Result<CopyFolder, CommandError> {
    Ok(CopyFolder {
        folder: folder.to_owned(),
        volume: volumes.open(Path::new(folder))?,
        storage: storage(Path::new(folder))?,
    })
}

/// The volume that holds a folder, unless its file system reads and writes through a cache.
fn storage(folder: &Path) -> Result<String, CommandError> {
    let facts = target::facts(folder)?;
    match facts.caching {
        Caching::InFileSystem(why) => Err(CommandError::new(format!(
            "{}: no unbuffered I/O: {why}; choose a folder on a disk (ext4, XFS, NTFS, ReFS)",
            folder.display()
        ))),
        Caching::None | Caching::Below(_) | Caching::Unknown(_) => Ok(facts.mount_point),
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

fn devices_of(database: &plan::Database) -> BTreeSet<PathBuf> {
    let folders = [&database.folder, &database.log_folder];
    folders
        .into_iter()
        .filter_map(|folder| RawTarget::of(Path::new(folder)))
        .map(|target| target.device)
        .collect()
}

/// Databases that share a device, directly or by way of others.
fn bundles(
    plan: &Plan,
    devices_of: impl Fn(&plan::Database) -> BTreeSet<PathBuf>,
) -> Vec<Vec<plan::Database>> {
    let mut bundles: Vec<(BTreeSet<PathBuf>, Vec<plan::Database>)> = Vec::new();
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
    use std::path::PathBuf;

    use plan::Plan;

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
        let of = |database: &plan::Database| -> BTreeSet<PathBuf> {
            devices[database.index as usize].iter().map(PathBuf::from).collect()
        };
        let bundles = super::bundles(&plan, of);
        let indexes: Vec<Vec<u32>> = bundles
            .iter()
            .map(|bundle| bundle.iter().map(|database| database.index).collect())
            .collect();
        assert_eq!(indexes, [vec![1], vec![2], vec![0, 3, 4]]);
    }
}
