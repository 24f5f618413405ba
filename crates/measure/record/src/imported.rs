//! A result published by another instrument, as its file gives it. Such a run was not measured
//! here: it has averages and no intervals, and figures missing from the file stay missing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Contents of a result's file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ImportedResult {
    /// Name of the file.
    pub file: String,
    /// The instrument and its version, such as `Jetstress 14.01.0180.003`.
    pub instrument: String,
    /// The database engine and its version, such as `ESE 14.01.0218.012`.
    pub engine: Option<String>,
    /// The release of Exchange that corresponds to the engine's version, or else the instrument's.
    pub release: Option<String>,
    /// The instrument's verdict.
    pub outcome: Option<PublishedOutcome>,
    /// Wall clock at the start in nanoseconds since 1970-01-01, in an unknown time zone.
    pub started_local_ns: Option<u64>,
    /// Transactional reads and writes of all databases per second.
    pub achieved_iops: Option<f64>,
    /// The target load.
    pub target_iops: Option<f64>,
    /// Size of all databases before the test.
    pub initial_database_bytes: Option<u64>,
    /// The load.
    pub load: PublishedLoad,
    /// The databases.
    pub instances: Vec<PublishedInstance>,
    /// Counters of the machine.
    pub host: Vec<PublishedCounter>,
    /// The checksum pass.
    pub checksums: Vec<PublishedChecksum>,
    /// The backup.
    pub backups: Vec<PublishedBackup>,
    /// The replay.
    pub replays: Vec<PublishedReplay>,
    /// Every name with its value, in order.
    pub facts: Vec<PublishedFact>,
    /// The test log.
    pub test_log: Vec<String>,
    /// Figures missing from the file, as sentences.
    pub lacks: Vec<String>,
}

/// An instrument's verdict on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PublishedOutcome {
    /// It passed.
    Pass,
    /// It failed.
    Fail,
}

impl PublishedOutcome {
    /// The word printed in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "Pass",
            Self::Fail => "Fail",
        }
    }
}

/// The load, as far as the source states it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PublishedLoad {
    /// Threads of each database.
    pub threads_per_database: Option<u32>,
    /// Total threads of all databases, if the tool shares them between databases.
    pub threads_in_all: Option<u32>,
    /// Maximum cache of all databases together.
    pub cache_maximum_bytes: Option<u64>,
    /// Inserts, deletes, replacements and reads, in percent.
    pub mix_percent: Option<[u32; 4]>,
    /// Commits that do not wait for the log, in percent.
    pub lazy_commit_percent: Option<u32>,
    /// Whether background maintenance ran.
    pub background_maintenance: Option<bool>,
    /// Copies of each database.
    pub copies_per_database: Option<u32>,
}

/// Requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PublishedRequests {
    /// Mean latency.
    pub latency_ms: Option<f64>,
    /// Requests per second.
    pub per_second: Option<f64>,
    /// Mean size.
    pub bytes: Option<f64>,
}

/// One of the two I/O tables: transactional or total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PublishedIo {
    /// Reads of the database.
    pub database_reads: PublishedRequests,
    /// Writes of the database.
    pub database_writes: PublishedRequests,
    /// Reads of the log.
    pub log_reads: PublishedRequests,
    /// Writes of the log.
    pub log_writes: PublishedRequests,
}

/// A database with its rows from the tables.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PublishedInstance {
    /// Its name, such as `Instance3328.1`.
    pub name: String,
    /// I/O of transactions.
    pub transactional: PublishedIo,
    /// Reads of the background maintenance.
    pub maintenance: PublishedRequests,
    /// Log reads for further copies.
    pub replication: PublishedRequests,
    /// All together.
    pub total: PublishedIo,
}

/// A counter of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PublishedCounter {
    /// Its name.
    pub name: String,
    /// Mean of the samples.
    pub average: Option<f64>,
    /// Smallest sample.
    pub minimum: Option<f64>,
    /// Largest sample.
    pub maximum: Option<f64>,
}

/// Checksums of one database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PublishedChecksum {
    /// The database.
    pub database: String,
    /// Pages read.
    pub seen_pages: Option<u64>,
    /// Pages with a wrong checksum.
    pub bad_pages: Option<u64>,
    /// Pages that the checksum can repair.
    pub correctable_pages: Option<u64>,
    /// Pages that bear another page's number.
    pub wrong_page_number_pages: Option<u64>,
}

/// The backup of one database.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PublishedBackup {
    /// The database.
    pub instance: String,
    /// Its size in MiB, which the instrument calls MB.
    pub database_mib: Option<f64>,
    /// MiB read per second.
    pub mib_per_second: Option<f64>,
}

/// The replay of one database.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PublishedReplay {
    /// The database.
    pub instance: String,
    /// Log files replayed.
    pub logs: Option<u64>,
    /// How long that took.
    pub seconds: Option<f64>,
}

/// A name and its value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PublishedFact {
    /// Its section.
    pub section: String,
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

impl PublishedInstance {
    /// Transactional reads of the database; if the file has only the table of total I/O, the total
    /// minus its maintenance reads.
    pub fn database_reads(&self) -> PublishedRequests {
        let (stated, total) = (self.transactional.database_reads, self.total.database_reads);
        if stated.per_second.is_some() || stated.latency_ms.is_some() {
            return stated;
        }
        let beside = total.per_second.zip(self.maintenance.per_second);
        let per_second = beside.map(|(all, scanned)| (all - scanned).max(0.0));
        PublishedRequests { latency_ms: total.latency_ms, per_second, bytes: None }
    }

