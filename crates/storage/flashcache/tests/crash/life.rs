//! One life: from the opening of the store to a power failure or a clean end.

use std::cell::Cell;
use std::rc::Rc;

use device::{
    Device, Executor, Latency, MemoryVolume, OpenMode, Purpose, Request, Runtime, VirtualReactor,
    Volume, VolumeImage,
};
use faults::{CrashOptions, CrashVolume};
use flashcache::{
    CacheStore, Cached, FlashCache, FormatOptions, PoolShare, RequestClass, StoreError, format,
};
use units::{Nanos, Prng, Seed};

use super::work::{self, Session};
use super::{BLOCK, FLASH, Tally, Twin, UNIT};

/// A life that takes longer than this is stuck.
const LONGEST: Nanos = Nanos::from_secs(3_600);

/// How a life ended, and the volume it left behind.
pub(crate) enum LifeEnding {
    Closed(VolumeImage),
    Crashed(VolumeImage),
}

/// Parameters of a life.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    seed: Seed,
    /// Power fails at this request; `None` if the life ends by closing the store.
    crash_at: Option<u64>,
    sessions: u64,
    steps: u64,
    writes: u32,
    hot_blocks: u64,
    /// Percentage of blocks that are compared before the work begins.
    compared: u32,
    /// Number of flash bits that are flipped after a failure.
    rot: u64,
}

impl Life {
    /// A life drawn from `prng`. The last one ends cleanly, and compares every block.
    pub(crate) fn drawn(prng: &mut Prng, seed: Seed, is_last: bool) -> Self {
        let most = pick(prng, [60, 600, 2_000]);
        let crash_at = (!is_last && prng.percent(85)).then(|| 1 + prng.below(most));
        Self {
            seed,
            crash_at,
            sessions: 1 << prng.below(3),
            steps: if is_last { 40 } else { 100 + prng.below(500) },
            writes: pick(prng, [10, 35, 80]),
            hot_blocks: 20 + prng.below(200),
            compared: if is_last { 100 } else { pick(prng, [0, 10, 100]) },
            rot: if prng.percent(20) { 1 + prng.below(40) } else { 0 },
        }
    }

    /// Runs the life on the image that an earlier one left.
    pub(crate) fn run(
        &self,
        image: &VolumeImage,
        twin: &Rc<Twin>,
        tally: &mut Tally,
    ) -> Result<LifeEnding, String> {
        let reactor = VirtualReactor::new();
        let latency =
            Latency::spread(Nanos::from_micros(20), Nanos::from_micros(300), self.seed.derive(1));
        let memory = MemoryVolume::of("storage", &reactor, latency, image);
        let executor = Executor::new(reactor);
        let power = CrashOptions { at_request: self.crash_at, ..CrashOptions::default() };
        let crash = CrashVolume::new(Rc::new(memory.clone()), image, power);
        let (runtime, seen) = (executor.runtime(), Rc::<Cell<Tally>>::default());
        drop(runtime.spawn(watch(runtime.clone(), self.seed)));
        let task = live(*self, runtime, Rc::new(crash.clone()), Rc::clone(twin), Rc::clone(&seen));
        let outcome = crash.run(&executor, task);
        tally.add(&seen.get());
        match outcome {
            Some(Ok(())) => {
                tally.closed += 1;
                Ok(LifeEnding::Closed(memory.image()))
            }
            Some(Err(problem)) => Err(problem),
            None => {
                tally.crashes += 1;
                tally.in_recovery += u64::from(seen.get() == Tally::default());
                Ok(LifeEnding::Crashed(crash.survivors(self.seed.derive(2))))
            }
        }
    }

    /// The image with some bits of the flash flipped.
    pub(crate) fn with_rot(
        &self,
        mut image: VolumeImage,
        twin: &Twin,
        prng: &mut Prng,
    ) -> VolumeImage {
        let flash = image.files.get_mut("cache");
        if let Some(flash) = flash.filter(|flash| flash.length() > 0) {
            twin.rots(self.rot > 0);
            for _ in 0..self.rot {
                let at = prng.below(flash.length());
                let mut byte = [0];
                flash.read(at, &mut byte);
                flash.write(at, &[byte[0] ^ 1 << prng.below(8)]);
            }
        }
        image
    }
}

fn pick<T: Copy>(prng: &mut Prng, choices: [T; 3]) -> T {
    choices[usize::try_from(prng.below(3)).expect("invariant: below 3")]
}

