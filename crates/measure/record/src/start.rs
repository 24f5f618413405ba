//! Description of a run: machine, plan and every setting that the report or a rule needs, with
//! defaults resolved, so that a record can be read years later without the plan's code.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{ImportedResult, ProcessorShares, Simulation, StorageFinding, hexadecimal};

/// The facts known before the first request is made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Start {
    /// Version of the journal's schema; see [`crate::codec::SCHEMA`].
    pub schema: u32,
    /// Program and version that wrote the journal, such as `plimsoll 0.1.0 (1fc2130)`.
    pub build: String,
    /// Format of the databases, such as `ESE 0x620,20,0`.
    pub database_format: String,
    /// Wall-clock time of the run's zero, in nanoseconds since 1970-01-01 UTC.
    pub started_epoch_ns: u64,
    /// The machine.
    pub machine: Machine,
    /// Seed of every random stream of the run.
    #[serde(with = "hexadecimal")]
    #[schemars(with = "String")]
    pub seed: u64,
    /// Kind of test.
    pub test: TestType,
    /// Name of the run; empty in records of earlier releases and of imported results.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Keywords for finding it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The user's own description.
    pub description: String,
    /// The command that repeats the test, without its options, such as `plimsoll run plan.toml`;
    /// empty in records of earlier releases.
    #[serde(default)]
    pub command: String,
    /// Options that affect the measurement, each with its value, such as `--size` and `16MiB`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<(String, String)>,
    /// The tests of the set that the run is one of, with the options of each; empty for a run
    /// alone, and in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<TestOfSet>,
    /// The plan, as read.
    pub plan_text: String,
    /// The plan's resolved settings.
    pub settings: Settings,
    /// The databases, in index order.
    pub databases: Vec<DatabaseFacts>,
    /// Processor use immediately before the run; `None` if the system does not report it, and in
    /// older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors_before: Option<ProcessorShares>,
    /// The published result behind this record; `None` for a run measured here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Box<ImportedResult>>,
    /// The model that it ran on in virtual time; `None` for a run on storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<Box<Simulation>>,
    /// Findings from inspecting the storage immediately before; empty in records of earlier
    /// releases and of runs that were not made on storage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub storage: Vec<StorageFinding>,
}

/// One test of a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestOfSet {
    /// Its kind.
    pub test: TestType,
    /// The options that run it alone, each with its value, but for its folder.
    pub options: Vec<(String, String)>,
}

impl Start {
    /// Number of simulated arrays: with `--each-folder` one below each folder.
    pub fn array_count(&self) -> usize {
        if self.options.iter().all(|(option, _)| option != "--each-folder") {
            return 1;
        }
        let mut folders = BTreeSet::new();
        for database in &self.databases {
            folders.extend([&*database.volume.mount, &*database.log_volume.mount]);
        }
        folders.len().max(1)
    }
}

/// The kind of test, which decides the thresholds and the report's sections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestType {
    /// The load of a working day, with strict limits.
    #[default]
    Performance,
    /// The same load for a day or more, tolerating rare spikes.
    Stress,
    /// Reads the databases the way a backup does.
    Backup,
    /// Reads and verifies every page of the databases.
    Checksum,
    /// Generates logs and replays them into the databases.
    Recovery,
}

impl TestType {
    /// The name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Performance => "Performance",
            Self::Stress => "Stress",
            Self::Backup => "Database backup",
            Self::Checksum => "Checksum",
            Self::Recovery => "Soft recovery",
        }
    }
}

/// The machine that generated the load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// Distinguishes it from other machines with the same name; empty if unknown, and in older
    /// records.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Operating system and its version.
    pub operating_system: String,
    /// Processor model.
    pub processor: String,
    /// Logical processors that the operating system schedules.
    pub logical_processors: u32,
    /// Memory.
    pub memory_bytes: u64,
    /// How requests reach the storage: `io_uring`, `thread pool`, `simulated` ...
    pub input_output: String,
}

impl Machine {
    /// The machine's public identity, derived from the system's `secret` without disclosing it: 16
    /// hexadecimal digits, or empty for an empty text.
    pub fn id_of(secret: &str) -> String {
        if secret.trim().is_empty() {
            return String::new();
        }
        let mut id = String::new();
        let hash = Sha256::new().chain_update("plimsoll machine ").chain_update(secret.trim());
        for byte in hash.finalize().iter().take(8) {
            let _ = write!(id, "{byte:02x}");
        }
        id
    }
}

