//! What the sessions of one life do to the volume.

use std::rc::Rc;

use device::{Device, Durability, Purpose, Request, Runtime};
use flashcache::Cached;
use units::{Nanos, Prng, Seed};

use super::{BLOCK, Twin, UNIT};

/// Units of a block.
const UNITS: u64 = BLOCK / UNIT;

/// One of the sessions. Odd blocks belong to one session each; even ones are shared, and of those
/// each session uses some units.
pub(crate) struct Session {
    pub(crate) number: u64,
    pub(crate) sessions: u64,
    pub(crate) steps: u64,
    /// Percentage of requests that are writes.
    pub(crate) writes: u32,
    /// Blocks that most requests go to.
    pub(crate) hot_blocks: u64,
    pub(crate) volume: Cached,
    pub(crate) twin: Rc<Twin>,
    pub(crate) runtime: Runtime,
}

impl Session {
    /// Works until all steps are done or something is wrong.
    pub(crate) async fn work(self, seed: Seed) -> Result<(), String> {
        let mut prng = Prng::new(seed);
        for _ in 0..self.steps {
            if prng.percent(3) {
                self.flush().await?;
            }
            if prng.percent(1) {
                self.runtime.sleep(Nanos::from_millis(prng.below(20))).await;
            }
            let (first, count) = self.draw(&mut prng);
            if prng.percent(self.writes) {
                self.write(first, count, prng.percent(20)).await?;
            } else {
                self.read(first, count).await?;
            }
        }
        Ok(())
    }

    /// Units that no other session touches: a part of a shared block, or a private one.
    fn draw(&self, prng: &mut Prng) -> (u64, u64) {
        let blocks = self.twin.length() / BLOCK;
        let hot = prng.percent(70);
        let block = prng.below(if hot { self.hot_blocks.min(blocks) } else { blocks });
        if block % 2 == 1 {
            let own = block / 2 / self.sessions * self.sessions + self.number;
            let block = own * 2 + 1;
            if block < blocks {
                return (block * UNITS, UNITS);
            }
        }
        let unit = prng.below(UNITS / self.sessions) * self.sessions + self.number;
        (block / 2 * 2 * UNITS + unit, 1)
    }

    async fn write(&self, first: u64, count: u64, durable: bool) -> Result<(), String> {
        let bytes = self.twin.begin(first, count);
        let durability = if durable { Durability::Durable } else { Durability::Volatile };
        let write = Request::write(Purpose::Database, first * UNIT, bytes, durability);
        let written = self.volume.submit(write).await.into_buffer();
        let bytes = written.map_err(|error| format!("a write fails: {error}"))?;
        self.twin.acknowledged(first, &bytes, durable);
        Ok(())
    }

    async fn read(&self, first: u64, count: u64) -> Result<(), String> {
        read(&self.volume, &self.twin, first, count).await
    }

    async fn flush(&self) -> Result<(), String> {
        let covered = self.twin.flush_begins();
        let flushed = self.volume.submit(Request::flush(Purpose::Database)).await.result;
        flushed.map_err(|error| format!("a flush fails: {error}"))?;
        self.twin.flushed(&covered);
        Ok(())
    }
}

/// Reads some units and compares them with the twin.
pub(crate) async fn read(
    volume: &Cached,
    twin: &Twin,
    first: u64,
    count: u64,
) -> Result<(), String> {
    let length = usize::try_from(count * UNIT).expect("invariant: a few units");
    let read = Request::read(Purpose::Database, first * UNIT, length);
    let bytes = volume.submit(read).await.into_buffer();
    let bytes = bytes.map_err(|error| format!("a read fails: {error}"))?;
    twin.check(first, &bytes)
}