async fn watch(runtime: Runtime, seed: Seed) {
    runtime.sleep(LONGEST).await;
    panic!("{seed}: still at work after an hour");
}

async fn open(volume: &Rc<dyn Volume>, file: &str, length: u64) -> Result<Rc<dyn Device>, String> {
    let files = volume.list().await.map_err(|error| error.to_string())?;
    let there = files.iter().any(|entry| entry.name == file && entry.length == length);
    if !there {
        drop(volume.remove(file).await);
    }
    let mode = if there { OpenMode::ReadWrite } else { OpenMode::CreateNew { length } };
    volume.open(file, mode).await.map_err(|error| error.to_string())
}

async fn open_store(
    flash: Rc<dyn Device>,
    runtime: &Runtime,
    life: Life,
    (tally, has_rot): (&mut Tally, bool),
) -> Result<CacheStore, String> {
    let opened = CacheStore::open(Rc::clone(&flash), runtime).await;
    let (store, recovery) = match opened {
        Ok(opened) => opened,
        Err(error @ (StoreError::Foreign { .. } | StoreError::Damaged { .. })) => {
            tally.lost_stores += u64::from(matches!(error, StoreError::Damaged { .. }));
            let block_bytes = u32::try_from(BLOCK).expect("invariant: 32 KiB");
            // Never repeats: groups of the previous store are still on the flash.
            let mut identity = [0; 16];
            Prng::new(life.seed.derive(4)).fill(&mut identity);
            let options = FormatOptions { block_bytes, identity, force: true };
            format(&flash, options).await.map_err(|error| error.to_string())?;
            CacheStore::open(flash, runtime).await.map_err(|error| error.to_string())?
        }
        Err(error) => return Err(format!("the store does not open: {error}")),
    };
    if recovery.checkpoint_damaged && !has_rot {
        return Err("a power failure alone has damaged the checkpoint".to_owned());
    }
    if !recovery.was_clean {
        tally.warm_blocks += recovery.blocks;
        tally.dropped_blocks += recovery.blocks_dropped;
        tally.replayed += recovery.groups_replayed;
    }
    Ok(store)
}

async fn live(
    life: Life,
    runtime: Runtime,
    volume: Rc<dyn Volume>,
    twin: Rc<Twin>,
    seen: Rc<Cell<Tally>>,
) -> Result<(), String> {
    let mut tally = Tally::default();
    let backing = open(&volume, "volume", twin.length()).await?;
    let flash = open(&volume, "cache", FLASH).await?;
    let store = open_store(flash, &runtime, life, (&mut tally, twin.has_rot())).await?;
    seen.set(tally);
    let cache = FlashCache::new(store.clone(), None);
    let cached = Cached::new(&cache, backing, ("volume", 0), PoolShare::default()).await;
    let worked = work(life, &runtime, &cached, &twin).await;
    let counters = store.status().counters;
    tally.hits = RequestClass::ALL.into_iter().map(|class| cache.class(class).hits).sum();
    tally.evicted = counters.evicted;
    tally.moved = counters.moved;
    tally.checkpoints = counters.checkpoints;
    tally.damaged = counters.damaged;
    seen.set(tally);
    worked?;
    let covered = twin.flush_begins();
    let flushed = cached.submit(Request::flush(Purpose::Database)).await.result;
    flushed.map_err(|error| format!("the last flush fails: {error}"))?;
    twin.flushed(&covered);
    store.close().await.map_err(|error| format!("the store does not close: {error}"))
}

async fn work(
    life: Life,
    runtime: &Runtime,
    cached: &Cached,
    twin: &Rc<Twin>,
) -> Result<(), String> {
    let mut prng = Prng::new(life.seed.derive(3));
    for block in 0..twin.length() / BLOCK {
        if prng.percent(life.compared) {
            work::read(cached, twin, block * (BLOCK / UNIT), BLOCK / UNIT).await?;
        }
    }
    let mut sessions = Vec::new();
    for number in 0..life.sessions {
        let session = Session {
            number,
            sessions: life.sessions,
            steps: life.steps / life.sessions,
            writes: life.writes,
            hot_blocks: life.hot_blocks,
            volume: cached.clone(),
            twin: Rc::clone(twin),
            runtime: runtime.clone(),
        };
        sessions.push(runtime.spawn(session.work(life.seed.derive(10 + number))));
    }
    for session in sessions {
        session.await?;
    }
    Ok(())
}
