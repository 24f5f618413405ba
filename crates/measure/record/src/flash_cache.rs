//! Activity of a flash cache in front of the databases, per interval.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests of one class of traffic in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FlashCacheClass {
    /// Reads.
    pub reads: u64,
    /// Reads served from flash.
    pub hits: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes read from flash: traffic kept off the volumes.
    pub hit_bytes: u64,
    /// Writes, all of which reach the volumes.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Total time of reads served from flash, in nanoseconds.
    pub hit_ns: u64,
    /// Total time of the other reads, in nanoseconds.
    pub miss_ns: u64,
}

impl AddAssign for FlashCacheClass {
    fn add_assign(&mut self, other: Self) {
        self.reads += other.reads;
        self.hits += other.hits;
        self.read_bytes += other.read_bytes;
        self.hit_bytes += other.hit_bytes;
        self.writes += other.writes;
        self.written_bytes += other.written_bytes;
        self.hit_ns += other.hit_ns;
        self.miss_ns += other.miss_ns;
    }
}

impl FlashCacheClass {
    /// Share of reads served from flash; `None` if nothing was read.
    pub fn hit_ratio(&self) -> Option<f64> {
        (self.reads > 0).then(|| self.hits as f64 / self.reads as f64)
    }

    /// Mean time of a read served from flash, in nanoseconds.
    pub fn mean_hit_ns(&self) -> Option<f64> {
        (self.hits > 0).then(|| self.hit_ns as f64 / self.hits as f64)
    }

    /// Mean time of a read served from the volume, in nanoseconds.
    pub fn mean_miss_ns(&self) -> Option<f64> {
        let misses = self.reads - self.hits;
        (misses > 0).then(|| self.miss_ns as f64 / misses as f64)
    }

    /// Activity since `before`.
    const fn since(&self, before: &Self) -> Self {
        Self {
            reads: self.reads - before.reads,
            hits: self.hits - before.hits,
            read_bytes: self.read_bytes - before.read_bytes,
            hit_bytes: self.hit_bytes - before.hit_bytes,
            writes: self.writes - before.writes,
            written_bytes: self.written_bytes - before.written_bytes,
            hit_ns: self.hit_ns - before.hit_ns,
            miss_ns: self.miss_ns - before.miss_ns,
        }
    }
}

/// A flash cache: counts of an interval, and levels at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FlashCacheInterval {
    /// Random page access, which the cache is for.
    pub database: FlashCacheClass,
    /// Volumes of small appends.
    pub log: FlashCacheClass,
    /// Scans: backup, checksum run, maintenance.
    pub sequential: FlashCacheClass,
    /// Bytes written to flash.
    pub flash_bytes_written: u64,
    /// Flash capacity for cached blocks, in bytes.
    pub capacity_bytes: u64,
    /// Bytes that are cached at the end.
    pub cached_bytes: u64,
    /// Why flash is no longer used, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl FlashCacheInterval {
    /// Classes of traffic, each with its name.
    pub const fn classes(&self) -> [(&'static str, &FlashCacheClass); 3] {
        [("database", &self.database), ("log", &self.log), ("sequential", &self.sequential)]
    }

    /// All classes together.
    pub fn all(&self) -> FlashCacheClass {
        let mut all = self.database;
        all += self.log;
        all += self.sequential;
        all
    }

    /// Share of all bytes read and written that the cache kept off the volumes; `None` if there
    /// were none.
    pub fn traffic_saved(&self) -> Option<f64> {
        let all = self.all();
        let bytes = all.read_bytes + all.written_bytes;
        (bytes > 0).then(|| all.hit_bytes as f64 / bytes as f64)
    }

    /// Counts since an earlier reading of the same totals; levels are kept.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            database: self.database.since(&before.database),
            log: self.log.since(&before.log),
            sequential: self.sequential.since(&before.sequential),
            flash_bytes_written: self.flash_bytes_written - before.flash_bytes_written,
            ..self.clone()
        }
    }

    /// Adds the counts of a later interval and takes over its levels.
    pub(crate) fn continue_with(&mut self, later: &Self) {
        self.add_counts(later);
        self.capacity_bytes = later.capacity_bytes;
        self.cached_bytes = later.cached_bytes;
        if later.failure.is_some() {
            self.failure.clone_from(&later.failure);
        }
    }

    /// Adds another cache over the same period.
    pub fn join(&mut self, other: &Self) {
        self.add_counts(other);
        self.capacity_bytes += other.capacity_bytes;
        self.cached_bytes += other.cached_bytes;
        if self.failure.is_none() {
            self.failure.clone_from(&other.failure);
        }
    }

    fn add_counts(&mut self, other: &Self) {
        self.database += other.database;
        self.log += other.log;
        self.sequential += other.sequential;
        self.flash_bytes_written += other.flash_bytes_written;
    }
}

#[cfg(test)]
mod tests {
    use super::{FlashCacheClass, FlashCacheInterval};

    fn reading(reads: u64, hits: u64, cached_bytes: u64) -> FlashCacheInterval {
        let database = FlashCacheClass {
            reads,
            hits,
            read_bytes: reads * 100,
            hit_bytes: hits * 100,
            hit_ns: hits * 7,
            miss_ns: (reads - hits) * 50,
            ..FlashCacheClass::default()
        };
        FlashCacheInterval { database, cached_bytes, ..FlashCacheInterval::default() }
    }

    #[test]
    fn counts_are_differences_and_levels_are_the_last() {
        let interval = reading(10, 4, 900).since(&reading(6, 1, 500));
        assert_eq!((interval.database.reads, interval.database.hits), (4, 3));
        assert_eq!(interval.cached_bytes, 900);
        assert_eq!(interval.database.hit_ratio(), Some(0.75));
        assert_eq!(interval.traffic_saved(), Some(0.75));
        let times = (interval.database.mean_hit_ns(), interval.database.mean_miss_ns());
        assert_eq!(times, (Some(7.0), Some(50.0)));
        let mut sum = interval;
        sum.continue_with(&reading(2, 0, 950));
        assert_eq!((sum.database.reads, sum.cached_bytes), (6, 950));
        sum.join(&reading(1, 1, 50));
        assert_eq!((sum.database.hits, sum.cached_bytes), (4, 1_000));
    }

    #[test]
    fn nothing_read_has_no_ratio() {
        let none = FlashCacheInterval::default();
        assert_eq!((none.all().hit_ratio(), none.traffic_saved()), (None, None));
    }
}
