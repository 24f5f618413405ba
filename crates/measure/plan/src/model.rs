//! The validated plan: the basis of the rest of the program.

use std::fmt;

use units::{Bytes, Nanos, Seed};

use crate::day::LoadDay;
use crate::limits::Limits;
use crate::preset::Preset;

/// The databases to prepare, the load to run, and the limits to judge by. Made only by reading a
/// document, so every value is in range.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the run: in the title of its report and in the name of its folder.
    pub name: String,
    /// Free text for the report.
    pub description: String,
    /// Seed of every random stream of the run.
    pub seed: Seed,
    /// Source of the load's values that the document omits.
    pub preset: Preset,
    /// The load that the storage must carry, if the document states one.
    pub mailboxes: Option<MailboxDemand>,
    /// The databases, at least one.
    pub databases: Vec<Database>,
    /// Length of each database file after the fill, rounded up to its growth unit.
    pub size: Bytes,
    /// The share of each volume that the databases may grow to, in percent, if `size` derives from
    /// it.
    pub capacity_percent: Option<u32>,
    /// Page size: 4, 8, 16 or 32 KiB.
    pub page_size: Bytes,
    /// Buffer cache of each database.
    pub cache: Cache,
    /// Maximum amount of log between the checkpoint and the newest record.
    pub checkpoint_depth: Bytes,
    /// Unit of log writes, 512 or 4096 bytes; `None`: the disk's sector size.
    pub log_segment: Option<Bytes>,
    /// The cache on flash in front of the volumes, if there is one.
    pub flash_cache: Option<FlashCachePlan>,
    /// The load.
    pub workload: LoadSettings,
    /// The test and its length.
    pub test: Test,
    /// Limits of the measured latencies.
    pub limits: Limits,
}

impl Plan {
    /// The folder that this test copies `database` to; `None` if the database is only read.
    pub fn backup_folder<'a>(&self, database: &'a Database) -> Option<&'a str> {
        let is_backup = self.test.kind == TestKind::Backup;
        database.backup_folder.as_deref().filter(|_| is_backup)
    }

    /// Returns the weight of `database`; `None` if all databases weigh the same.
    pub fn weight(&self, database: &Database) -> Option<f64> {
        let first = self.databases[0].weight;
        let is_even = self.databases.iter().all(|of| of.weight.total_cmp(&first).is_eq());
        (!is_even).then_some(database.weight)
    }

    /// Load of `database` relative to the average database, which has 1.
    pub fn share(&self, database: &Database) -> f64 {
        let sum: f64 = self.databases.iter().map(|of| of.weight).sum();
        database.weight * self.databases.len() as f64 / sum
    }
}

/// The mailboxes that the storage must carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MailboxDemand {
    /// Number of mailboxes.
    pub count: u32,
    /// Transactional IOPS of one in its busiest hour.
    pub iops_each: f64,
    /// Size of one on disk.
    pub size: Bytes,
    /// Increase of the load above their requirement, in percent.
    pub headroom_percent: u32,
}

impl MailboxDemand {
    /// Target of database reads and writes per second: a whole number, and no less than they need.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "never negative, and too large a number becomes the largest"
    )]
    pub(crate) fn target_iops(&self) -> u32 {
        let required = f64::from(self.count) * self.iops_each;
        let exact = required * f64::from(100 + self.headroom_percent) / 100.0;
        // 0.1 a mailbox and 20 % make 120.00000000000001 of 120.
        (exact - 1e-6).ceil() as u32
    }
}

/// Location of one database, and its share of the load.
#[derive(Clone, Debug, PartialEq)]
pub struct Database {
    /// Number in the plan, counted from 0. It selects the content.
    pub index: u32,
    /// Folder of the database file.
    pub folder: String,
    /// Name of the database file in its folder: `Plimsoll001.edb`.
    pub file: String,
    /// Folder of the log.
    pub log_folder: String,
    /// Mount point of the volume that holds the folder, as far as the plan knows: else the folder.
    pub volume: String,
    /// The same for the folder of the log.
    pub log_volume: String,
    /// First three letters of every log file: `E00`.
    pub log_base: String,
    /// Folder to which a backup test copies the database; `None` if it is only read.
    pub backup_folder: Option<String>,
    /// Its share of the load, relative to the weights of the other databases.
    pub weight: f64,
}

