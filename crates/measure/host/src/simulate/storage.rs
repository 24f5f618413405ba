//! The volumes of a simulated run: prepared in memory in no time, then laid on arrays.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use device::{Executor, Latency, MemoryVolume, VirtualReactor, Volume, VolumeImage};
use plan::{Database, Plan};
use record::Simulation;
use simdisk::{ArrayDescription, ArrayShare, SimulatedArray};
use trial::{Coordinator, Location};
use units::{Bytes, Nanos, Seed};

use crate::error::HostError;

/// The array, and how folders lie on it.
#[derive(Clone, Debug)]
pub struct SimulatedStorage {
    /// The array.
    pub array: ArrayDescription,
    /// Whether every folder has a separate array.
    pub is_each_folder: bool,
}

/// Shrunk databases are at least this many times as large as the array's memory for writes: 10 MiB
/// for two databases of 320 MiB, more than a checkpoint writes at a time.
const DATABASES_OF_A_WRITE_CACHE: u64 = 64;

/// A world in virtual time, its databases prepared.
pub(super) struct SimulatedWorld {
    /// Runs its tasks and moves its time.
    pub executor: Executor,
    /// Locations of the databases.
    pub locations: Vec<Location>,
}

impl SimulatedStorage {
    /// What a record says of it under the load of `plan`; seed and stretch are those of a run.
    pub(super) fn simulation(&self, plan: &Plan) -> Simulation {
        let calibration = &self.array.calibration;
        Simulation {
            array: self.array.name.clone(),
            array_text: self.array.text(),
            calibrated_on: calibration.results.clone(),
            free_parameters: calibration.free_parameters,
            uncertainty_percent: calibration.uncertainty_percent,
            least_read_ns: self.least_read(plan).0,
            ..Simulation::default()
        }
    }

    /// The least mean random read that the physics of the arrays under `plan` allow.
    fn least_read(&self, plan: &Plan) -> Nanos {
        let folders = plan.databases.iter().map(|of| &*of.folder);
        let of_each = folders.map(|folder| self.databases_bytes(plan, folder));
        self.array.least_random_read(of_each.min().unwrap_or(0))
    }

    /// Bytes of the databases of `plan` on the array under `folder`.
    fn databases_bytes(&self, plan: &Plan, folder: &str) -> u64 {
        let on_it = |of: &&plan::Database| !self.is_each_folder || of.folder == folder;
        plan.size.0 * plan.databases.iter().filter(on_it).count() as u64
    }

    /// The arrays under the folders of `databases`, their memory whole.
    pub(super) fn arrays<'a>(
        &self,
        databases: impl Iterator<Item = &'a Database>,
    ) -> Vec<ArrayDescription> {
        let count = if self.is_each_folder { Self::folders_of(databases).len() } else { 1 };
        vec![self.array.clone(); count]
    }

    /// The folders of `plan`, in the order in which they lie on arrays.
    pub(super) fn folders(plan: &Plan) -> Vec<&str> {
        Self::folders_of(plan.databases.iter())
    }

    /// The folders of `databases`, in the same order.
    pub(super) fn folders_of<'a>(databases: impl Iterator<Item = &'a Database>) -> Vec<&'a str> {
        databases
            .flat_map(|of| [&*of.folder, &*of.log_folder])
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }

    /// The databases of `plan`, prepared; each of their bytes represents `stretch` real ones.
    pub(super) fn world(
        &self,
        plan: &Plan,
        stretch: f64,
        seed: Seed,
    ) -> Result<SimulatedWorld, HostError> {
        let images = prepared(plan)?;
        let reactor = VirtualReactor::new();
        let array = |folder: &str, seed| {
            let description = self.simulated_array(plan, folder, stretch);
            SimulatedArray::new(&description, &reactor, seed)
                .map_err(|error| HostError::new(error.to_string()))
        };
        let shared = array("", seed)?;
        let folders = images.len() as u64;
        let mut volumes = Volumes::new();
        for (index, (folder, image)) in (0..).zip(images) {
            let whole = ArrayShare { index: 0, count: 1, stretch, block_bytes: block_bytes(plan) };
            let (of, share) = if self.is_each_folder {
                (&array(&folder, seed.derive(index))?, whole)
            } else {
                (&shared, ArrayShare { index, count: folders, ..whole })
            };
            self.refuse_too_small(of, share, &image, &folder)?;
            let volume = of.volume(&folder, share, &image);
            volumes.insert(folder, Rc::new(volume));
        }
        let locations = locations(plan, &volumes);
        Ok(SimulatedWorld { executor: Executor::new(reactor), locations })
    }

    /// The array under `folder`, its memory made smaller if the databases on it are: it would hold
    /// so much of them that pages were changed in it again and again, and read from it. An array
    /// that holds only logs, which are as long as ever, keeps its memory.
    fn simulated_array(&self, plan: &Plan, folder: &str, stretch: f64) -> ArrayDescription {
        let mut array = self.array.clone();
        let databases = self.databases_bytes(plan, folder);
        if stretch > 1.0 && databases > 0 {
            let most = databases / DATABASES_OF_A_WRITE_CACHE;
            let size = most * 100 / array.cache.write_percent.max(1);
            array.cache.size_mib = array.cache.size_mib.min((size >> 20).max(1));
        }
        array
    }

    /// What a reader must know of the array that is simulated: its memory is not the whole one.
    pub(super) fn what_is_cut(&self, plan: &Plan, stretch: f64) -> Option<String> {
        let of_folder = |of: &str| self.simulated_array(plan, of, stretch).cache.size_mib;
        let simulated = Self::folders(plan).into_iter().map(of_folder).min()?;
        let whole = self.array.cache.size_mib;
        (simulated < whole).then(|| {
            format!(
                "the array's memory is simulated with {simulated} MiB of {whole}, since the \
                 databases are smaller too: larger caches cannot show what they are worth"
            )
        })
    }

    /// Refuses an array on which a folder's databases have no room.
    fn refuse_too_small(
        &self,
        array: &SimulatedArray,
        share: ArrayShare,
        image: &VolumeImage,
        folder: &str,
    ) -> Result<(), HostError> {
        let bytes: u64 = image.files.values().map(device::FileImage::length).sum();
        let wanted = bytes as f64 * share.stretch;
        let room = array.capacity_bytes() / share.count;
        if wanted <= room as f64 {
            return Ok(());
        }
        let (name, room) = (&self.array.name, Bytes(room));
        let tebibytes = wanted / (1_u64 << 40) as f64;
        Err(HostError::new(format!(
            "{folder}: the databases of the plan take {tebibytes:.2} TiB there, and its share of \
             \"{name}\" is {room}; simulate more or larger disks, or smaller databases"
        )))
    }
}

