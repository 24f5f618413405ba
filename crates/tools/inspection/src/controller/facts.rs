//! A controller and its drives as facts of one shape, whichever tool told them. Each fact is
//! [`KnownFact`]: not told, told, contradictory, or in words that are not understood.

use super::known::KnownFact;

/// A controller as its maker's tool describes it, or what replaces one: the software RAID of
/// the system, a flash device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Controller {
    /// Whose tool told.
    pub tool: Tool,
    /// What the tool's commands call it: `0`, `2`. None if the output does not say.
    pub id: Option<String>,
    /// By which it is known in every output.
    pub serial: Option<String>,
    /// Its model.
    pub model: String,
    /// What tells it from another of the same number in a list: a serial number or a file.
    pub label: Option<String>,
    /// Its own state.
    pub status: KnownFact<Health>,
    /// Errors of its memory.
    pub memory: KnownFact<Health>,
    /// Whether it keeps writes of a drive that is gone.
    pub preserved_cache: KnownFact<Health>,
    /// State of the cache, apart from what keeps it.
    pub cache: KnownFact<Health>,
    /// Whether outputs of this form tell the state of the cache, so that its absence is a gap.
    pub tells_cache: bool,
    /// What the tool says further of the cache.
    pub cache_details: Vec<String>,
    /// State of arrays, of which drives are parts.
    pub arrays: KnownFact<Health>,
    /// Memory of its cache, in bytes.
    pub cache_bytes: KnownFact<u64>,
    /// What keeps the cache when power fails.
    pub backup: KnownFact<CacheBackup>,
    /// Share of the cache that reads get, in percent, if it is set apart.
    pub read_percent: KnownFact<u32>,
    /// Whether writes are kept in the cache even when nothing keeps that.
    pub caches_without_backup: KnownFact<bool>,
    /// Caches of the disks themselves, if that is set for all at once.
    pub disk_caches: KnownFact<DiskCaches>,
    /// Whether disks are handed through without the controller's cache.
    pub passes_disks_through: KnownFact<bool>,
    /// Its logical drives.
    pub drives: Vec<LogicalDrive>,
    /// Physical disks that the output describes one by one.
    pub disks: Vec<PhysicalDisk>,
    /// What the output should have by its form, and has not.
    pub gaps: Vec<String>,
}

/// A program that reports controllers or what replaces them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    /// Broadcom's, and Dell's perccli, which is the same.
    #[default]
    Storcli,
    /// The generation from 8.0 on, with other names and words.
    Storcli2,
    /// LSI's before storcli.
    Megacli,
    /// HPE's; hpssacli and hpacucli before it.
    Ssacli,
    /// That of Adaptec and Microchip.
    Arcconf,
    /// Linux's software RAID, and what the kernel says of it.
    Mdadm,
    /// Flash devices without a controller in front.
    Nvme,
}

/// A state: of a controller, a cache, a drive, a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// In order.
    Ok,
    /// It works, but not as it could; in the tool's words.
    Limited(String),
    /// Not in order; in the tool's words.
    Bad(String),
}

impl Health {
    /// What is wrong, if anything is.
    pub(super) fn bad_words(&self) -> Option<&str> {
        match self {
            Self::Bad(words) => Some(words),
            Self::Ok | Self::Limited(_) => None,
        }
    }
}

/// What keeps a controller's cache when power fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheBackup {
    /// A battery, or a capacitor with flash, which is in order.
    Ready,
    /// There is one, and it is not in order; what it says.
    NotReady(String),
    /// There is none.
    Absent,
}

/// Caches of disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskCaches {
    /// On.
    On,
    /// Off.
    Off,
    /// As each disk has it by itself.
    LeftToDisks,
}

/// What the system sees as a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogicalDrive {
    /// What the tool's commands call it: `0`, `1`.
    pub id: String,
    /// RAID level in the tool's words: `RAID6`, `1+0`.
    pub level: KnownFact<String>,
    /// Bytes on one disk before the next.
    pub strip_bytes: KnownFact<u64>,
    /// What becomes of writes now.
    pub writes: KnownFact<WritePolicy>,
    /// What was asked for, if the tool tells that apart.
    pub writes_set: KnownFact<WritePolicy>,
    /// Whether more is read than was asked for.
    pub reads_ahead: KnownFact<bool>,
    /// Whether the caches of its disks are on.
    pub disk_caches: KnownFact<DiskCaches>,
    /// Disks that it is made of.
    pub disks: KnownFact<u32>,
    /// Whether these are flash.
    pub is_flash: KnownFact<bool>,
    /// Its own state.
    pub state: KnownFact<Health>,
    /// States of its disks, if the tool tells them with the drive.
    pub members: KnownFact<Health>,
    /// The disk that the system sees: `/dev/sda`.
    pub device: Option<String>,
}

/// A physical disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhysicalDisk {
    /// What the tool calls it.
    pub name: String,
    /// Its own cache.
    pub cache: KnownFact<DiskCaches>,
    /// Its state.
    pub state: KnownFact<Health>,
}

/// What becomes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritePolicy {
    /// It is answered from the cache while something keeps that.
    Back,
    /// It is answered from the cache always.
    BackAlways,
    /// It is answered from the cache; whether always, the tool does not say here.
    BackPerhapsAlways,
    /// It is answered by the disks.
    Through,
}

impl Controller {
    pub(super) fn new(tool: Tool, id: Option<&str>) -> Self {
        Self { tool, id: id.map(str::to_owned), ..Self::default() }
    }

    /// The drive of this name, new if it was not told of yet.
    pub(super) fn drive(&mut self, id: &str) -> &mut LogicalDrive {
        let at = self.drives.iter().position(|drive| drive.id == id).unwrap_or_else(|| {
            self.drives.push(LogicalDrive { id: id.to_owned(), ..LogicalDrive::default() });
            self.drives.len() - 1
        });
        &mut self.drives[at]
    }

    /// The disk of this name, new if it was not told of yet.
    pub(super) fn disk(&mut self, name: &str) -> &mut PhysicalDisk {
        let at = self.disks.iter().position(|disk| disk.name == name).unwrap_or_else(|| {
            self.disks.push(PhysicalDisk { name: name.to_owned(), ..PhysicalDisk::default() });
            self.disks.len() - 1
        });
        &mut self.disks[at]
    }

    /// Notes what an output of this form should say of a part, and does not.
    pub(super) fn expect(&mut self, is_told: bool, part: &str, what: &str) {
        if !is_told {
            self.gaps.push(format!("{part} has no {what}"));
        }
    }

    /// Notes drives that cannot be as they are told, of fewer disks than their level needs, and
    /// drops those without a number that a command takes.
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

    /// Whether it tells of disks only, as outputs for disks do.
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
    /// Whether its name is one that tools give: a number, or an array of Linux.
    fn has_number(&self) -> bool {
        let name = self.id.trim_start_matches("/dev/").trim_start_matches("CacheCade ");
        let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        is_number || name.starts_with("md") && name.is_ascii()
    }
}

/// Disks that a drive of a level has at least.
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
