//! Volumes cut from redundant groups of disks: how much fits, and how much I/O the disks sustain.

use plan::deployment::Raid;
use units::Bytes;

/// Disk operations that one write costs.
const fn write_penalty(level: Raid) -> f64 {
    match level {
        Raid::Raid10 => 2.0,
        Raid::Raid5 => 4.0,
        Raid::Raid6 => 6.0,
    }
}

/// Disks in redundant groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pool {
    /// RAID level of the groups.
    pub level: Raid,
    /// Groups.
    pub groups: u32,
    /// Disks of a group that carry data.
    pub data_disks: u32,
    /// Disks of a group that carry redundancy.
    pub redundant_disks: u32,
    /// Nominal capacity of a disk.
    pub raw: Bytes,
    /// Capacity of a disk after formatting by array and system.
    pub formatted: Bytes,
    /// Random reads and writes per second of a disk.
    pub disk_iops: f64,
}

impl Pool {
    /// All disks.
    pub const fn disks(&self) -> u32 {
        self.groups * (self.data_disks + self.redundant_disks)
    }

    /// All disks as vendors count them.
    pub const fn raw(&self) -> Bytes {
        Bytes(self.raw.0 * self.disks() as u64)
    }

    /// Capacity available for volumes.
    pub const fn formatted(&self) -> Bytes {
        Bytes(self.formatted.0 * (self.groups * self.data_disks) as u64)
    }

    /// Share of the disks' I/O capacity that a load takes, with writes weighted by their penalty;
    /// above 1 the disks are overloaded.
    pub(crate) fn load(&self, iops: f64, read_share: f64) -> f64 {
        let writes = (1.0 - read_share) * write_penalty(self.level);
        iops * (read_share + writes) / (f64::from(self.disks()) * self.disk_iops)
    }
}

/// Volume sizes of an array whose own wizard determines them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ArrayRule {
    /// Database volume size divided by mailbox data.
    pub database_per_data: f64,
    /// Log volume size divided by mailbox data.
    pub log_per_data: f64,
    /// Part of the database volume that a test fills.
    pub test_fill: f64,
    /// Size of a database after a day of the test, as a multiple of its initial size.
    pub test_growth: f64,
}

/// Volumes made by an array's wizard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Carved {
    /// The volume of one database.
    pub database_volume: Bytes,
    /// The volume of its log.
    pub log_volume: Bytes,
    /// The file that a test creates on it.
    pub test_database: Bytes,
    /// The same file after a day of the test.
    pub grown_database: Bytes,
    /// Share of the formatted pool that all volumes take; above 1 they do not fit.
    pub used: f64,
}

/// Cuts volumes for `databases` databases of `data` each from the pool.
pub(crate) fn carve(pool: &Pool, rule: ArrayRule, databases: u32, data: Bytes) -> Carved {
    let database_volume = scaled(data, rule.database_per_data);
    let log_volume = scaled(data, rule.log_per_data);
    let all = (database_volume.0 + log_volume.0) * u64::from(databases);
    let test_database = scaled(database_volume, rule.test_fill);
    Carved {
        database_volume,
        log_volume,
        test_database,
        grown_database: scaled(test_database, rule.test_growth),
        used: all as f64 / pool.formatted().0 as f64,
    }
}

/// `size` times `share`, to the nearest byte. Shares have few digits, so millionths are exact
/// enough.
pub(crate) fn scaled(size: Bytes, share: f64) -> Bytes {
    let millionths = (share.clamp(0.0, 1e6) * 1e6).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped above")]
    let millionths = millionths as u128;
    let bytes = u128::from(size.0) * millionths / 1_000_000;
    Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
}
