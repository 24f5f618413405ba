//! The cache on flash of a plan: its file, opened or made, in front of the databases of a run.
//!
//! Blocks of an earlier run are used only for files that nothing else has written to: the time of
//! a file's last change is noted when a run ends, and compared when the next one begins.

use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::time::UNIX_EPOCH;

use device::{Device, OpenMode, Volume};
use device_os::World;
use flashcache::{
    CacheHealth, CacheStore, CachedVolume, FlashCache, FormatOptions, RequestClass, StoreError,
};
use plan::{FlashCachePlan, Plan};
use record::FlashCacheInterval;
use trial::Location;
use trial::run::FlashCacheReading;
use units::{Bytes, Prng, Seed};

use crate::error::HostError;
use crate::simulate::recorded;
use crate::target::{self, RawTarget};
use crate::wire;

/// The cache of a run, for the thread that opened it.
#[derive(Clone)]
pub(crate) struct RunCache {
    cache: FlashCache,
    plan: FlashCachePlan,
}

impl RunCache {
    /// Opens the cache of `plan`, or creates its file; `None` if the plan has none. The returned
    /// text describes its contents.
    pub(crate) fn open(world: &World, plan: &Plan) -> Result<Option<(Self, String)>, HostError> {
        let Some(cache) = &plan.flash_cache else {
            return Ok(None);
        };
        let block = u32::try_from(plan.page_size.0).expect("invariant: 32 KiB at most");
        let device = file(world, cache, block)?;
        let runtime = world.executor().runtime();
        let opening = async move { CacheStore::open(device, &runtime).await };
        let opened = world.executor().block_on(opening);
        let (store, _) = opened.map_err(|error| unusable(cache, &error))?;
        let words = format!(
            "flash cache {}: {} of {} cached from earlier runs",
            cache.file,
            Bytes(usable_blocks(&store) * u64::from(store.block_bytes())),
            cache.size
        );
        let cache = Self { cache: FlashCache::new(store, cache.write_limit), plan: cache.clone() };
        Ok(Some((cache, words)))
    }

    /// Locations of the given databases of `plan`, opened for the calling thread, behind the cache.
    pub(crate) fn locations(
        &self,
        world: &World,
        plan: &Plan,
        databases: &[plan::Database],
    ) -> Result<Vec<Location>, HostError> {
        let mut locations = wire::locations(world, plan, databases)?;
        for location in &mut locations {
            let Location { plan: of, database, log, .. } = location;
            *database = self.in_front_of(Rc::clone(database), &of.folder);
            // Logs beside a database are not cached: their files come and go under new names.
            if of.log_folder != of.folder {
                *log = self.in_front_of(Rc::clone(log), &of.log_folder);
            }
        }
        Ok(locations)
    }

    /// Puts the volume at `folder` behind the cache, if the plan says so.
    fn in_front_of(&self, volume: Rc<dyn Volume>, folder: &str) -> Rc<dyn Volume> {
        if !self.plan.folders.iter().any(|of| of == folder) {
            return volume;
        }
        let path = folder.to_owned();
        let stamps = Rc::new(move |file: &str| stamp(&Path::new(&path).join(file)));
        Rc::new(CachedVolume::stamped(volume, &self.cache, stamps))
    }

    /// Path of its file.
    pub(crate) fn file(&self) -> String {
        self.plan.file.clone()
    }

    /// Reads its counters.
    pub(crate) fn reading(&self) -> FlashCacheReading {
        let cache = self.cache.clone();
        Rc::new(move || reading(&cache))
    }

    /// Ends the session and records the modification time of each file, so that the next session
    /// can use its blocks.
    pub(crate) fn close(&self, world: &World) -> Result<(), HostError> {
        let store = self.cache.store();
        for volume in store.status().volumes {
            store.restamp(&volume.name, stamp(Path::new(&volume.name)));
        }
        let store = store.clone();
        Ok(world.executor().block_on(async move { store.close().await })?)
    }
}

/// Counts the cached blocks of files that nothing else has written to. Blocks of other files are
/// dropped when the file is opened.
fn usable_blocks(store: &CacheStore) -> u64 {
    let volumes = store.status().volumes.into_iter();
    let unchanged = volumes.filter(|of| of.stamp == stamp(Path::new(&of.name)));
    unchanged.map(|of| of.blocks).sum()
}

