//! Measures the policy: the gain from bypassing scans, the cost of a checksum run in between, and
//! how far the store, which evicts whole segments, falls short of the exact policy.

use std::collections::{BTreeMap, HashMap};

use crate::support::World;
use device::{OpenMode, Purpose, Request};
use flashcache::{
    CacheStore, Cached, Classifier, FlashCache, FormatOptions, IoDirection, PoolShare,
    RequestClass, Route, ShadowCache, ShadowRead, format,
};
use units::{Bytes, Nanos, Prng, Seed};

const PAGE: u64 = 32 << 10;

/// Draws pages by a power law: the n-th most popular as often as `1 / n^theta`.
struct Zipf {
    sums: Vec<f64>,
    prng: Prng,
}

impl Zipf {
    fn new(pages: u64, theta: f64, seed: u64) -> Self {
        let mut sum = 0.0;
        let mut sums = Vec::new();
        for rank in 1..=pages {
            sum += 1.0 / (rank as f64).powf(theta);
            sums.push(sum);
        }
        Self { sums, prng: Prng::new(Seed(seed)) }
    }

    /// Draws a page. Ranks are scattered, so that popular pages are not neighbours.
    fn draw(&mut self) -> u64 {
        let pages = self.sums.len() as u64;
        let at = self.prng.below(1 << 52) as f64 / (1_u64 << 52) as f64;
        let wanted = at * self.sums[self.sums.len() - 1];
        let rank = self.sums.partition_point(|sum| *sum < wanted) as u64;
        rank * 7_919 % pages
    }
}

/// Offset and length of a read, in bytes.
type Read = (u64, u64);

/// Random page reads of a database, with its background scan (one read of 256 KiB for three pages)
/// and backups that read all of it.
fn mail_mix(pages: u64, reads: u64) -> Vec<Read> {
    let mut zipf = Zipf::new(pages, 0.9, 1);
    let (mut scan, mut mix) = (0, Vec::new());
    for step in 0..reads {
        mix.push((zipf.draw() * PAGE, PAGE));
        if step % 3 == 0 {
            mix.push((scan, 8 * PAGE));
            scan = (scan + 8 * PAGE) % (pages / 8 * 8 * PAGE);
        }
        if step % (reads / 3) == reads / 6 {
            mix.extend((0..pages / 8).map(|number| (number * 8 * PAGE, 8 * PAGE)));
        }
    }
    mix
}

/// Least recently used, for comparison.
struct Lru {
    capacity: usize,
    clock: u64,
    used: HashMap<u64, u64>,
    order: BTreeMap<u64, u64>,
}

impl Lru {
    fn touch(&mut self, page: u64) -> bool {
        self.clock += 1;
        let before = self.used.get(&page).copied();
        if let Some(before) = before {
            self.order.remove(&before);
            self.used.insert(page, self.clock);
            self.order.insert(self.clock, page);
        }
        before.is_some()
    }

    fn admit(&mut self, page: u64) {
        if self.used.len() >= self.capacity
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.used.remove(&oldest);
        }
        self.used.insert(page, self.clock);
        self.order.insert(self.clock, page);
    }
}

/// Hit ratio of the page reads of a mix in an LRU cache that bypasses scans, or not.
fn lru_ratio(mix: &[Read], capacity: usize, bypasses: bool) -> f64 {
    let mut lru = Lru { capacity, clock: 0, used: HashMap::new(), order: BTreeMap::new() };
    let mut classifier = Classifier::default();
    let (mut reads, mut hits) = (0.0, 0.0);
    for &(offset, length) in mix {
        let class = classifier.classify(IoDirection::Read, offset, length);
        let admits = !bypasses || Classifier::route(class) == Route::Admit;
        for page in offset / PAGE..(offset + length) / PAGE {
            let is_hit = lru.touch(page);
            if !is_hit && admits {
                lru.admit(page);
            }
            if length == PAGE {
                reads += 1.0;
                hits += f64::from(u8::from(is_hit));
            }
        }
    }
    hits / reads
}

