//! The work of a crash run as a function of its seed: small enough to run thousands, varied enough
//! to split and merge pages, evict, roll logs over and delete.

use std::collections::BTreeMap;
use std::rc::Rc;

use device::{Volume, VolumeImage};
use engine::bulk::{Amount, BulkOptions, load};
use engine::{DatabaseFiles, Settings};
use ese::log_file::SegmentSize;
use ese::page::PageSize;
use ese::{LogTime, Signature};
use units::{Bytes, Nanos, Prng, Seed};

use crate::messages::{MessageRow, RowList};
use crate::world::World;
use trial::messages::definition;

/// Bytes that every disk writes atomically.
const SECTOR_BYTES: u32 = 512;

/// Name of the database file.
pub(crate) const FILE: &str = "mail.edb";

/// Maximum number of changes in a script whose long values may be of the longest kind. Without this
/// bound one script in thirty takes as long as all the others.
const MOST_LONG_CHANGES: u32 = 100;

/// Maximum length of a long value, in bytes, in a script with this many changes.
fn longest(prng: &mut Prng, changes: u32) -> u32 {
    let many = changes > MOST_LONG_CHANGES;
    pick(prng, if many { &[100, 100, 3_000] } else { &[100, 3_000, 30_000] })
}

fn pick(prng: &mut Prng, choices: &[u32]) -> u32 {
    let index = prng.below(choices.len() as u64);
    choices[usize::try_from(index).expect("invariant: an index of the choices")]
}

/// The shape of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Seed of the rows' content.
    pub seed: Seed,
    /// Size of the database's pages.
    pub page_size: PageSize,
    /// Number of rows that the fill inserts.
    pub rows: u32,
    /// Maximum message number; the minimum is 1.
    pub keys: u32,
    /// Longest long value in bytes.
    pub longest: u32,
    /// Number of concurrent sessions.
    pub sessions: u32,
    /// Number of transactions of each session in one stretch of work.
    pub transactions: u32,
    /// Maximum number of changes in one transaction.
    pub changes: u32,
    /// Maximum pause of a session, between transactions and within them. Long pauses cost nothing
    /// in virtual time, and let the checkpoint advance.
    pub longest_pause: Nanos,
    /// Size of the cache in pages.
    pub cache_pages: u32,
    /// Bytes of log by which the checkpoint lags.
    pub checkpoint_depth: Bytes,
    /// Unit in which a power failure leaves database writes whole, in bytes: a sector or a page. If
    /// pages can be torn and the log does not hold them whole, recovery may refuse and name the
    /// page; it may never continue as if nothing were wrong.
    pub atomic_write_unit: u32,
    /// Whether the log holds whole pages, so that recovery must rebuild torn ones.
    pub log_whole_pages: bool,
    /// Segment length of the log. If `None`, it changes each time the database is opened, as for a
    /// database that is moved.
    pub log_segment: Option<SegmentSize>,
}

impl Script {
    /// Creates the script of a seed.
    pub(crate) fn of(seed: Seed) -> Self {
        let mut prng = Prng::new(seed.derive(0x5C71));
        let page_size = match pick(&mut prng, &[4, 4, 4, 8, 32]) {
            4 => PageSize::KIB_4,
            8 => PageSize::KIB_8,
            _ => PageSize::KIB_32,
        };
        let whole = page_size.bytes_u32();
        let atomic_write_unit = pick(&mut prng, &[whole, whole, whole, whole, SECTOR_BYTES]);
        let sessions = pick(&mut prng, &[1, 2, 4]);
        let transactions = pick(&mut prng, &[5, 10, 20]);
        let changes = pick(&mut prng, &[2, 6, 16]);
        Self {
            seed,
            page_size,
            rows: pick(&mut prng, &[0, 20, 200]),
            keys: pick(&mut prng, &[10, 60, 400]),
            longest: longest(&mut prng, sessions * transactions * changes),
            sessions,
            transactions,
            changes,
            longest_pause: Nanos::from_millis(u64::from(pick(&mut prng, &[2, 2, 30]))),
            cache_pages: pick(&mut prng, &[48, 64, 256]),
            checkpoint_depth: Bytes::from_kib(u64::from(pick(&mut prng, &[4, 64, 4_096]))),
            atomic_write_unit,
            log_whole_pages: atomic_write_unit < whole && pick(&mut prng, &[0, 1]) == 1,
            log_segment: None,
        }
    }

