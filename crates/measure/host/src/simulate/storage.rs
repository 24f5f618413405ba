//! The volumes of a simulated run: prepared in memory in no time, then laid on arrays.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use device::{Executor, Latency, MemoryVolume, VirtualReactor, Volume, VolumeImage};
use plan::{Database, Plan};
use record::Simulation;
use simdisk::{ArrayDescription, ArrayShare, MemorySettling, SimulatedArray, room_of_image};
use trial::prepare::Complete;
use trial::run::{FlashCacheReading, StorageSettled};
use trial::{Coordinator, Location};
use units::{Bytes, Nanos, Seed};

use super::flash_cache;
use crate::error::HostError;

/// Space for a log whose oldest files are removed: the next ones reuse their space.
pub(super) const LOG_ROOM: u64 = 16 << 30;

/// The array, and the layout of folders on it.
#[derive(Clone, Debug)]
pub struct SimulatedStorage {
    /// The array.
    pub array: ArrayDescription,
    /// Whether every volume of the plan has a separate array.
    pub is_each_folder: bool,
}

/// A world in virtual time, its databases prepared.
pub(super) struct SimulatedWorld {
    /// Runs its tasks and moves its time.
    pub executor: Executor,
    /// Locations of the databases.
    pub locations: Vec<Location>,
    /// The arrays under them.
    pub arrays: Vec<SimulatedArray>,
}

impl SimulatedWorld {
    /// Returns a check of whether the memory of the arrays has settled; `None` if none of them
    /// keeps writes there.
    pub(super) fn settled(&self) -> Option<StorageSettled> {
        let arrays = self.arrays.clone();
        self.arrays[0].filled_memory()?;
        let settling = RefCell::new(MemorySettling::default());
        Some(Rc::new(move |now| {
            let filled = arrays.iter().filter_map(SimulatedArray::filled_memory).sum();
            settling.borrow_mut().is_settled(now, filled)
        }))
    }
}

impl SimulatedWorld {
    /// Returns a reader of the host's caches in front of the arrays; `None` if there are none.
    pub(super) fn flash_cache(&self) -> Option<FlashCacheReading> {
        let arrays = self.arrays.clone();
        let read =
            move || flash_cache::joined(arrays.iter().filter_map(SimulatedArray::host_cache));
        read().is_some().then(|| Rc::new(move || read().unwrap_or_default()) as FlashCacheReading)
    }
}

impl SimulatedStorage {
    /// Its description in a record, under the load of `plan`; seed and stretch are those of a run.
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

    /// Smallest mean latency of a random read that the physics of the arrays under `plan` allow.
    fn least_read(&self, plan: &Plan) -> Nanos {
        let places = plan.databases.iter().map(|of| Self::places_of(of)[0]);
        let of_each = places.map(|place| self.databases_bytes(plan, place));
        self.array.least_random_read(of_each.min().unwrap_or(0))
    }

    /// Bytes of the databases of `plan` on the array under `place`.
    fn databases_bytes(&self, plan: &Plan, place: &str) -> u64 {
        let there = { plan.databases.iter() }
            .filter(|of| !self.is_each_folder || Self::places_of(of)[0] == place);
        plan.size.0 * there.count() as u64
    }

