//! The array description file, with the position of every mistake in it.

mod bounds;
mod host_cache;

use std::fmt;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

pub use host_cache::HostCacheSection;

use crate::disk::{QueuePolicy, SeekFamily};
use crate::model::CacheMode;
use crate::raid::RaidLevel;

/// An array, as described by its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayDescription {
    /// Its name in reports.
    pub name: String,
    /// Source of its numbers.
    pub provenance: String,
    /// The results that the numbers were fitted to, and their error.
    #[serde(default)]
    pub calibration: Calibration,
    /// RAID level and size of the set.
    pub raid: RaidSection,
    /// The drives, if they have arms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskSection>,
    /// The drives, if they are flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<FlashSection>,
    /// The controller's memory.
    #[serde(default)]
    pub(crate) cache: CacheSection,
    /// The path between host and array.
    #[serde(default)]
    pub path: PathSection,
    /// Limits set by its seller.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: LimitSection,
    /// Other hosts on the same drives.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) neighbours: NeighbourSection,
    /// Additional I/O of the host's file system.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) file_system: FileSystemSection,
    /// Processor time of the host for transactions.
    #[serde(default, skip_serializing_if = "is_default")]
    pub host: HostSection,
    /// Flash in the host in front of the array, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_cache: Option<HostCacheSection>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The results that the numbers of a file were fitted to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Published or measured results; empty if there are none.
    #[serde(default)]
    pub results: Vec<String>,
    /// Number of free parameters in the fit.
    #[serde(default)]
    pub free_parameters: u32,
    /// Error bound of latencies, in percent of the true ones, either way. 25 if nothing was fitted:
    /// predictions of published runs from data sheets alone were off by 7 to 24 %.
    #[serde(default = "unfitted_percent")]
    pub uncertainty_percent: f64,
}

const fn unfitted_percent() -> f64 {
    25.0
}

impl Default for Calibration {
    fn default() -> Self {
        Self { results: Vec::new(), free_parameters: 0, uncertainty_percent: unfitted_percent() }
    }
}

/// How drives make a set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RaidSection {
    /// 0, 1, 5, 6 or 10; a single drive is 0.
    pub(crate) level: RaidLevel,
    /// Drives of the set, spares not counted.
    pub disks: usize,
    /// KiB on one drive before the next one follows.
    #[serde(default = "usual_stripe_kib")]
    pub stripe_kib: u64,
    /// Drives that have failed: 0 or 1.
    #[serde(default)]
    pub failed: usize,
    /// Spare drives; one replaces a failed drive under load.
    #[serde(default)]
    pub spares: usize,
    /// Percent of its time that a rebuild gets, as in controllers: 30 is the default of `MegaRAID`
    /// and PERC controllers; 100 never pauses.
    #[serde(default = "usual_rebuild_percent")]
    pub rebuild_percent: f64,
    /// Percent of the drive that the spare holds when the load begins.
    #[serde(default)]
    pub rebuilt_percent: f64,
}

impl RaidSection {
    /// A whole set of `disks` drives with default settings.
    pub(crate) const fn of(level: RaidLevel, disks: usize) -> Self {
        Self {
            level,
            disks,
            stripe_kib: usual_stripe_kib(),
            failed: 0,
            spares: 0,
            rebuild_percent: usual_rebuild_percent(),
            rebuilt_percent: 0.0,
        }
    }
}

impl RaidSection {
    /// Number of further drives that it can lose, in any combination.
    pub const fn survived_disks(&self) -> usize {
        let whole: usize = match self.level {
            RaidLevel::Raid0 => 0,
            RaidLevel::Raid1 | RaidLevel::Raid5 | RaidLevel::Raid10 => 1,
            RaidLevel::Raid6 => 2,
        };
        whole.saturating_sub(self.failed)
    }
}

const fn usual_stripe_kib() -> u64 {
    64
}

const fn usual_rebuild_percent() -> f64 {
    30.0
}

/// A disk with an arm. Times in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskSection {
    /// Revolutions per minute.
    pub rpm: f64,
    /// Decimal gigabytes of one disk.
    pub capacity_gb: f64,
    /// MB (decimal) per second at the outermost track.
    pub outer_mb_per_second: f64,
    /// MB (decimal) per second at the innermost track.
    pub inner_mb_per_second: f64,
    /// The shortest seek.
    pub seek_track_to_track_ms: f64,
    /// The average seek of a read.
    pub seek_average_ms: f64,
    /// The seek from edge to edge.
    pub seek_full_ms: f64,
    /// The curve through these three: `phases`, or `root-and-line` for arrays fitted with it.
    #[serde(default)]
    pub(crate) seek_curve: SeekFamily,
    /// Measured seeks instead of these three: pairs of a fraction of the full stroke and
    /// milliseconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seek_table: Vec<(f64, f64)>,
    /// Extra settle time of the arm for a write.
    #[serde(default)]
    pub write_settle_ms: f64,
    /// Overhead of every command besides the mechanics.
    #[serde(default)]
    pub overhead_ms: f64,
    /// Number of queued requests that the disk chooses from.
    #[serde(default = "usual_queue_depth")]
    pub queue_depth: usize,
    /// How it chooses.
    #[serde(default)]
    pub(crate) policy: QueuePolicy,
    /// KiB that it reads ahead after a read.
    #[serde(default = "usual_read_ahead_kib")]
    pub read_ahead_kib: u64,
    /// KiB of the disk's volatile write cache; 0: switched off, as controllers with a write cache
    /// do.
    #[serde(default)]
    pub write_cache_kib: u64,
    /// Whether it acknowledges durable writes and flushes without doing them.
    #[serde(default)]
    pub ignores_flushes: bool,
}