    /// A script with few transactions, for tests that fail power at every request.
    pub(crate) fn short(seed: Seed) -> Self {
        Self {
            seed,
            page_size: PageSize::KIB_4,
            rows: 6,
            keys: 24,
            longest: 5_000,
            sessions: 2,
            transactions: 6,
            changes: 4,
            longest_pause: Nanos::from_millis(30),
            cache_pages: 48,
            checkpoint_depth: Bytes::from_kib(4),
            atomic_write_unit: PageSize::KIB_4.bytes_u32(),
            log_whole_pages: false,
            log_segment: None,
        }
    }

    /// Bytes of a write to `file` that are written whole or not at all. Logs are always torn by
    /// sectors: their own checksums must suffice.
    pub(super) fn atomic_unit_of(&self, file: &str) -> u32 {
        if file == FILE { self.atomic_write_unit } else { SECTOR_BYTES }
    }

    fn drawn_segment(&self, life: u64) -> SegmentSize {
        let mut prng = Prng::new(self.seed.derive(0x5E6).derive(life));
        if prng.percent(70) { SegmentSize::Bytes512 } else { SegmentSize::Bytes4096 }
    }

    /// Whether a power failure may tear a page that only a backup can restore.
    pub(super) fn may_refuse(&self) -> bool {
        self.atomic_write_unit < self.page_size.bytes_u32() && !self.log_whole_pages
    }

    /// Rows that exist at the start of a script: key and version.
    pub(crate) fn initial_rows(&self) -> BTreeMap<i64, i32> {
        let last = i64::from(self.rows.min(self.keys));
        (1..=last).map(|id| (id, 0)).collect()
    }

    /// The content of a row; key and version determine its sizes too.
    pub(super) fn row(&self, id: i64, version: i32) -> MessageRow {
        let stream = self.seed.derive(id.cast_unsigned());
        let mut prng = Prng::new(stream.derive(u64::from(version.cast_unsigned()) << 8));
        let bytes = prng.below(u64::from(self.longest)) + 1;
        let bytes = usize::try_from(bytes).expect("invariant: long values are short here");
        MessageRow::make(self.seed, id, version, bytes)
    }

    /// The files of a database after the fill.
    pub(crate) fn initial_image(&self, seed: Seed) -> VolumeImage {
        let world = World::new();
        let (runtime, volume) = (world.runtime(), world.volume());
        let random = Prng::new(seed.derive(0x519)).below(1 << 32);
        let random = u32::try_from(random).expect("invariant: below 2^32");
        let options = BulkOptions {
            page_size: self.page_size,
            amount: Amount::Rows(u64::MAX),
            ..BulkOptions::new(definition(), Signature::new(random, LogTime::NEVER))
        };
        let rows = self.initial_rows();
        let mut rows = RowList::new(rows.iter().map(|(&id, &version)| self.row(id, version)));
        let filled = world
            .run(async move { load(&runtime, &volume, FILE, &options, &mut rows, |_| {}).await });
        filled.expect("a fill in memory succeeds");
        world.image()
    }

    /// The database's files in `volume`.
    pub(crate) fn files(volume: Rc<dyn Volume>) -> DatabaseFiles {
        DatabaseFiles {
            database: Rc::clone(&volume),
            file: FILE.to_owned(),
            log: volume,
            log_base: "E00".to_owned(),
        }
    }

    /// Settings for opening number `life` of the database.
    pub(crate) fn settings(&self, life: u64) -> Settings {
        let cache = Bytes(self.page_size.bytes_u64() * u64::from(self.cache_pages));
        Settings {
            cache_minimum: cache,
            cache_maximum: cache,
            checkpoint_depth: self.checkpoint_depth,
            log_whole_pages: self.log_whole_pages,
            log_segment: Some(self.log_segment.unwrap_or_else(|| self.drawn_segment(life))),
            ..Settings::default()
        }
    }
}
