//! The load of one place in one hour: sums while files are read, then rates and latencies.

use super::clock::HOUR_SECONDS;

/// Kind of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StorageOperation {
    /// Reads of databases, or of a volume.
    Read,
    /// Writes of databases, or of a volume.
    Write,
    /// Reads of logs, where logs are counted apart.
    LogRead,
    /// Writes of logs, where logs are counted apart.
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
    /// Mean latency in milliseconds, weighted by requests; none if no source says.
    pub latency_ms: Option<f64>,
    /// Bytes per second; none if no source says.
    pub bytes_per_second: Option<f64>,
}

/// The load of an hour, by [`StorageOperation`]; none if no source says.
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

    /// Reads and writes of databases or volumes per second, without logs that are counted apart.
    pub fn transactional_iops(&self) -> f64 {
        let both = [StorageOperation::Read, StorageOperation::Write];
        both.iter().filter_map(|of| self.of(*of)).map(|of| of.iops).sum()
    }

    /// Bytes per second of the kinds whose bytes are known; none if they all are unknown.
    pub fn bytes_per_second(&self) -> Option<f64> {
        let known: Vec<f64> =
            self.0.iter().flatten().filter_map(|of| of.bytes_per_second).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }

    /// The loads of several places together. Bytes are known if they are of all of them.
    pub(super) fn sum<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        Self::combined(all, |sum| {
            let load = sum.load()?;
            let are_bytes_known = sum.byte_seconds >= sum.seconds;
            let bytes_per_second = are_bytes_known.then_some(sum.bytes);
            Some(RequestLoad { iops: sum.requests, bytes_per_second, ..load })
        })
    }

    /// The mean of several hours; hours in which a kind is unknown do not count for it.
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

/// The share of an hour that must have been sampled for the hour to be known.
const LEAST_COVERED: f64 = 0.5;

/// Data on one place in one hour.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HourSum([OperationSum; 4]);

impl HourSum {
    /// Adds a sample that represents `seconds`.
    pub(super) fn add(&mut self, operation: StorageOperation, seconds: f64, load: RequestLoad) {
        self.0[operation as usize].add(seconds, load);
    }

    /// The load; none if too little of the hour was sampled.
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