/// Length of the contiguous blocks of a shrunk database: long enough for sequential reads, and
/// short enough that random ones cover the disks.
const fn block_bytes(plan: &Plan) -> u64 {
    if plan.test.kind.is_load() { 4 << 20 } else { 64 << 20 }
}

type Volumes = BTreeMap<String, Rc<dyn Volume>>;

fn locations(plan: &Plan, volumes: &Volumes) -> Vec<Location> {
    plan.databases
        .iter()
        .map(|database| Location {
            plan: database.clone(),
            database: Rc::clone(&volumes[&database.folder]),
            log: Rc::clone(&volumes[&database.log_folder]),
            storage: database.folder.clone(),
            log_storage: database.log_folder.clone(),
            copies: None,
        })
        .collect()
}

/// The content of every folder once its databases are prepared.
pub(super) fn prepared(plan: &Plan) -> Result<BTreeMap<String, VolumeImage>, HostError> {
    let reactor = VirtualReactor::new();
    let (mut memory, mut volumes) = (BTreeMap::new(), Volumes::new());
    for folder in plan.databases.iter().flat_map(|of| [&of.folder, &of.log_folder]) {
        let volume = MemoryVolume::new(folder, &reactor, Latency::fixed(Nanos::ZERO));
        memory.insert(folder.clone(), volume.clone());
        volumes.insert(folder.clone(), Rc::new(volume));
    }
    let locations = locations(plan, &volumes);
    let executor = Executor::new(reactor);
    let runtime = executor.runtime();
    let own = plan.clone();
    let filling = async move {
        let targets = trial::prepare::preflight(&own, &locations).await?;
        let alone = Arc::new(Coordinator::new(1));
        let silent = Rc::new(|_| ()) as _;
        trial::prepare::prepare(&runtime, &own, targets, &alone, &silent).await
    };
    executor.block_on(filling).map_err(|error| HostError::new(error.to_string()))?;
    Ok(memory.iter().map(|(folder, volume)| (folder.clone(), volume.image())).collect())
}

#[cfg(test)]
mod tests {
    use plan::Plan;
    use simdisk::ArrayDescription;

    use super::SimulatedStorage;

    const SHELF: &str = include_str!("../../../../../arrays/shelf-15k.toml");

    /// Memory in MiB of the array under the first of four folders with a database of 160 MiB each,
    /// and the least read in microseconds.
    fn simulated(is_each_folder: bool, stretch: f64) -> (u64, u64) {
        let array = ArrayDescription::parse("shelf", SHELF, &[]).expect("an array that ships");
        let text = "[databases]\nfolders = [\"/a\", \"/b\", \"/c\", \"/d\"]\nsize = \"160MiB\"\n";
        let plan = Plan::parse("test", text).expect("a valid plan");
        let storage = SimulatedStorage { array, is_each_folder };
        let memory_mib = storage.simulated_array(&plan, "/a", stretch).cache.size_mib;
        (memory_mib, storage.least_read(&plan).0 / 1_000)
    }

    #[test]
    fn memory_shrinks_with_the_databases_on_the_same_array() {
        assert_eq!(simulated(false, 100.0).0, 13);
        assert_eq!(simulated(true, 100.0).0, 3);
        assert_eq!(simulated(true, 1.0).0, 512, "nothing shrinks, so the memory is whole");
    }

    #[test]
    fn memory_that_holds_the_databases_may_answer_every_read() {
        // 512 MiB of 640 MiB on one array, and of 160 MiB on each of four.
        assert_eq!((simulated(false, 1.0).1, simulated(true, 1.0).1), (439, 0));
    }
}
