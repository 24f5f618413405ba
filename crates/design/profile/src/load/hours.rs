//! The load of one place in one hour: sums while files are read, then rates and latencies.

use super::clock::HOUR_SECONDS;

/// Kind of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StorageOperation {
    /// Reads of databases, or of a volume.
    Read,
    /// Writes of databases, or of a volume.
    Write,
    /// Log reads, if logs are counted separately.
    LogRead,
    /// Log writes, if logs are counted separately.
    LogWrite,
}

impl StorageOperation {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::LogRead, Self::LogWrite];

    /// Its name for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::LogRead => "log_reads",
            Self::LogWrite => "log_writes",
        }
    }
}

/// One kind of requests in an hour.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequestLoad {
    /// Requests per second.
    pub iops: f64,
    /// Mean latency in milliseconds, weighted by requests; `None` if no source gives it.
    pub latency_ms: Option<f64>,
    /// Bytes per second; `None` if no source gives them.
    pub bytes_per_second: Option<f64>,
}

/// The load of an hour, by [`StorageOperation`]; `None` if no source gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HourLoad([Option<RequestLoad>; 4]);

impl HourLoad {
    /// One kind of requests.
    pub const fn of(&self, operation: StorageOperation) -> Option<RequestLoad> {
        self.0[operation as usize]
    }

    /// Requests of all kinds per second.
    pub fn iops(&self) -> f64 {
        self.0.iter().flatten().map(|of| of.iops).sum()
    }

    /// Reads and writes of databases or volumes per second, without separately counted logs.
    pub fn transactional_iops(&self) -> f64 {
        let both = [StorageOperation::Read, StorageOperation::Write];
        both.iter().filter_map(|of| self.of(*of)).map(|of| of.iops).sum()
    }

    /// Bytes per second of the kinds whose bytes are known; `None` if all are unknown.
    pub fn bytes_per_second(&self) -> Option<f64> {
        let known: Vec<f64> =
            self.0.iter().flatten().filter_map(|of| of.bytes_per_second).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }

    /// Adds up the loads of several places. Bytes are known if they are known for all of them.
    pub(super) fn sum<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        Self::combined(all, |sum| {
            let load = sum.load()?;
            let are_bytes_known = sum.byte_seconds >= sum.seconds;
            let bytes_per_second = are_bytes_known.then_some(sum.bytes);
            Some(RequestLoad { iops: sum.requests, bytes_per_second, ..load })
        })
    }

    /// Averages several hours; a kind's mean omits the hours in which it is unknown.
    pub(super) fn mean<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        Self::combined(all, OperationSum::load)
    }

    fn combined<'a>(
        all: impl Iterator<Item = &'a Self>,
        load_of: impl Fn(&OperationSum) -> Option<RequestLoad>,
    ) -> Self {
        let mut sums = [OperationSum::default(); 4];
        for load in all {
            for (sum, of) in sums.iter_mut().zip(&load.0) {
                if let Some(of) = of {
                    sum.add(1.0, *of);
                }
            }
        }
        Self(sums.map(|sum| load_of(&sum)))
    }
}

/// Requests of one kind, summed.
#[derive(Clone, Copy, Debug, Default)]
struct OperationSum {
    /// Seconds in which they were counted.
    seconds: f64,
    requests: f64,
    /// Requests whose latency is known, and the sum of their latencies.
    timed: f64,
    latency_ms: f64,
    /// Seconds in which their bytes were counted.
    byte_seconds: f64,
    bytes: f64,
}

impl OperationSum {
    fn add(&mut self, seconds: f64, load: RequestLoad) {
        self.seconds += seconds;
        self.requests += load.iops * seconds;
        if let Some(latency_ms) = load.latency_ms {
            self.timed += load.iops * seconds;
            self.latency_ms += latency_ms * load.iops * seconds;
        }
        if let Some(bytes) = load.bytes_per_second {
            self.byte_seconds += seconds;
            self.bytes += bytes * seconds;
        }
    }

    fn load(&self) -> Option<RequestLoad> {
        (self.seconds > 0.0).then(|| RequestLoad {
            iops: self.requests / self.seconds,
            latency_ms: (self.timed > 0.0).then(|| self.latency_ms / self.timed),
            bytes_per_second: (self.byte_seconds > 0.0).then(|| self.bytes / self.byte_seconds),
        })
    }
}

/// The minimum share of an hour that samples must cover for the hour to be known.
const LEAST_COVERED: f64 = 0.5;

/// Data on one place in one hour.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HourSum([OperationSum; 4]);

impl HourSum {
    /// Adds a sample that represents `seconds`.
    pub(super) fn add(&mut self, operation: StorageOperation, seconds: f64, load: RequestLoad) {
        self.0[operation as usize].add(seconds, load);
    }

    /// Returns the load; `None` if too little of the hour was sampled.
    pub(super) fn load(&self) -> Option<HourLoad> {
        let mut load = HourLoad::default();
        for (to, sum) in load.0.iter_mut().zip(&self.0) {
            let is_covered = sum.seconds >= LEAST_COVERED * HOUR_SECONDS as f64;
            *to = sum.load().filter(|_| is_covered);
        }
        let is_known = load.0.iter().any(Option::is_some);
        is_known.then_some(load)
    }
}
