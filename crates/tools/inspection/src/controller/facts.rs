//! A controller and its drives as facts of one shape, whichever tool reported them. Each fact is
//! [`KnownFact`]: absent, reported, contradictory, or in words that are not understood.

use super::known::KnownFact;

/// A controller as reported by its vendor's tool, or a substitute for one: the system's software
/// RAID, a flash device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Controller {
    /// The tool that reported the controller.
    pub tool: Tool,
    /// Name in the tool's commands: `0`, `2`. `None` if the output lacks it.
    pub id: Option<String>,
    /// Serial number, which identifies the controller in every output.
    pub serial: Option<String>,
    /// Model, in the tool's words; empty if the output lacks it.
    pub model: String,
    /// Serial number or file that distinguishes the controller from another of the same number in a
    /// list.
    pub label: Option<String>,
    /// The controller's state, apart from its parts.
    pub(crate) status: KnownFact<Health>,
    /// Whether the controller's memory has errors.
    pub(crate) memory: KnownFact<Health>,
    /// Whether the cache still keeps writes for a missing drive.
    pub(crate) preserved_cache: KnownFact<Health>,
    /// State of the cache, apart from its protection.
    pub(crate) cache: KnownFact<Health>,
    /// Whether outputs of this form report the state of the cache, so that its absence is a gap.
    pub tells_cache: bool,
    /// Other details of the cache that the tool reports.
    pub cache_details: Vec<String>,
    /// State of the arrays that drives are cut from.
    pub(crate) arrays: KnownFact<Health>,
    /// Bytes of cache memory.
    pub cache_bytes: KnownFact<u64>,
    /// Protection of the cache against power failure.
    pub(crate) backup: KnownFact<CacheBackup>,
    /// Percentage of the cache for reads, if it is divided.
    pub read_percent: KnownFact<u32>,
    /// Whether writes are cached even without protection.
    pub caches_without_backup: KnownFact<bool>,
    /// Caches of the disks themselves, if one setting covers them all.
    pub(crate) disk_caches: KnownFact<DiskCaches>,
    /// Whether disks are passed through without the controller's cache.
    pub passes_disks_through: KnownFact<bool>,
    /// Its logical drives.
    pub drives: Vec<LogicalDrive>,
    /// Physical disks that the output describes one by one.
    pub(crate) disks: Vec<PhysicalDisk>,
    /// Facts that outputs of this form should have and this one lacks.
    pub gaps: Vec<String>,
}

/// A program that reports controllers or their substitutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    /// Broadcom's tool, and the identical perccli from Dell.
    #[default]
    Storcli,
    /// storcli from 8.0 on, with other names and words.
    Storcli2,
    /// LSI's tool before storcli.
    Megacli,
    /// HPE's tool, formerly hpssacli and hpacucli.
    Ssacli,
    /// The tool of Adaptec and Microchip.
    Arcconf,
    /// Linux's software RAID, as the kernel reports it.
    Mdadm,
    /// Flash devices without a controller in front.
    Nvme,
}

/// State of a controller, a cache, a drive or a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    /// In good order.
    Ok,
    /// Works with restrictions, in the tool's words.
    Limited(String),
    /// Faulty, in the tool's words.
    Bad(String),
}

impl Health {
    /// The description of the fault, if any.
    pub(super) fn bad_words(&self) -> Option<&str> {
        match self {
            Self::Bad(words) => Some(words),
            Self::Ok | Self::Limited(_) => None,
        }
    }
}

/// Protection of a controller's cache against power failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CacheBackup {
    /// A battery, or a capacitor with flash, which is in order.
    Ready,
    /// Present but not ready, in the tool's words.
    NotReady(String),
    /// None installed.
    Absent,
}

/// Caches of disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiskCaches {
    /// On.
    On,
    /// Off.
    Off,
    /// Each disk keeps its own setting.
    LeftToDisks,
}