const fn usual_queue_depth() -> usize {
    32
}

const fn usual_read_ahead_kib() -> u64 {
    512
}

/// A flash device. Times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashSection {
    /// Decimal gigabytes of one device.
    pub capacity_gb: f64,
    /// Number of dies that work concurrently.
    pub dies: usize,
    /// A read of a flash page.
    pub read_us: f64,
    /// Programming a flash page.
    pub program_us: f64,
    /// KiB of a flash page.
    pub page_kib: u64,
    /// MB (decimal) per second of the interface.
    pub interface_mb_per_second: f64,
    /// Overhead of every command.
    #[serde(default)]
    pub overhead_us: f64,
    /// Additional time of every write: a journal, a copy, a network.
    #[serde(default)]
    pub write_overhead_us: f64,
    /// Further additional time of a durable write or a flush.
    #[serde(default)]
    pub durable_us: f64,
    /// Extra time of a read that arrives while a write is outstanding: virtual disks serve both
    /// from one queue.
    #[serde(default)]
    pub read_beside_writes_us: f64,
    /// Bytes written to flash per byte of host writes, in the steady state.
    #[serde(default = "no_amplification")]
    pub write_amplification: f64,
    /// KiB of writes that a buffer takes before they are programmed.
    #[serde(default)]
    pub buffer_kib: u64,
    /// Whether the buffer is volatile, as in drives without capacitors: durable writes then wait
    /// until they are programmed.
    #[serde(default)]
    pub buffer_is_volatile: bool,
}

const fn no_amplification() -> f64 {
    1.0
}

/// The controller's memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CacheSection {
    /// Its write policy.
    pub(crate) mode: CacheMode,
    /// Whether its battery is good; without one it writes through.
    pub battery: bool,
    /// MiB of the memory.
    pub size_mib: u64,
    /// Percent of the memory that is for writes.
    pub write_percent: u64,
    /// Percent of the write memory below which nothing is written to the disks.
    pub low_mark_percent: u64,
    /// Maximum number of extents being destaged.
    pub destage_concurrency: usize,
    /// Maximum length of a destaged extent, in KiB.
    pub destage_kib: u64,
    /// KiB read ahead of a stream.
    pub read_ahead_kib: u64,
    /// Streams that it follows at a time. If they are few, random reads keep a slow scan from being
    /// recognised.
    pub read_ahead_streams: usize,
    /// Percent of all 32 KiB pages that it caches for reads, like full flash in front of disks.
    /// That share of uniform random reads hits, regardless of policy.
    pub read_hit_percent: u64,
    /// Microseconds until the other controller has a copy of a write.
    pub mirror_us: f64,
}

impl Default for CacheSection {
    fn default() -> Self {
        Self {
            mode: CacheMode::PassThrough,
            battery: true,
            size_mib: 0,
            write_percent: 75,
            low_mark_percent: 0,
            destage_concurrency: 8,
            destage_kib: 512,
            read_ahead_kib: 0,
            read_ahead_streams: 16,
            read_hit_percent: 0,
            mirror_us: 0.0,
        }
    }
}

/// The path between host and array. Times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PathSection {
    /// Links that share the load.
    pub links: usize,
    /// Payload of each link, in MB (decimal) per second: 118 for 1 Gb/s Ethernet, 1,180 for 10
    /// Gb/s, 600 for SAS of 6 Gb/s.
    pub mb_per_second: f64,
    /// Transit time, in one direction.
    pub latency_us: f64,
    /// Processors of the front end.
    pub processors: usize,
    /// Front-end processor time for a request.
    pub request_us: f64,
    /// Front-end processor time for a write, if it differs from other requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_us: Option<f64>,
    /// Front-end processor time for each KiB of a request.
    pub kib_us: f64,
    /// Front-end processor time for each request that the array sends to a drive, including parity.
    pub drive_us: f64,
}

impl Default for PathSection {
    fn default() -> Self {
        Self {
            links: 1,
            mb_per_second: 600.0,
            latency_us: 5.0,
            processors: 1,
            request_us: 10.0,
            write_us: None,
            kib_us: 0.0,
            drive_us: 0.0,
        }
    }
}

/// Limits set by a seller, over all requests together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitSection {
    /// Requests per second; 0 for no limit.
    pub iops: f64,
    /// MB (decimal) per second; 0 for no limit.
    pub mb_per_second: f64,
    /// KiB that count as one request; a longer one counts as several. 256 is the usual value of
    /// cloud disks.
    pub request_kib: u64,
    /// Milliseconds for which unused requests and bytes are saved up.
    pub burst_ms: f64,
}