/// The file of the cache, formatted if it is new.
fn file(
    world: &World,
    plan: &FlashCachePlan,
    block_bytes: u32,
) -> Result<Rc<dyn Device>, HostError> {
    let path = Path::new(&plan.file);
    let (folder, name) = parts(path)?;
    if path.exists() {
        let opened = world.volume(folder)?.open(name, OpenMode::ReadWrite);
        let device = world.executor().block_on(opened)?;
        let is_as_planned = device.length() == length_of(plan);
        return if is_as_planned { Ok(device) } else { Err(other_size(plan, &*device)) };
    }
    let device = create(world, (folder, name), plan)?;
    let formatted = Rc::clone(&device);
    let identity = identity(world);
    let options = FormatOptions { block_bytes, identity, force: false };
    world
        .executor()
        .block_on(async move { flashcache::format(&formatted, options).await })
        .map_err(|error| {
            // The new file is useless; only the original error matters.
            let _ = fs::remove_file(path);
            unusable(plan, &error)
        })?;
    Ok(device)
}

/// Rounds the size in the plan to whole sectors.
const fn length_of(plan: &FlashCachePlan) -> u64 {
    plan.size.0 / 4_096 * 4_096
}

fn parts(path: &Path) -> Result<(&Path, &str), HostError> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.filter(|_| RawTarget::of(path).is_none()).ok_or_else(|| {
        HostError::new(format!(
            "{}: [cache] file must be a file in a folder on flash, not a device",
            path.display()
        ))
    })?;
    Ok((folder.unwrap_or_else(|| Path::new(".")), name))
}

fn create(
    world: &World,
    (folder, name): (&Path, &str),
    plan: &FlashCachePlan,
) -> Result<Rc<dyn Device>, HostError> {
    let volume = wire::volume(world, folder)?;
    let free = world.executor().block_on(volume.free_bytes())?;
    if free < plan.size.0 {
        return Err(HostError::new(format!(
            "{}: a cache of {} has no room: {} are free; make [cache] size smaller, or name \
             another file",
            plan.file,
            plan.size,
            Bytes(free)
        )));
    }
    let opened = volume.open(name, OpenMode::CreateNew { length: length_of(plan) });
    Ok(world.executor().block_on(opened)?)
}

fn other_size(plan: &FlashCachePlan, device: &dyn Device) -> HostError {
    HostError::new(format!(
        "{}: is {} long, and [cache] size says {}: give its size, or remove it to begin anew",
        plan.file,
        Bytes(device.length()),
        plan.size
    ))
}

fn unusable(plan: &FlashCachePlan, error: &StoreError) -> HostError {
    match error {
        StoreError::Foreign { .. } | StoreError::HoldsSomething { .. } => HostError::new(format!(
            "{}: exists and is no flash cache; it was left as it is: give [cache] another file",
            plan.file
        )),
        error => HostError::new(error.to_string()),
    }
}

/// Returns an identity for a new store, drawn from the time and the process id so that the stores
/// of one machine differ.
fn identity(world: &World) -> [u8; 16] {
    let runtime = world.executor().runtime();
    let now = runtime.clock().epoch() + runtime.now();
    let mut identity = [0; 16];
    Prng::new(Seed(now.0 ^ u64::from(std::process::id()) << 40)).fill(&mut identity);
    identity
}

/// Returns a file's modification time. On storage without one, a number unique to this session, so
/// that nothing is reused.
fn stamp(path: &Path) -> u64 {
    let changed = fs::metadata(path).and_then(|of| of.modified()).ok();
    let changed = changed.filter(|_| RawTarget::of(path).is_none());
    let time = changed.unwrap_or_else(std::time::SystemTime::now);
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    u64::try_from(since).unwrap_or(u64::MAX)
}

fn reading(cache: &FlashCache) -> FlashCacheInterval {
    let status = cache.store().status();
    let block = u64::from(cache.store().block_bytes());
    FlashCacheInterval {
        database: recorded(cache.class(RequestClass::Database)),
        log: recorded(cache.class(RequestClass::Log)),
        sequential: recorded(cache.class(RequestClass::Sequential)),
        flash_bytes_written: status.counters.flash_bytes_written,
        capacity_bytes: status.capacity_blocks * block,
        cached_bytes: status.cached_blocks * block,
        failure: match &status.health {
            CacheHealth::Failed { .. } => Some(status.health.to_string()),
            CacheHealth::Working | CacheHealth::Closed => None,
        },
    }
}

/// Returns why a cache is useless: its file is on a device that also holds a database behind it.
pub(crate) fn shared_device(plan: &Plan) -> Option<String> {
    let cache = plan.flash_cache.as_ref()?;
    let (folder, _) = parts(Path::new(&cache.file)).ok()?;
    let own = target::facts(folder).ok()?.source;
    let same = cache
        .folders
        .iter()
        .find(|cached| target::facts(Path::new(cached)).is_ok_and(|facts| facts.source == own))?;
    Some(format!(
        "the flash cache {} is on {own}, as the database in {same} that it should make faster; \
         put its file on flash of its own",
        cache.file
    ))
}