/// A unit that the system sees as a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogicalDrive {
    /// Name in the tool's commands: `0`, `1`.
    pub id: String,
    /// RAID level in the tool's words: `RAID6`, `1+0`.
    pub level: KnownFact<String>,
    /// Bytes on one disk before the next one continues.
    pub strip_bytes: KnownFact<u64>,
    /// Write policy in force.
    pub writes: KnownFact<WritePolicy>,
    /// Configured write policy, if the tool reports it separately.
    pub writes_set: KnownFact<WritePolicy>,
    /// Whether the drive reads ahead.
    pub reads_ahead: KnownFact<bool>,
    /// State of the caches of its disks.
    pub(crate) disk_caches: KnownFact<DiskCaches>,
    /// Number of its disks.
    pub disks: KnownFact<u32>,
    /// Whether its disks are flash.
    pub is_flash: KnownFact<bool>,
    /// The drive's state, apart from its disks'.
    pub(crate) state: KnownFact<Health>,
    /// States of its disks, if the tool reports them with the drive.
    pub(crate) members: KnownFact<Health>,
    /// The disk that the system sees: `/dev/sda`.
    pub device: Option<String>,
}

/// A physical disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PhysicalDisk {
    /// The tool's name for it.
    pub name: String,
    /// State of the disk's cache.
    pub(crate) cache: KnownFact<DiskCaches>,
    /// Its state.
    pub(crate) state: KnownFact<Health>,
}

/// Handling of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritePolicy {
    /// Acknowledged from the cache, but only while the cache is protected.
    Back,
    /// Always acknowledged from the cache.
    BackAlways,
    /// Acknowledged from the cache; the tool does not report here whether also while it is
    /// unprotected.
    BackPerhapsAlways,
    /// Acknowledged by the disks.
    Through,
}

impl Controller {
    pub(super) fn new(tool: Tool, id: Option<&str>) -> Self {
        Self { tool, id: id.map(str::to_owned), ..Self::default() }
    }

    /// The drive of this name, created if it is new.
    pub(super) fn drive(&mut self, id: &str) -> &mut LogicalDrive {
        let at = self.drives.iter().position(|drive| drive.id == id).unwrap_or_else(|| {
            self.drives.push(LogicalDrive { id: id.to_owned(), ..LogicalDrive::default() });
            self.drives.len() - 1
        });
        &mut self.drives[at]
    }

    /// The disk of this name, created if it is new.
    pub(super) fn disk(&mut self, name: &str) -> &mut PhysicalDisk {
        let at = self.disks.iter().position(|disk| disk.name == name).unwrap_or_else(|| {
            self.disks.push(PhysicalDisk { name: name.to_owned(), ..PhysicalDisk::default() });
            self.disks.len() - 1
        });
        &mut self.disks[at]
    }

    /// Records that the output lacks the fact `what` about `part`, which outputs of this form
    /// should have, unless the flag is set.
    pub(super) fn expect(&mut self, is_told: bool, part: &str, what: &str) {
        if !is_told {
            self.gaps.push(format!("{part} has no {what}"));
        }
    }

    /// Records drives with fewer disks than their level needs, and drops and records those whose
    /// name no command accepts.
    pub(super) fn expect_sense(&mut self) {
        let mut odd = Vec::new();
        let (named, nameless): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.drives).into_iter().partition(LogicalDrive::has_number);
        self.drives = named;
        odd.extend(nameless.iter().map(|drive| format!("a drive is called \"{}\"", drive.id)));
        for drive in &self.drives {
            let least = drive.level.only().map_or(1, |level| least_disks(level));
            if drive.disks.told().iter().any(|&disks| disks < least) {
                odd.push(format!("drive {} has fewer disks than its level needs", drive.id));
            }
        }
        self.gaps.extend(odd);
    }

    /// Whether the output covers only disks, like outputs of commands for disks.
    pub(super) fn is_of_disks_only(&self) -> bool {
        self.drives.is_empty()
            && !self.backup.is_told()
            && !self.status.is_told()
            && !self.cache.is_told()
            && !self.passes_disks_through.is_told()
            && !self.disks.is_empty()
    }
}

impl LogicalDrive {
    /// Whether the name has a form that tools use: a number, or a Linux array.
    fn has_number(&self) -> bool {
        let name = self.id.trim_start_matches("/dev/").trim_start_matches("CacheCade ");
        let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        is_number || name.starts_with("md") && name.is_ascii()
    }
}

/// Minimum number of disks of a drive with this level.
fn least_disks(level: &str) -> u32 {
    let digits: String = level.chars().filter(char::is_ascii_digit).collect();
    match digits.as_str() {
        "1" | "10" => 2,
        "5" => 3,
        "6" => 4,
        "50" => 6,
        "60" => 8,
        _ => 1,
    }
}
