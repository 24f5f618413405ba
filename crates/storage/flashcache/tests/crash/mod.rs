//! The crash loop of the cache: random work in virtual time, power failing at any request to the
//! volume or to the flash, and a twin that knows what every read must return.
//!
//! Volume and flash lie in one folder, so that one failure cuts both at one moment; each write that
//! was not durable independently survives, is torn or is lost. After every failure the volume must
//! hold every acknowledged durable write, and reads through the cache must return what the volume
//! holds. Some lives also lose bits of the flash.

mod life;
mod twin;
mod work;

use std::fmt;

use device::VolumeImage;
use units::{Prng, Seed};

pub(crate) use life::{Life, LifeEnding};
pub(crate) use twin::Twin;

/// Bytes of a cache block.
pub(crate) const BLOCK: u64 = 32 << 10;

/// Bytes of the smallest request.
pub(crate) const UNIT: u64 = 4 << 10;

/// Bytes of flash: 19 segments of one group.
pub(crate) const FLASH: u64 = 10 << 20;

/// Events of the loop, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) crashes: u64,
    /// Power failures before the store was open.
    pub(crate) in_recovery: u64,
    /// Clean ends.
    pub(crate) closed: u64,
    /// Blocks that were warm after a failure.
    pub(crate) warm_blocks: u64,
    /// Blocks that recovery dropped.
    pub(crate) dropped_blocks: u64,
    /// Groups that recovery replayed.
    pub(crate) replayed: u64,
    /// Requests for reads that flash answered.
    pub(crate) hits: u64,
    pub(crate) evicted: u64,
    /// Blocks copied by reclaim.
    pub(crate) moved: u64,
    pub(crate) checkpoints: u64,
    /// Damaged blocks that were noticed.
    pub(crate) damaged: u64,
    /// Stores that had to be formatted again, because both superblocks were damaged.
    pub(crate) lost_stores: u64,
    /// Units whose last durable version was compared after a failure.
    pub(crate) durable_units: u64,
}

impl Tally {
    /// Adds the counts of another run.
    pub(crate) fn add(&mut self, other: &Self) {
        self.crashes += other.crashes;
        self.in_recovery += other.in_recovery;
        self.closed += other.closed;
        self.warm_blocks += other.warm_blocks;
        self.dropped_blocks += other.dropped_blocks;
        self.replayed += other.replayed;
        self.hits += other.hits;
        self.evicted += other.evicted;
        self.moved += other.moved;
        self.checkpoints += other.checkpoints;
        self.damaged += other.damaged;
        self.lost_stores += other.lost_stores;
        self.durable_units += other.durable_units;
    }
}

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    seed: u64,
    life: u64,
    problem: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, life, problem } = self;
        write!(
            f,
            "seed {seed}, life {life}: {problem}\n\
             reproduce with: cargo run -p flashcache --example crash -- --first {seed} --seeds 1"
        )
    }
}

/// Runs the lives of one seed.
pub(crate) fn run(seed: u64) -> Result<Tally, Broken> {
    let mut prng = Prng::new(Seed(seed).derive(0xCAC4E));
    let mut tally = Tally::default();
    let twin = Twin::new(256 + 256 * prng.below(3));
    let mut image = VolumeImage::default();
    let lives = 3 + prng.below(4);
    for number in 0..=lives {
        let broken = |problem| Broken { seed, life: number, problem };
        let life = Life::drawn(&mut prng, Seed(seed).derive(number), number == lives);
        let ending = life.run(&image, &twin, &mut tally).map_err(broken)?;
        image = match ending {
            LifeEnding::Closed(after) => after,
            LifeEnding::Crashed(after) => {
                if let Some(volume) = after.files.get("volume") {
                    tally.durable_units += twin.adopt(volume).map_err(broken)?;
                }
                life.with_rot(after, &twin, &mut prng)
            }
        };
    }
    Ok(tally)
}
