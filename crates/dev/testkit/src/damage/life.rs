//! A running database, and the pages that it writes.

use std::rc::Rc;

use device::VolumeImage;
use engine::Database;
use ese::page::PageSize;
use units::{Bytes, Nanos, PageNumber, Seed};

use super::recorder::{Recorder, Writes};
use crate::crash::{Model, Script, work};
use crate::world::World;

pub(super) use crate::crash::FILE;

/// A running database; see the module.
pub(super) struct Life {
    world: World,
    script: Script,
    database: Database,
    model: Rc<Model>,
    writes: Writes,
    seed: Seed,
    stretches: u64,
}

/// Long sessions in a small cache, so that pages of every kind are written repeatedly.
fn script(seed: Seed) -> Script {
    let page_size = PageSize::KIB_32;
    Script {
        page_size,
        rows: 1_500,
        keys: 2_000,
        longest: 30_000,
        sessions: 4,
        transactions: 25,
        changes: 6,
        longest_pause: Nanos::from_millis(2),
        cache_pages: 128,
        checkpoint_depth: Bytes::from_mib(1),
        atomic_write_unit: page_size.bytes_u32(),
        ..Script::short(seed)
    }
}

impl Life {
    /// Opens a database; returns it, and its files from before the opening.
    pub(super) fn begin(seed: Seed) -> Result<(Self, VolumeImage), String> {
        let script = script(seed);
        let image = script.initial_image(seed);
        let spans = (Nanos::from_micros(20), Nanos::from_micros(300));
        let world = World::with_latency(&image, spans, seed);
        let writes = Writes::default();
        let recorder = Recorder { inner: world.volume(), writes: Rc::clone(&writes) };
        let (runtime, files) = (world.runtime(), Script::files(Rc::new(recorder)));
        let settings = script.settings(0);
        let opening = async move { Database::open(&runtime, files, settings, seed).await };
        let database = world.run(opening).map_err(|error| error.to_string())?;
        let model = Model::new(script.initial_rows());
        let life = Self { world, script, database, model, writes, seed, stretches: 0 };
        Ok((life, image))
    }

    /// Runs the sessions for one stretch; returns the pages written meanwhile, in order.
    pub(super) fn work(&mut self) -> Result<Vec<(PageNumber, Vec<u8>)>, String> {
        self.stretches += 1;
        let seed = self.seed.derive(self.stretches);
        let (runtime, script) = (self.world.runtime(), self.script.clone());
        let (database, model) = (self.database.clone(), Rc::clone(&self.model));
        self.world.run(async move { work(&runtime, &script, &database, &model, seed).await })?;
        let size = self.script.page_size;
        let writes = std::mem::take(&mut *self.writes.borrow_mut());
        let pages = writes.iter().flat_map(|(offset, bytes)| {
            let first = size.page_at(*offset);
            let first = first.expect("invariant: pages have numbers of 32 bits").0;
            let pages = bytes.chunks(size.bytes()).map(<[u8]>::to_vec);
            (first..).map(PageNumber).zip(pages)
        });
        Ok(pages.collect())
    }
}