#[test]
fn bypassing_scans_is_worth_ten_points_to_lru_at_a_tenth_of_the_pages() {
    let mix = mail_mix(20_000, 120_000);
    let [plain, bypassing] = [false, true].map(|bypasses| lru_ratio(&mix, 2_000, bypasses));
    assert!(bypassing >= plain + 0.10, "{plain} {bypassing}");
}

/// Hit ratio of page reads in a shadow of `capacity` blocks, those of `second` only.
fn shadow_ratio(first: &[Read], second: &[Read], capacity: u64) -> f64 {
    let mut shadow = ShadowCache::new(Bytes(capacity * PAGE), PAGE, None);
    let mut read = |&(offset, length): &Read| {
        let read = shadow.read(Nanos::ZERO, 0, (offset, length));
        if let ShadowRead::Fill(_) = read {
            shadow.fill((offset, length));
        }
        matches!(read, ShadowRead::Hit(_))
    };
    for of in first {
        read(of);
    }
    let pages = second.iter().filter(|(_, length)| *length == PAGE);
    let (reads, hits) =
        pages.fold((0, 0), |(reads, hits), of| (reads + 1, hits + u32::from(read(of))));
    f64::from(hits) / f64::from(reads)
}

#[test]
fn a_checksum_run_in_the_middle_costs_at_most_a_point() {
    let mut zipf = Zipf::new(20_000, 0.9, 2);
    let mut draw = |reads: u64| (0..reads).map(|_| (zipf.draw() * PAGE, PAGE)).collect::<Vec<_>>();
    let (before, after) = (draw(60_000), draw(30_000));
    let without = shadow_ratio(&before, &after, 2_000);
    // Every page once, 64 KiB at a time, as the checksum pass reads.
    let checksum = (0..10_000).map(|number| (number * 2 * PAGE, 2 * PAGE));
    let with: Vec<Read> = before.iter().copied().chain(checksum).collect();
    let with = shadow_ratio(&with, &after, 2_000);
    assert!(without - with <= 0.01, "{without} {with}");
}

/// Hit ratio of the store itself, and its number of blocks.
fn store_ratio(pages: Vec<u64>, measured_from: usize) -> (f64, u64) {
    const BLOCK: u64 = 4_096;
    let world = World::new();
    let (backing, flash) = (world.backing.clone(), world.flash.clone());
    let runtime = world.executor.runtime();
    world.executor.block_on(async move {
        let length = 48 << 20;
        let device = flash
            .open("cache", OpenMode::CreateNew { length })
            .await
            .expect("memory does not fail");
        let options = FormatOptions { block_bytes: 4_096, identity: [7; 16], force: false };
        format(&device, options).await.expect("memory does not fail");
        let store = CacheStore::open(device, &runtime).await.expect("memory does not fail").0;
        let capacity = store.status().capacity_blocks;
        let cache = FlashCache::new(store, None);
        let mode = OpenMode::CreateNew { length: 1 << 30 };
        let inner = backing.open("volume", mode).await.expect("memory does not fail");
        let volume = Cached::new(&cache, inner, ("volume", 0), PoolShare::default()).await;
        let mut before = cache.class(RequestClass::Database);
        for (number, page) in pages.into_iter().enumerate() {
            if number == measured_from {
                before = cache.class(RequestClass::Database);
            }
            let request = Request::read(Purpose::Database, page * BLOCK, 4_096);
            device::Device::submit(&volume, request)
                .await
                .into_buffer()
                .expect("memory does not fail");
        }
        let after = cache.class(RequestClass::Database);
        let (reads, hits) = (after.reads - before.reads, after.hits - before.hits);
        (hits as f64 / reads as f64, capacity)
    })
}

#[test]
fn the_store_is_within_two_points_of_the_exact_policy() {
    let mut zipf = Zipf::new(100_000, 0.9, 3);
    let pages: Vec<u64> = (0..120_000).map(|_| zipf.draw()).collect();
    let (store, capacity) = store_ratio(pages.clone(), 60_000);
    let reads: Vec<Read> = pages.iter().map(|page| (page * PAGE, PAGE)).collect();
    let exact = shadow_ratio(&reads[..60_000], &reads[60_000..], capacity);
    assert!((store - exact).abs() <= 0.02, "{store} {exact}");
}