    /// The arrays under `databases`, each with its full memory.
    pub(super) fn arrays<'a>(
        &self,
        databases: impl Iterator<Item = &'a Database>,
    ) -> Vec<ArrayDescription> {
        let count = if self.is_each_folder { Self::places(databases).len() } else { 1 };
        vec![self.array.clone(); count]
    }

    /// The places of a database and its log: volumes, each with its array or its part of the one
    /// array.
    pub(super) fn places_of(database: &Database) -> [&str; 2] {
        [&database.volume, &database.log_volume]
    }

    /// Returns the places of `databases`, in the order of their position on arrays.
    fn places<'a>(databases: impl Iterator<Item = &'a Database>) -> BTreeSet<&'a str> {
        databases.flat_map(Self::places_of).collect()
    }

    /// The folders of `databases` in each place.
    fn folders<'a>(databases: &[&'a Database]) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
        let mut all: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for database in databases {
            let folders = [&*database.folder, &*database.log_folder];
            for (place, folder) in Self::places_of(database).into_iter().zip(folders) {
                all.entry(place).or_default().insert(folder);
            }
        }
        all
    }

    /// The databases of `plan` at the positions `simulated`, prepared; each of their bytes
    /// represents `stretch` real ones.
    pub(super) fn world(
        &self,
        plan: &Plan,
        simulated: &[usize],
        stretch: f64,
        seed: Seed,
    ) -> Result<SimulatedWorld, HostError> {
        let databases: Vec<&Database> = simulated.iter().map(|&at| &plan.databases[at]).collect();
        let images = prepared(plan, &databases)?;
        let reactor = VirtualReactor::new();
        let shared = self.new_array(&reactor, seed)?;
        let (mut volumes, mut arrays) = (Volumes::new(), vec![shared.clone()]);
        let places: Vec<_> = Self::folders(&databases).into_values().collect();
        if self.is_each_folder {
            for (index, folders) in (0..).zip(&places) {
                let own = self.new_array(&reactor, seed.derive(index))?;
                self.fill(&own, stretch, (std::slice::from_ref(folders), &images), &mut volumes)?;
                arrays.push(own);
            }
        } else {
            self.fill(&shared, stretch, (&places, &images), &mut volumes)?;
        }
        for array in &arrays {
            array.warm();
        }
        let locations = locations(&databases, &volumes);
        Ok(SimulatedWorld { executor: Executor::new(reactor), locations, arrays })
    }

    /// Gives each of the places an equal part of the array, and their folders shares of it.
    fn fill(
        &self,
        array: &SimulatedArray,
        stretch: f64,
        (places, images): (&[BTreeSet<&str>], &BTreeMap<String, VolumeImage>),
        volumes: &mut Volumes,
    ) -> Result<(), HostError> {
        let each = array.capacity_bytes() / places.len() as u64;
        let mut number = 0;
        for (folders, begin) in places.iter().zip((0..).map(|place| place * each)) {
            let needs = folders.iter().map(|&of| room_of_image(&images[of], stretch) + LOG_ROOM);
            let mut base = begin;
            for (&folder, bytes) in folders.iter().zip(shares(each, needs.collect())) {
                let share = ArrayShare { number, base, bytes, stretch };
                self.refuse_too_small(&images[folder], share, folder)?;
                let volume = array.volume(folder, share, &images[folder]);
                volumes.insert(folder.to_owned(), Rc::new(volume));
                (number, base) = (number + 1, base + bytes);
            }
        }
        Ok(())
    }

    fn new_array(
        &self,
        reactor: &Rc<VirtualReactor>,
        seed: Seed,
    ) -> Result<SimulatedArray, HostError> {
        SimulatedArray::new(&self.array, reactor, seed)
            .map_err(|error| HostError::new(error.to_string()))
    }

    /// Refuses an array that has no space for a folder's databases.
    fn refuse_too_small(
        &self,
        image: &VolumeImage,
        share: ArrayShare,
        folder: &str,
    ) -> Result<(), HostError> {
        let bytes: u64 = image.files.values().map(device::FileImage::length).sum();
        let wanted = bytes as f64 * share.stretch;
        if wanted <= share.bytes as f64 {
            return Ok(());
        }
        let (name, room) = (&self.array.name, Bytes(share.bytes));
        let tebibytes = wanted / (1_u64 << 40) as f64;
        Err(HostError::new(format!(
            "{folder}: the databases of the plan take {tebibytes:.2} TiB there, and its share of \
             \"{name}\" is {room}; simulate more or larger disks, or smaller databases"
        )))
    }
}

