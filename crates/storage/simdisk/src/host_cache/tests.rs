//! The cache in front of an array: which of them answers a request, and the cost.

use device::Durability;
use flashcache::RequestClass;
use units::{Prng, Seed};

use super::CachedArray;
use crate::array::{HostRequest, HostWork};
use crate::description::ArrayDescription;
use crate::disk::VirtualMoment;

const ARRAY: &str = include_str!("../../../../../arrays/shelf-15k.toml");
const PAGE: u64 = 32 << 10;

fn array(changes: &[(&str, &str)]) -> CachedArray {
    let changes: Vec<_> =
        changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let description = ArrayDescription::parse("shelf", ARRAY, &changes).expect("an array");
    CachedArray::new(&description.model("shelf").expect("an array"), Seed(5))
}

/// Sends one request after the other; returns their mean time in milliseconds.
fn mean_ms(
    array: &mut CachedArray,
    now: &mut VirtualMoment,
    requests: impl Iterator<Item = (HostWork, u64)>,
) -> f64 {
    let (mut waited, mut count) = (0.0, 0.0);
    for (work, offset) in requests {
        let (begun, mut is_answered) = (*now, false);
        let request = HostRequest { token: 0, work, offset, length: PAGE };
        array.submit(begun, 0, request);
        while !is_answered {
            *now = array.next_event().expect("a request is under way");
            array.advance(*now, |_| is_answered = true);
        }
        waited += (*now - begun) as f64 / 1e6;
        count += 1.0;
    }
    waited / count
}

fn pages(seed: u64, count: usize, of: u64) -> impl Iterator<Item = u64> {
    let mut prng = Prng::new(Seed(seed));
    (0..count).map(move |_| prng.below(of) * PAGE * 3)
}

fn reads(pages: impl Iterator<Item = u64>) -> impl Iterator<Item = (HostWork, u64)> {
    pages.map(|page| (HostWork::Read, page))
}

#[test]
fn a_page_read_before_comes_from_flash() {
    let mut array = array(&[("host_cache.size_gb", "1"), ("host_cache.request_us", "200")]);
    let mut now = 0;
    let cold = mean_ms(&mut array, &mut now, reads((0..500).map(|page| page * 3 * PAGE)));
    let warm = mean_ms(&mut array, &mut now, reads((0..500).map(|page| page * 3 * PAGE)));
    assert!(cold > 3.0, "from disks: {cold} ms");
    // 100 us of flash, 66 us for 32 KiB at 500 MB/s, 200 us for the layer.
    assert!((warm - 0.366).abs() < 0.005, "{warm} ms");
    let counters = array.counters().expect("a cache");
    let class = counters.classes[RequestClass::Database as usize];
    assert_eq!((class.reads, class.hits), (1_000, 500));
    assert_eq!((counters.cached_bytes, counters.flash_bytes_written), (500 * PAGE, 500 * PAGE));
}

#[test]
fn uniform_reads_of_a_warm_cache_hit_as_often_as_it_is_large() {
    let changes = [("host_cache.size_gb", "1"), ("host_cache.warm_percent", "100")];
    let mut array = array(&changes);
    array.warm(0..4_000_000_000, 1.0);
    let mut prng = Prng::new(Seed(3));
    let pages = 4_000_000_000 / PAGE;
    let mut now = 0;
    mean_ms(&mut array, &mut now, reads((0..8_000).map(|_| prng.below(pages) * PAGE)));
    let class = array.counters().expect("a cache").classes[RequestClass::Database as usize];
    let ratio = class.hits as f64 / class.reads as f64;
    assert!((ratio - 0.25).abs() < 0.02, "{ratio}");
}

#[test]
fn writes_take_as_long_as_without_a_cache_and_are_cached() {
    let write = HostWork::Write(Durability::Durable);
    let changes = ("cache.mode", "write-through");
    let (mut plain, mut cached) =
        (array(&[changes]), array(&[changes, ("host_cache.size_gb", "1")]));
    let all = || pages(1, 300, 10_000).map(|page| (write, page));
    let (mut now, mut then) = (0, 0);
    let [one, other] =
        [mean_ms(&mut plain, &mut now, all()), mean_ms(&mut cached, &mut then, all())];
    assert_eq!(one.to_bits(), other.to_bits(), "write-through");
    let reads = mean_ms(&mut cached, &mut then, reads(pages(1, 300, 10_000)));
    assert!(reads < 0.2, "{reads} ms");
}

#[test]
fn flash_as_storage_never_uses_the_array() {
    let changes = [
        ("host_cache.size_gb", "1"),
        ("host_cache.mode", "storage"),
        ("host_cache.mirror_us", "1000"),
    ];
    let mut array = array(&changes);
    let mut now = 0;
    let write = HostWork::Write(Durability::Durable);
    let written = mean_ms(&mut array, &mut now, pages(1, 50, 1_000).map(|page| (write, page)));
    assert!((written - 1.0).abs() < 0.001, "the mirror: {written} ms");
    let read = mean_ms(&mut array, &mut now, reads(pages(2, 50, 1_000)));
    assert!(read < 0.2, "{read} ms");
    assert_eq!(array.array.handled, 0);
}

#[test]
fn without_a_cache_the_array_is_unchanged() {
    let mut cached = array(&[]);
    assert_eq!(cached.counters(), None);
    let mut now = 0;
    mean_ms(&mut cached, &mut now, reads(pages(1, 10, 1_000)));
    assert!(cached.events() == cached.array.handled && cached.events() > 0);
}

#[test]
fn values_out_of_bounds_are_named() {
    for (key, value) in [("size_gb", "1e9"), ("warm_percent", "101"), ("parallel", "0")] {
        let changes = [
            ("host_cache.size_gb".to_owned(), "1".to_owned()),
            (format!("host_cache.{key}"), value.to_owned()),
        ];
        let error = ArrayDescription::parse("shelf", ARRAY, &changes).unwrap_err().to_string();
        assert!(error.contains(&format!("host_cache.{key} must be")), "{error}");
    }
}