/// Settings after applying all defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Settings {
    /// Concurrent sessions per database (threads in Jetstress).
    pub threads_per_database: u32,
    /// Processor threads that drove all databases.
    pub executors: u32,
    /// Cache per database that is always retained.
    pub cache_minimum_bytes: u64,
    /// Maximum cache per database.
    pub cache_maximum_bytes: u64,
    /// Free pool per database below which pages are written out.
    pub flush_start_bytes: u64,
    /// Free pool per database at which writing out stops.
    pub flush_stop_bytes: u64,
    /// Log volume that a recovery may have to replay, per database.
    pub checkpoint_depth_bytes: u64,
    /// Page size of the databases.
    pub page_size_bytes: u32,
    /// Shares of the operations.
    pub mix: OperationMix,
    /// Commits that do not wait for the log, in percent of all commits.
    pub lazy_commit_percent: u32,
    /// Updates in one batch transaction.
    pub batch_operations: u32,
    /// Transactions per batch; 0 in records of earlier releases, which had one.
    pub commits_per_batch: u32,
    /// Share of each payload that is zeros, in percent.
    pub compressible_percent: u32,
    /// Messages with a payload from the pool shared by all databases, in percent.
    pub repeated_percent: u32,
    /// Skew of reads and replaces towards the newest messages: the exponent of Zipf's law.
    pub zipf_theta: f64,
    /// The preset that the load is based on; empty in records of earlier releases.
    pub preset: String,
    /// Whether every page is read and verified after the load.
    pub verify_checksums: bool,
    /// Whether the background maintenance scan ran.
    pub background_maintenance: bool,
    /// Copies of each database, the active one included; each further copy reads the logs once.
    pub copies_per_database: u32,
    /// Target transactional IOPS of the plan, over all databases; `None` for as many as possible.
    pub target_iops: Option<f64>,
    /// The target of each measured hour in percent of `target_iops`, repeating after the last one;
    /// empty if it was constant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hourly_percent: Vec<f64>,
    /// Whether warm-up and search also kept to the target; otherwise they loaded the storage as
    /// fast as it answered, as in all records of earlier releases.
    pub warm_up_held: bool,
    /// Number of mailboxes in the plan.
    pub mailboxes: Option<u64>,
    /// Transactional IOPS of one mailbox.
    pub iops_per_mailbox: Option<f64>,
    /// Size of one mailbox on disk.
    pub mailbox_bytes: Option<u64>,
    /// Size of the databases in percent of the volumes, if the plan sizes them so.
    pub capacity_percent: Option<f64>,
    /// Load in percent of the maximum, if the plan sets it so.
    pub throughput_percent: Option<f64>,
    /// Share of the maximum cache that must be filled to end the warm-up.
    pub warm_fraction: f64,
    /// Time between two samples.
    pub interval_ns: u64,
    /// Planned length of the measurement.
    pub measure_ns: u64,
    /// Log files that a recovery test should replay into each database; 0 in other tests.
    pub replay_logs: u32,
    /// Checkpoint depth of the passive copies that the logs were replayed into; `None` if they were
    /// replayed into the databases themselves.
    pub passive_copy_depth_bytes: Option<u64>,
    /// Limits of the run.
    pub thresholds: Thresholds,
}

/// Shares of the operations in percent; together 100.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperationMix {
    /// New messages, appended.
    pub insert_percent: u32,
    /// Random deletions.
    pub delete_percent: u32,
    /// Random replacements.
    pub replace_percent: u32,
    /// Reads at random places.
    pub read_percent: u32,
}