/// Divides a part of an array among folders with these needs: one behind the other, as a file
/// system fills a volume, with the rest for the last one; evenly if there is not enough.
fn shares(part: u64, needs: Vec<u64>) -> Vec<u64> {
    let (all, count) = (needs.iter().sum::<u64>(), needs.len() as u64);
    if all > part {
        return vec![part / count; needs.len()];
    }
    let mut shares = needs;
    if let Some(last) = shares.last_mut() {
        *last += part - all;
    }
    shares
}

type Volumes = BTreeMap<String, Rc<dyn Volume>>;

fn locations(databases: &[&Database], volumes: &Volumes) -> Vec<Location> {
    databases
        .iter()
        .map(|&database| Location {
            plan: database.clone(),
            database: Rc::clone(&volumes[&database.folder]),
            log: Rc::clone(&volumes[&database.log_folder]),
            storage: database.folder.clone(),
            log_storage: database.log_folder.clone(),
            copies: None,
        })
        .collect()
}

/// The content of every folder of `databases`, a subset of those in `plan`, once prepared.
pub(super) fn prepared(
    plan: &Plan,
    databases: &[&Database],
) -> Result<BTreeMap<String, VolumeImage>, HostError> {
    let reactor = VirtualReactor::new();
    let (mut memory, mut volumes) = (BTreeMap::new(), Volumes::new());
    for folder in databases.iter().flat_map(|of| [&of.folder, &of.log_folder]) {
        let volume = MemoryVolume::new(folder, &reactor, Latency::fixed(Nanos::ZERO));
        memory.insert(folder.clone(), volume.clone());
        volumes.insert(folder.clone(), Rc::new(volume));
    }
    let locations = locations(databases, &volumes);
    let executor = Executor::new(reactor);
    let runtime = executor.runtime();
    let own = plan.clone();
    let filling = async move {
        let targets = trial::prepare::preflight(&own, &locations, Complete::Stays).await?;
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

    use super::{SimulatedStorage, shares};

    const SHELF: &str = include_str!("../../../../../arrays/shelf-15k.toml");

    /// The least read in microseconds of four folders with a database of 160 MiB each.
    fn least_read_us(is_each_folder: bool) -> u64 {
        let array = ArrayDescription::parse("shelf", SHELF, &[]).expect("an array that ships");
        let text = "[databases]\nfolders = [\"/a\", \"/b\", \"/c\", \"/d\"]\nsize = \"160MiB\"\n";
        let plan = Plan::parse("test", text).expect("a valid plan");
        SimulatedStorage { array, is_each_folder }.least_read(&plan).0 / 1_000
    }

    #[test]
    fn databases_on_one_volume_share_its_array() {
        let array = ArrayDescription::parse("shelf", SHELF, &[]).expect("an array that ships");
        let storage = SimulatedStorage { array, is_each_folder: true };
        let text = "[databases]\nfolders = [\"/1/a\", \"/1/b\", \"/2/c\"]\nsize = \"16MiB\"\n";
        let arrays = |volumes: &str| {
            let plan = Plan::parse("test", &format!("{text}{volumes}")).expect("a valid plan");
            let world = storage.world(&plan, &[0, 1, 2], 1.0, plan.seed).expect("room");
            let of_loads = storage.arrays(plan.databases.iter()).len();
            (world.arrays.len() - 1, of_loads, storage.databases_bytes(&plan, "/1") >> 20)
        };
        assert_eq!(arrays(""), (3, 3, 0));
        assert_eq!(arrays("volumes = [\"/1\", \"/2\"]\n"), (2, 2, 32));
    }

    #[test]
    fn folders_of_a_volume_are_one_behind_the_other_while_they_fit() {
        assert_eq!(shares(100, vec![100]), [100]);
        assert_eq!(shares(100, vec![20, 30]), [20, 80]);
        assert_eq!(shares(100, vec![90, 30]), [50, 50]);
    }

    #[test]
    fn memory_that_holds_the_databases_may_answer_every_read() {
        // The array's memory of 512 MiB for 640 MiB of databases, or for 160 MiB on each of four
        // arrays.
        assert_eq!((least_read_us(false), least_read_us(true)), (439, 0));
    }
}
