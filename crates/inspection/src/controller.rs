//! RAID controllers: what their makers' tools say, as facts of one shape, and what that means for a
//! mail store.

mod arcconf;
mod rules;
mod ssacli;
mod storcli;
mod words;

use std::fmt;

pub use rules::{of_controller, silent, untold};

/// A controller, as far as its maker's tool told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Controller {
    /// Whose tool told.
    pub tool: Tool,
    /// What the tool's commands call it: `0`, `2`.
    pub id: String,
    /// Its model.
    pub model: String,
    /// Memory of its cache, in bytes.
    pub cache_bytes: Option<u64>,
    /// What keeps the cache when power fails.
    pub backup: CacheBackup,
    /// Share of the cache that reads get, in percent, where it is set apart.
    pub read_percent: Option<u32>,
    /// Whether writes are kept in the cache even when nothing keeps that.
    pub caches_without_backup: Option<bool>,
    /// Whether the caches of the disks themselves are on, where that is set for all at once.
    pub disk_caches: Option<bool>,
    /// Whether disks are handed through without the controller's cache.
    pub passes_disks_through: Option<bool>,
    /// Its logical drives.
    pub drives: Vec<LogicalDrive>,
    /// Physical disks with their own caches on or off, where that is told of each.
    pub disks: Vec<(String, bool)>,
}

/// A program that a maker of controllers gives away with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    /// Broadcom's, and Dell's perccli, which is the same.
    #[default]
    Storcli,
    /// HPE's; hpssacli and hpacucli before it.
    Ssacli,
    /// That of Adaptec and Microchip.
    Arcconf,
}

/// What keeps a controller's cache when power fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CacheBackup {
    /// A battery, or a capacitor with flash, which is in order.
    Ready,
    /// There is one, and it is not in order; what it says.
    NotReady(String),
    /// There is none.
    Absent,
    /// The tool did not say.
    #[default]
    Untold,
}

/// What the system sees as a disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogicalDrive {
    /// What the tool's commands call it: `0`, `1`.
    pub id: String,
    /// RAID level in the tool's words: `RAID6`, `1+0`.
    pub level: String,
    /// Bytes on one disk before the next.
    pub strip_bytes: Option<u64>,
    /// What becomes of writes.
    pub writes: WritePolicy,
    /// Whether more is read than was asked for.
    pub reads_ahead: Option<bool>,
    /// Whether the caches of its disks are on.
    pub disk_caches: Option<bool>,
    /// Disks that it is made of.
    pub disks: Option<u32>,
    /// Whether these are flash.
    pub is_flash: Option<bool>,
    /// What the tool says where it is not in order.
    pub trouble: Option<String>,
    /// The disk that the system sees: `/dev/sda`.
    pub device: Option<String>,
}

/// What becomes of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WritePolicy {
    /// It is answered from the cache while something keeps that.
    Back,
    /// It is answered from the cache always.
    BackAlways,
    /// It is answered by the disks.
    Through,
    /// The tool did not say.
    #[default]
    Untold,
}

/// Why an output could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerError {
    /// It is the output of no tool that is known.
    Unknown,
    /// It begins as JSON and does not end so; why.
    Syntax(String),
    /// It is JSON, and not of a controller.
    NotOfControllers,
    /// The tool says that it failed; its words.
    Failed(String),
    /// No controller is described in it.
    Empty(Tool),
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Storcli => "storcli",
            Self::Ssacli => "ssacli",
            Self::Arcconf => "arcconf",
        })
    }
}

impl fmt::Display for ControllerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str(
                "is no output of storcli, perccli, ssacli or arcconf; save that of `storcli /call \
                 show all J`, `ssacli ctrl all show config detail` or `arcconf getconfig 1`",
            ),
            Self::NotOfControllers => f.write_str(
                "is JSON, but has no member Controllers; save the output of `storcli /call show \
                 all J`",
            ),
            Self::Syntax(why) => {
                write!(f, "is no whole JSON ({why}); save the output of the tool again")
            }
            Self::Failed(words) => write!(f, "the tool failed: {words}"),
            Self::Empty(tool) => write!(
                f,
                "{tool} describes no controller in it; save the output of `{}`",
                match tool {
                    Tool::Storcli => "storcli /call show all J",
                    Tool::Ssacli => "ssacli ctrl all show config detail",
                    Tool::Arcconf => "arcconf getconfig 1",
                }
            ),
        }
    }
}

impl std::error::Error for ControllerError {}

/// The controllers that the output of a tool describes.
pub fn read(output: &str) -> Result<Vec<Controller>, ControllerError> {
    let text = output.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with(['{', '[']) {
        storcli::read(text)
    } else if ssacli::is_one(text) {
        ssacli::read(text)
    } else if arcconf::is_one(text) {
        arcconf::read(text)
    } else {
        Err(ControllerError::Unknown)
    }
}

/// The controllers of several outputs, each once: what one output does not tell, another may.
pub fn merged(outputs: Vec<Controller>) -> Vec<Controller> {
    let mut all: Vec<Controller> = Vec::new();
    for told in outputs {
        match all.iter_mut().find(|known| (known.tool, &known.id) == (told.tool, &told.id)) {
            Some(known) => known.learn(told),
            None => all.push(told),
        }
    }
    all
}

impl Controller {
    /// Takes over what `other` knows more of the same controller.
    fn learn(&mut self, other: Self) {
        if self.model.is_empty() {
            self.model = other.model;
        }
        if self.backup == CacheBackup::Untold {
            self.backup = other.backup;
        }
        self.cache_bytes = self.cache_bytes.or(other.cache_bytes);
        self.read_percent = self.read_percent.or(other.read_percent);
        self.caches_without_backup = self.caches_without_backup.or(other.caches_without_backup);
        self.disk_caches = self.disk_caches.or(other.disk_caches);
        self.passes_disks_through = self.passes_disks_through.or(other.passes_disks_through);
        for disk in other.disks {
            if !self.disks.contains(&disk) {
                self.disks.push(disk);
            }
        }
        for drive in other.drives {
            match self.drives.iter_mut().find(|known| known.id == drive.id) {
                Some(known) => known.learn(drive),
                None => self.drives.push(drive),
            }
        }
    }
}

impl LogicalDrive {
    fn learn(&mut self, other: Self) {
        if self.level.is_empty() {
            self.level = other.level;
        }
        if self.writes == WritePolicy::Untold {
            self.writes = other.writes;
        }
        self.strip_bytes = self.strip_bytes.or(other.strip_bytes);
        self.reads_ahead = self.reads_ahead.or(other.reads_ahead);
        self.disk_caches = self.disk_caches.or(other.disk_caches);
        self.disks = self.disks.or(other.disks);
        self.is_flash = self.is_flash.or(other.is_flash);
        self.trouble = self.trouble.take().or(other.trouble);
        self.device = self.device.take().or(other.device);
    }
}
