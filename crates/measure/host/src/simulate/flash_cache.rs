//! Activity of the host's simulated cache, in the form of records.

use flashcache::{ClassCounters, RequestClass};
use record::{FlashCacheClass, FlashCacheInterval};
use simdisk::HostCacheCounters;

/// Sums up all caches; `None` if there are none.
pub(super) fn joined(
    caches: impl IntoIterator<Item = HostCacheCounters>,
) -> Option<FlashCacheInterval> {
    let mut all: Option<FlashCacheInterval> = None;
    for cache in caches {
        let reading = reading(&cache);
        all = Some(match all {
            None => reading,
            Some(mut sum) => {
                sum.join(&reading);
                sum
            }
        });
    }
    all
}

fn reading(cache: &HostCacheCounters) -> FlashCacheInterval {
    FlashCacheInterval {
        database: recorded(cache.classes[RequestClass::Database as usize]),
        log: recorded(cache.classes[RequestClass::Log as usize]),
        sequential: recorded(cache.classes[RequestClass::Sequential as usize]),
        flash_bytes_written: cache.flash_bytes_written,
        capacity_bytes: cache.capacity_bytes,
        cached_bytes: cache.cached_bytes,
        failure: None,
    }
}

/// Converts the counters of a class to the form of records.
pub(crate) const fn recorded(of: ClassCounters) -> FlashCacheClass {
    FlashCacheClass {
        reads: of.reads,
        hits: of.hits,
        read_bytes: of.read_bytes,
        hit_bytes: of.hit_bytes,
        writes: of.writes,
        written_bytes: of.written_bytes,
        hit_ns: of.hit_ns,
        miss_ns: of.miss_ns,
    }
}