/// The document's settings for one database.
#[derive(Clone, Debug)]
pub(crate) struct DatabasePlace {
    pub folder: String,
    pub log_folder: String,
    pub backup_folder: Option<String>,
    pub weight: f64,
}

/// Bounds of a buffer cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// Its minimum.
    pub minimum: Bytes,
    /// Its maximum.
    pub maximum: Bytes,
}

/// A cache on flash that writes through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlashCachePlan {
    /// Path of its file.
    pub file: String,
    /// Length of that file.
    pub size: Bytes,
    /// Folders whose files are cached, sorted.
    pub folders: Vec<String>,
    /// Bytes per second that may be written to flash; `None`: no limit.
    pub write_limit: Option<Bytes>,
}

/// The mix and shape of transactions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadSettings {
    /// Concurrent sessions of each database.
    pub sessions: Sessions,
    /// Database reads and writes per second of all databases at which the load is held; `None`: as
    /// many as the sessions produce.
    pub target_iops: Option<u32>,
    /// The target over the day; `None` if it is constant.
    pub day: Option<LoadDay>,
    /// The share of the highest load found before the measurement at which the load is held, in
    /// percent; `None`: not in the document.
    pub throughput_percent: Option<u32>,
    /// Shares of the operations.
    pub mix: Mix,
    /// Updates (inserts, deletes, replaces) of one batch transaction.
    pub batch_updates: u32,
    /// Transactions per batch, at most one for each update.
    pub commits_per_batch: u32,
    /// Payload kept inside the record, in bytes.
    pub short_pad_bytes: u32,
    /// Payload kept in the long-value tree, in bytes.
    pub long_pad_bytes: u32,
    /// Percent of each payload that is zeros, which storage may compress away.
    pub compressible_percent: u32,
    /// Percent of the messages with a payload from a pool that all databases share.
    pub repeated_percent: u32,
    /// Skew of reads and replaces towards the newest messages, 0 (none) to 0.99: the exponent of
    /// Zipf's law.
    pub zipf_theta: f64,
}

/// How many sessions load each database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sessions {
    /// The program chooses, and reports its choice.
    Auto,
    /// This many.
    Count(u32),
}

/// Percentages of the operations; they sum to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mix {
    /// Percent inserts, at the end of the table.
    pub insert: u32,
    /// Percent deletes.
    pub delete: u32,
    /// Percent replaces.
    pub replace: u32,
    /// Percent reads: the rest.
    pub read: u32,
    /// Percent of the commits that do not wait for the log.
    pub lazy_commits: u32,
}

/// The test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// Kind of test; decides the default duration and limits.
    pub kind: TestKind,
    /// Duration of the measurement, after the warm-up.
    pub duration: Nanos,
    /// The document's length of each kind of load.
    pub of_kinds: LoadDurations,
    /// Longest warm-up: measuring then begins even if the caches are not full yet.
    pub warm_up_limit: Nanos,
    /// How fast a load with a target fills the caches and searches for its sessions.
    pub warm_up: WarmUpPace,
    /// Span of one sample. Maximum latencies are judged on the average of a sample.
    pub interval: Nanos,
    /// Age at which an unanswered request ends the run.
    pub give_up: Nanos,
    /// Time limit for the steps after the measurement; `None`: derived from the size of the
    /// databases.
    pub finish: Option<Nanos>,
    /// Copies of each database, this one included; every further one reads each closed log.
    pub copies: u32,
    /// Log files that a recovery test has replayed into each database.
    pub replay_logs: u32,
    /// Checkpoint depth of the passive copy that a recovery test replays into: a copy of each
    /// database from before the logs, which writes pages as a passive copy does. `None`: replay
    /// goes into the database itself.
    pub passive_copy: Option<Bytes>,
    /// Whether every page is verified after the run.
    pub checksum: bool,
    /// Pause of the background maintenance scan between two reads; `None`: no scan.
    pub maintenance_throttle: Option<Nanos>,
}

/// How fast the storage is driven before the measurement of a load that has a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WarmUpPace {
    /// At the target from the first request: others may share the storage.
    #[default]
    Held,
    /// As fast as the storage answers.
    Full,
}

impl WarmUpPace {
    /// The words a plan uses.
    pub(crate) const NAMES: &'static [&'static str] = &["held", "full"];

    /// The pace of that name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "held" => Some(Self::Held),
            "full" => Some(Self::Full),
            _ => None,
        }
    }

    /// The word for it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Full => "full",
        }
    }
}

