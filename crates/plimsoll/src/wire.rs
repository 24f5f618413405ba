//! The only place that builds device stacks: from a plan or a path to worlds, volumes and open
//! files.

use std::path::Path;
use std::rc::Rc;
use std::thread;

use device::{DeviceError, Volume};
use device_os::probe::{self, Caching};
use device_os::{Backend, World};
use plan::Plan;
use trial::Location;

use crate::error::CommandError;

/// Storage as the operating system gives it, for the calling thread.
pub(crate) fn world() -> Result<World, CommandError> {
    Ok(World::new(Backend::Auto)?)
}

/// An existing folder.
pub(crate) fn volume(world: &World, folder: &Path) -> Result<Rc<dyn Volume>, CommandError> {
    world.volume(folder).map_err(|error| match error {
        DeviceError::NotFound { file } => {
            CommandError::new(format!("{file}: no such folder; create it, or name another one"))
        }
        error => error.into(),
    })
}

/// Where the given databases of a plan live, opened for the calling thread.
pub(crate) fn locations(
    world: &World,
    databases: &[plan::Database],
) -> Result<Vec<Location>, CommandError> {
    databases.iter().map(|database| location(world, database)).collect()
}

fn location(world: &World, database: &plan::Database) -> Result<Location, CommandError> {
    let (folder, log_folder) = (Path::new(&database.folder), Path::new(&database.log_folder));
    Ok(Location {
        plan: database.clone(),
        database: volume(world, folder)?,
        log: volume(world, log_folder)?,
        storage: storage(folder)?,
        log_storage: storage(log_folder)?,
    })
}

/// The volume that holds a folder, unless its file system reads and writes through a cache.
fn storage(folder: &Path) -> Result<String, CommandError> {
    let facts = probe::volume(folder)?;
    match facts.caching {
        Caching::InFileSystem(why) => Err(CommandError::new(format!(
            "{}: no unbuffered I/O: {why}; choose a folder on a disk (ext4, XFS, NTFS, ReFS)",
            folder.display()
        ))),
        Caching::None | Caching::Below(_) | Caching::Unknown(_) => Ok(facts.mount_point),
    }
}

/// The databases of a plan, dealt out evenly to as many threads as there are processors.
pub(crate) fn groups(plan: &Plan) -> Vec<Vec<plan::Database>> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let count = cores.min(plan.databases.len());
    let mut groups = vec![Vec::new(); count];
    for (number, database) in plan.databases.iter().enumerate() {
        groups[number % count].push(database.clone());
    }
    groups
}

#[cfg(test)]
mod tests {
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
}