    /// Writes of the database, which are the same in both tables.
    pub fn database_writes(&self) -> PublishedRequests {
        self.transactional.database_writes.or(self.total.database_writes)
    }

    /// Log reads for further copies, the only log reads that a load makes.
    pub fn replication_reads(&self) -> PublishedRequests {
        self.replication.or(self.total.log_reads)
    }

    /// Writes of the log, which are the same in both tables.
    pub fn log_writes(&self) -> PublishedRequests {
        self.transactional.log_writes.or(self.total.log_writes)
    }
}

impl PublishedRequests {
    /// The sum over `rows`; `None` if there are none or any of them lacks the figure.
    fn sum(rows: &[Self], part: fn(&Self) -> Option<f64>) -> Option<f64> {
        rows.iter().map(part).sum::<Option<f64>>().filter(|_| !rows.is_empty())
    }

    /// Combines several databases the way white papers print them: rates are sums, latencies
    /// unweighted means, sizes means weighted by rate. Figures that any of them lacks are missing.
    pub(crate) fn together(rows: &[Self]) -> Self {
        let per_second = Self::sum(rows, |row| row.per_second);
        let bytes_per_second = Self::sum(rows, |row| Some(row.per_second? * row.bytes?));
        Self {
            latency_ms: Self::sum(rows, |row| row.latency_ms).map(|sum| sum / rows.len() as f64),
            per_second,
            bytes: bytes_per_second
                .zip(per_second)
                .filter(|(_, rate)| *rate > 0.0)
                .map(|(bytes, rate)| bytes / rate),
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            latency_ms: self.latency_ms.or(other.latency_ms),
            per_second: self.per_second.or(other.per_second),
            bytes: self.bytes.or(other.bytes),
        }
    }
}

impl ImportedResult {
    /// One kind of request over all databases; figures that any of them lacks are missing.
    pub fn all(&self, of: fn(&PublishedInstance) -> PublishedRequests) -> PublishedRequests {
        PublishedRequests::together(&self.instances.iter().map(of).collect::<Vec<_>>())
    }

    /// Transactional IOPS: the file's figure, or the sum of its rows.
    pub fn transactional_iops(&self) -> Option<f64> {
        self.achieved_iops.or_else(|| {
            let reads = self.all(PublishedInstance::database_reads).per_second?;
            Some(reads + self.all(PublishedInstance::database_writes).per_second?)
        })
    }

    /// MiB read per second over all backups; `None` if any of them lacks the figure.
    pub fn backup_mib_per_second(&self) -> Option<f64> {
        let rates = self.backups.iter().map(|backup| backup.mib_per_second);
        rates.sum::<Option<f64>>().filter(|_| !self.backups.is_empty())
    }

    /// The mean of a machine counter.
    pub fn counter(&self, name: &str) -> Option<f64> {
        self.host.iter().find(|counter| counter.name.eq_ignore_ascii_case(name))?.average
    }
}

#[cfg(test)]
mod tests {
    use super::{ImportedResult, PublishedInstance, PublishedIo, PublishedRequests};

    fn requests(latency_ms: f64, per_second: f64, bytes: f64) -> PublishedRequests {
        PublishedRequests {
            latency_ms: Some(latency_ms),
            per_second: Some(per_second),
            bytes: Some(bytes),
        }
    }

    fn result(reads: [PublishedRequests; 2]) -> ImportedResult {
        let instance = |database_reads| PublishedInstance {
            transactional: PublishedIo { database_reads, ..PublishedIo::default() },
            ..PublishedInstance::default()
        };
        ImportedResult { instances: reads.map(instance).into(), ..ImportedResult::default() }
    }

    #[test]
    fn rates_are_sums_latencies_means_and_sizes_weighted() {
        let result = result([requests(10.0, 30.0, 100.0), requests(30.0, 10.0, 300.0)]);
        let all = result.all(PublishedInstance::database_reads);
        assert_eq!(all, requests(20.0, 40.0, 150.0));
    }

    #[test]
    fn what_one_database_lacks_all_lack() {
        let lacking = PublishedRequests { latency_ms: None, ..requests(0.0, 10.0, 300.0) };
        let result = result([requests(10.0, 30.0, 100.0), lacking]);
        let all = result.all(PublishedInstance::database_reads);
        assert_eq!((all.latency_ms, all.per_second), (None, Some(40.0)));
        assert_eq!(result.transactional_iops(), None);
        let none = ImportedResult::default().all(PublishedInstance::database_reads);
        assert_eq!(none, PublishedRequests::default());
    }

    #[test]
    fn the_total_alone_gives_what_is_beside_the_maintenance() {
        let total =
            PublishedIo { database_reads: requests(5.0, 58.0, 60_000.0), ..PublishedIo::default() };
        let maintenance = requests(1.0, 8.0, 262_144.0);
        let mut instance = PublishedInstance { maintenance, total, ..Default::default() };
        let reads = instance.database_reads();
        assert_eq!((reads.latency_ms, reads.per_second), (Some(5.0), Some(50.0)));
        instance.maintenance.per_second = None;
        assert_eq!(instance.database_reads().per_second, None);
    }
}