/// Durations of loads by kind, if the document gives them; they take precedence over the duration
/// of the document's own test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadDurations {
    /// `performance_duration`
    pub performance: Option<Nanos>,
    /// `stress_duration`
    pub stress: Option<Nanos>,
}

impl LoadDurations {
    /// Returns the duration of a kind; `None` if the document does not specify it, or the kind has
    /// no duration.
    pub const fn of(self, kind: TestKind) -> Option<Nanos> {
        match kind {
            TestKind::Performance => self.performance,
            TestKind::Stress => self.stress,
            TestKind::Backup | TestKind::Checksum | TestKind::Recovery => None,
        }
    }
}

impl Test {
    /// Whether logs are generated to be replayed.
    pub const fn is_recovery(&self) -> bool {
        matches!(self.kind, TestKind::Recovery)
    }

    /// Checkpoint depth of the passive copies that logs are replayed into, if any.
    pub fn replayed_copy(&self) -> Option<Bytes> {
        self.passive_copy.filter(|_| self.is_recovery())
    }
}

/// Which test; it decides the default duration and limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestKind {
    /// 2 hours under the strict limits.
    Performance,
    /// 24 hours under the lenient limits.
    Stress,
    /// Every database read once as a backup does.
    Backup,
    /// Every page of every database read once and verified.
    Checksum,
    /// Logs generated, then replayed into all databases at the same time.
    Recovery,
}

impl TestKind {
    /// The words a plan and the command line use.
    pub const NAMES: &'static [&'static str] =
        &["performance", "stress", "backup", "recovery", "checksum"];

    /// The kind of that name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "performance" => Some(Self::Performance),
            "stress" => Some(Self::Stress),
            "backup" => Some(Self::Backup),
            "checksum" => Some(Self::Checksum),
            "recovery" => Some(Self::Recovery),
            _ => None,
        }
    }

    /// Whether it runs transactions on the databases; any other kind reads each of them once.
    pub const fn is_load(self) -> bool {
        matches!(self, Self::Performance | Self::Stress | Self::Recovery)
    }

    /// Returns the default limits.
    pub(crate) const fn limits(self) -> Limits {
        match self {
            Self::Performance | Self::Backup | Self::Checksum | Self::Recovery => Limits::STRICT,
            Self::Stress => Limits::LENIENT,
        }
    }

    /// Returns the default duration.
    pub const fn duration(self) -> Nanos {
        match self {
            Self::Performance | Self::Backup | Self::Checksum | Self::Recovery => {
                Nanos::from_secs(2 * 3600)
            }
            Self::Stress => Nanos::from_secs(24 * 3600),
        }
    }
}

impl fmt::Display for TestKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Performance => "performance",
            Self::Stress => "stress",
            Self::Backup => "backup",
            Self::Checksum => "checksum",
            Self::Recovery => "recovery",
        })
    }
}

impl Database {
    /// Maximum number of databases in a plan: log base names are `E00` to `EFF`.
    pub(crate) const MOST: u32 = 256;

    /// Whether the weight must be written because it differs from the default of 1.
    pub(crate) fn has_weight(&self) -> bool {
        self.weight.total_cmp(&1.0).is_ne()
    }

    /// The database number `index`, counted from 0, with the names of its files.
    pub(crate) fn new(index: u32, place: DatabasePlace) -> Self {
        let DatabasePlace { folder, log_folder, backup_folder, weight } = place;
        Self {
            index,
            volume: folder.clone(),
            folder,
            file: format!("Plimsoll{:03}.edb", index + 1),
            log_volume: log_folder.clone(),
            log_folder,
            log_base: format!("E{index:02X}"),
            backup_folder,
            weight,
        }
    }
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::MailboxDemand;

    /// A load below what the mailboxes need would prove nothing about them.
    #[test]
    fn a_target_is_no_less_than_the_mailboxes_need() {
        for (count, iops_each, headroom_percent, target) in
            [(17, 0.067, 20, 2), (1_000, 0.1, 20, 120), (1_340, 0.12, 0, 161), (3, 0.1, 0, 1)]
        {
            let size = Bytes::from_mib(1);
            let demand = MailboxDemand { count, iops_each, size, headroom_percent };
            assert_eq!(demand.target_iops(), target, "{count} of {iops_each}");
        }
    }
}