/// The limits of the verdict's rules.
///
/// The default is the set that Jetstress 2010 and 2013 call `Strict`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Thresholds {
    /// Name of the set in reports.
    pub name: String,
    /// Highest mean latency of a database's reads over the whole measurement.
    pub read_average_ns: u64,
    /// Highest mean latency of a database's reads in any one interval.
    pub read_maximum_ns: u64,
    /// Highest mean latency of a database's log writes over the whole measurement.
    pub log_write_average_ns: u64,
    /// Highest mean latency of a database's log writes in any one interval.
    pub log_write_maximum_ns: u64,
    /// Maximum time of any single request of any kind, from start to answer; `None` in records of
    /// runs that did not watch for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_request_ns: Option<u64>,
    /// 99th percentile limit for a database's read latency over the whole measurement; `None` if
    /// not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_p99_ns: Option<u64>,
    /// The same limit for its log writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_write_p99_ns: Option<u64>,
    /// Minimum bytes per second of each database in a backup or checksum test; `None` if not
    /// judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_rate_bytes_per_second: Option<u64>,
    /// Maximum time per log file of each database in a recovery test; `None` if not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_ns_per_log: Option<u64>,
    /// Highest mean rate of page-fault stalls over all databases.
    pub page_fault_stalls_per_second: f64,
    /// Percentage of the target IOPS that counts as reaching it.
    pub target_reached_percent: f64,
    /// A measurement shorter than this is inconclusive.
    pub minimum_measure_ns: u64,
    /// Fewer reads per database than this are inconclusive for reads.
    pub minimum_reads: u64,
    /// Fewer log writes per database than this are inconclusive for log writes.
    pub minimum_log_writes: u64,
}

impl Thresholds {
    /// For Performance tests: spikes to 100 ms.
    pub fn strict() -> Self {
        Self {
            name: "strict".to_owned(),
            read_average_ns: 20_000_000,
            read_maximum_ns: 100_000_000,
            log_write_average_ns: 10_000_000,
            log_write_maximum_ns: 100_000_000,
            longest_request_ns: Some(5_000_000_000),
            read_p99_ns: None,
            log_write_p99_ns: None,
            read_rate_bytes_per_second: None,
            replay_ns_per_log: None,
            page_fault_stalls_per_second: 1.0,
            target_reached_percent: 95.0,
            minimum_measure_ns: 30_000_000_000,
            minimum_reads: 100,
            minimum_log_writes: 100,
        }
    }

    /// For Stress tests: spikes to 200 ms.
    pub fn lenient() -> Self {
        Self {
            name: "lenient".to_owned(),
            read_maximum_ns: 200_000_000,
            log_write_maximum_ns: 200_000_000,
            ..Self::strict()
        }
    }
}

impl Default for Thresholds {
    fn default() -> Self {
        Self::strict()
    }
}

/// One database of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DatabaseFacts {
    /// Its position in the run, counted from 0; events refer to it by this.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Path of the database file.
    pub file: String,
    /// Folder of its logs.
    pub log_folder: String,
    /// Size of the file at the start of the run.
    pub initial_bytes: u64,
    /// Volume of the database file.
    #[serde(default)]
    pub volume: VolumeFacts,
    /// Volume of the logs.
    #[serde(default)]
    pub log_volume: VolumeFacts,
    /// Path of the copy that a backup makes; `None` if it makes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup_file: Option<String>,
    /// Its weight relative to the other databases; `None` if the load is divided equally.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// Facts about a volume; empty or `None` if unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct VolumeFacts {
    /// Mount point or drive.
    pub mount: String,
    /// Block device behind it.
    pub device: String,
    /// Model of the disk or array.
    pub model: String,
    /// File system.
    pub file_system: String,
    /// Size.
    pub size_bytes: u64,
    /// Free space at the start of the run.
    pub free_bytes: u64,
    /// Smallest unit that the volume writes without a read-modify-write.
    pub sector_bytes: u32,
    /// Whether it is a spinning disk.
    pub rotational: Option<bool>,
    /// Write cache policy in the operating system's words, such as `write back`.
    pub write_cache: Option<String>,
    /// Whether requests bypassed the operating system's cache.
    pub unbuffered: bool,
    /// Why an operating system cache is known to answer in place of the storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<String>,
    /// Why it is unknown whether such a cache answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caching_unknown: Option<String>,
    /// How a write was made durable, such as `RWF_DSYNC` or `write and fdatasync`.
    pub durable_writes: Option<String>,
    /// Limits that control groups set on the disk, as sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub io_limits: Vec<String>,
    /// Quotas and limits on file sizes, as sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub space_limits: Vec<String>,
}