impl Default for LimitSection {
    fn default() -> Self {
        Self { iops: 0.0, mb_per_second: 0.0, request_kib: 256, burst_ms: 0.0 }
    }
}

/// Other hosts on the same drives: random requests all over the set, at random times. They share
/// cache and drives with this host, and have separate links.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct NeighbourSection {
    /// Reads per second, of all neighbours in total.
    pub reads_per_second: f64,
    /// Writes per second.
    pub writes_per_second: f64,
    /// KiB of each.
    pub kib: u64,
}

impl Default for NeighbourSection {
    fn default() -> Self {
        Self { reads_per_second: 0.0, writes_per_second: 0.0, kib: 32 }
    }
}

/// Additional writes of the host's file system.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FileSystemSection {
    /// Writes of the file system per hundred database writes. 0 for file systems that write in
    /// place; 33 for `ReFS`, derived from a published run that lost 13 % of its rate to it.
    pub metadata_percent: u32,
    /// KiB of each.
    pub write_kib: u64,
    /// Whether a write completes only after the additional writes.
    pub is_awaited: bool,
}

impl Default for FileSystemSection {
    fn default() -> Self {
        Self { metadata_percent: 0, write_kib: 32, is_awaited: false }
    }
}

/// Processor time of the host for transactions. None by default: the processors can be the limit
/// only if it is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostSection {
    /// Number of processors; 0 if their time costs nothing.
    pub processors: usize,
    /// Microseconds for each record that a transaction changes, with the reads that come with it.
    pub update_us: f64,
    /// Microseconds for each transaction.
    pub commit_us: f64,
}

/// Why a description cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DescriptionError {
    /// It cannot be read.
    Syntax {
        /// The file.
        file: String,
        /// Line, counted from 1; 0 if unknown.
        line: usize,
        /// The problem.
        problem: String,
    },
    /// A value makes no sense.
    Value {
        /// The file.
        file: String,
        /// The key, with its section.
        key: &'static str,
        /// Valid values.
        wanted: String,
    },
}

impl fmt::Display for DescriptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { file, line: 0, problem } => write!(f, "{file}: {problem}"),
            Self::Syntax { file, line, problem } => write!(f, "{file}:{line}: {problem}"),
            Self::Value { file, key, wanted } => write!(f, "{file}: {key} must be {wanted}"),
        }
    }
}

impl std::error::Error for DescriptionError {}

impl ArrayDescription {
    /// Parses `text`, read from the file named `file`. `changes` overrides values by dotted key,
    /// such as `cache.mode`.
    pub fn parse(
        file: &str,
        text: &str,
        changes: &[(String, String)],
    ) -> Result<Self, DescriptionError> {
        let wrong = |error: &toml::de::Error| DescriptionError::Syntax {
            file: file.to_owned(),
            line: error.span().map_or(0, |span| line_of(text, span.start)),
            problem: error.message().trim().replace('\n', "; "),
        };
        let description: Self = if changes.is_empty() {
            toml::from_str(text).map_err(|error| wrong(&error))?
        } else {
            let mut table: Table = toml::from_str(text).map_err(|error| wrong(&error))?;
            for (key, value) in changes {
                put(&mut table, file, key, value)?;
            }
            table.try_into().map_err(|error: toml::de::Error| DescriptionError::Syntax {
                file: file.to_owned(),
                line: 0,
                problem: error.message().trim().replace('\n', "; "),
            })?
        };
        description.model(file)?;
        Ok(description)
    }

    /// Capacity of the array in bytes.
    pub fn capacity_bytes(&self) -> u64 {
        self.model(&self.name).map_or(0, |model| model.capacity())
    }

    /// Whether its data survive the loss of one drive.
    pub fn survives_a_drive(&self) -> bool {
        self.raid.level != RaidLevel::Raid0
    }

    /// The description as file text, which parses to the same description.
    pub fn text(&self) -> String {
        toml::to_string(self).expect("invariant: a description has text keys and finite numbers")
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// Sets the value at `key` from user input. Words need no quotes.
fn put(table: &mut Table, file: &str, key: &str, value: &str) -> Result<(), DescriptionError> {
    let problem =
        |problem: String| DescriptionError::Syntax { file: file.to_owned(), line: 0, problem };
    let name = key.strip_prefix("array.").unwrap_or(key);
    let read: Option<Value> = value.parse().ok();
    let value = read.unwrap_or_else(|| Value::String(value.to_owned()));
    let (section, name) = name.split_once('.').unwrap_or(("", name));
    if section.is_empty() {
        table.insert(name.to_owned(), value);
        return Ok(());
    }
    let entry = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
    let Value::Table(inner) = entry else {
        return Err(problem(format!("{key}: `{section}` is no section")));
    };
    inner.insert(name.to_owned(), value);
    Ok(())
}

#[cfg(test)]
mod tests;
