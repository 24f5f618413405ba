//! The validated deployment: the basis of sizing, layout and provisioning.

use units::{Bytes, Nanos};

use super::hardware::{Disks, Processor};
use super::metacache::MetaCache;
use super::prices::Prices;
use super::product::Product;

/// The users, the availability and the hardware. Made only by reading a document, so every value is
/// in range and the values do not contradict each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployment {
    /// Title of the report.
    pub name: String,
    /// Free text for the report.
    pub description: String,
    /// Customer, author and date of the design.
    pub origin: Origin,
    /// Whether known mistakes of the official calculator are repeated or corrected.
    pub mode: Mode,
    /// The figures of the product generation.
    pub product: Product,
    /// Groups of identical mailboxes, at least one.
    pub tiers: Vec<Tier>,
    /// Servers, DAGs and copies.
    pub availability: Availability,
    /// The second site; `None` if there is only one.
    pub second_site: Option<SecondSite>,
    /// Rules about databases and volumes.
    pub data: Data,
    /// I/O reserves.
    pub io: Io,
    /// Processors and roles of the servers.
    pub servers: Servers,
    /// Disks and how they are used.
    pub storage: Storage,
    /// SSDs that cache the databases, if any.
    pub metacache: Option<MetaCache>,
    /// How databases are protected and logs removed.
    pub backup: Backup,
    /// The transport queue.
    pub transport: Transport,
    /// The network between copies.
    pub replication: Replication,
    /// File system and encryption under the databases.
    pub file_system: FileSystem,
    /// Names for servers, groups and databases.
    pub names: Names,
    /// Prices of hardware; `None` if the document has none.
    pub prices: Option<Prices>,
    /// Sources of the mailbox figures, one sentence each, as `plimsoll profile` wrote them; for the
    /// report.
    pub provenance: Vec<String>,
}

/// Customer, author and date of a design; empty if the document omits them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// For whom.
    pub customer: String,
    /// By whom.
    pub author: String,
    /// Date, as the document writes it.
    pub date: String,
}

/// Whether known mistakes of the official calculator are repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The same numbers as the official workbook, mistakes included.
    Compatible,
    /// Known mistakes are corrected, and the result names them.
    Corrected,
}

/// A group of identical mailboxes.
#[derive(Clone, Debug, PartialEq)]
pub struct Tier {
    /// Its name for people.
    pub name: String,
    /// Mailboxes today.
    pub mailboxes: f64,
    /// Expected growth, as a share of today's number.
    pub growth: f64,
    /// Messages sent and received by one mailbox on a working day.
    pub messages_per_day: f64,
    /// Average length of a message.
    pub average_message: Bytes,
    /// Initial size of a mailbox; `None` if unknown.
    pub initial_size: Option<Bytes>,
    /// Maximum size of a mailbox.
    pub size_limit: Bytes,
    /// Largest size of its archive; zero if there is none.
    pub archive_limit: Bytes,
    /// How long deleted items are kept.
    pub deleted_item_retention: Nanos,
    /// Whether versions of changed items are kept.
    pub single_item_recovery: bool,
    /// Whether versions of calendar items are kept.
    pub calendar_versions: bool,
    /// Share of the users to whom the multipliers apply, 0 to 1.
    pub multiplier_users: f64,
    /// Factor on such a user's I/O, 1 or more.
    pub iops_multiplier: f64,
    /// Factor on such a user's processor time, 1 or more.
    pub megacycle_multiplier: f64,
    /// Whether clients work online and search without the index.
    pub desktop_search: bool,
    /// Measured database I/O per second of one mailbox, which replaces the prediction.
    pub given_iops: Option<GivenIops>,
}

/// Measured I/O of a mailbox.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivenIops {
    /// Database reads and writes per second.
    pub iops: f64,
    /// Share of the reads, 0 to 1.
    pub read_share: f64,
}

/// Servers, DAGs and copies.
#[derive(Clone, Debug, PartialEq)]
pub struct Availability {
    /// Servers with active databases in each site that has them, per group; without copies, all
    /// servers.
    pub servers_per_site: u32,
    /// Database availability groups as the document gives them (a model may double them).
    pub dags: u32,
    /// Copies of each database that can take over, the active one included; 1 means none can.
    pub copies: u32,
    /// Copies of each database that replay late.
    pub lagged_copies: u32,
    /// How late they replay.
    pub replay_lag: Nanos,
    /// How much longer the lagged copies keep replayed logs.
    pub truncation_lag: Nanos,
    /// Whether lagged copies replay automatically when too few others are left.
    pub replay_lag_manager: bool,
    /// Whether servers with lagged copies hold nothing else.
    pub lagged_on_own_servers: bool,
    /// The longest that users may be without a database after a failure; `None` if the document
    /// does not say.
    pub longest_outage: Option<Nanos>,
}

/// The second site.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondSite {
    /// Which site runs what.
    pub model: SiteModel,
    /// Copies in the second site that can take over.
    pub copies: u32,
    /// Lagged copies in the second site.
    pub lagged_copies: u32,
    /// How much work a disaster may cost; it sizes the network.
    pub recovery_point: Nanos,
    /// Whether copies there are blocked from automatic activation.
    pub blocks_activation: bool,
    /// Whether the servers there serve no other group.
    pub dedicated_servers: bool,
    /// Location of a group's witness.
    pub witness: Witness,
}

/// Location of a group's witness, which has a vote if the number of members is even.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Witness {
    /// In the group's home site.
    First,
    /// In the other site.
    Second,
    /// In a third site.
    Third,
}

/// Roles of the two sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteModel {
    /// The second site waits.
    ActivePassive,
    /// Both sites serve users, in groups that span both.
    ActiveActive,
    /// Both sites serve users, each with its own groups, backed by the other site.
    ActiveActiveGroups,
}

/// Rules about databases and volumes.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// Space on top of the calculated amount, as a share.
    pub overhead: f64,
    /// Share of the mailboxes moved per week.
    pub moves_per_week: f64,
    /// Whether a volume is kept for restores and maintenance.
    pub restore_volume: bool,
    /// Share of each volume that stays free.
    pub volume_free_space: f64,
    /// Largest desired database; `None` leaves it to the rules.
    pub largest_database: Option<Bytes>,
    /// Databases per group; `None` leaves it to the rules.
    pub database_count: Option<u32>,
    /// Whether the count must spread evenly over the servers.
    pub symmetrical: bool,
    /// Working days of a week: 5 or 7.
    pub work_days: u32,
}

/// I/O reserves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Io {
    /// I/O on top of the calculated amount, as a share.
    pub overhead: f64,
    /// Other I/O per second of each group.
    pub additional_iops: f64,
}

/// Processors and roles of the servers.
#[derive(Clone, Debug, PartialEq)]
pub struct Servers {
    /// Whether client access runs on the mailbox servers.
    pub multi_role: bool,
    /// Whether the servers are virtual machines.
    pub virtual_machines: bool,
    /// The hypervisor's overhead, as a share.
    pub hypervisor: f64,
    /// Whether directory servers run a 64-bit system.
    pub directory_64_bit: bool,
    /// Processors of a server in the first site.
    pub first: Processor,
    /// Processors of a server in the second site.
    pub second: Processor,
    /// Processors of a server dedicated to lagged copies.
    pub lagged: Processor,
}

/// Disks and how they are used.
#[derive(Clone, Debug, PartialEq)]
pub struct Storage {
    /// Whether single disks may carry databases if there are enough copies.
    pub consider_jbod: bool,
    /// Whether a volume may hold several databases.
    pub several_databases_per_volume: bool,
    /// Whether such a volume holds as many as there are copies; else half as many.
    pub databases_equal_copies: bool,
    /// Maximum number of volumes per server; `None` leaves it to the rules.
    pub volumes_per_server: Option<u32>,
    /// Spare volumes per server.
    pub autoreseed_volumes: u32,
    /// Share of a disk's I/O that may be used, 0 to 1.
    pub usable_disk_io: f64,
    /// Architecture of the storage, whatever the rules advise.
    pub choice: StorageChoice,
    /// RAID level of the databases, if it is given.
    pub raid: Option<Raid>,
    /// Disks of one parity group: RAID-1/0 (pairs times two), RAID-5 and RAID-6, parity included.
    pub groups: RaidGroups,
    /// Disks in the first site.
    pub first: Disks,
    /// Disks in the second site.
    pub second: Disks,
}

/// Architecture of the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageChoice {
    /// As the rules permit.
    Calculated,
    /// RAID groups everywhere.
    Raid,
    /// Single disks everywhere.
    Jbod,
}

/// How disks are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raid {
    /// Mirrored stripes.
    Raid10,
    /// One parity disk per group.
    Raid5,
    /// Two parity disks per group.
    Raid6,
}

/// Data and parity disks of one group of each level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaidGroups {
    /// RAID-1/0.
    pub raid10: RaidGroup,
    /// RAID-5.
    pub raid5: RaidGroup,
    /// RAID-6.
    pub raid6: RaidGroup,
    /// The group of a restore volume.
    pub restore: RaidGroup,
}

/// Disks of one parity group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaidGroup {
    /// Disks' worth of data.
    pub data: u32,
    /// Redundancy, in disks.
    pub redundancy: u32,
}

/// How databases are protected and logs removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backup {
    /// Protection of the databases.
    pub method: BackupMethod,
    /// How often it is done.
    pub frequency: BackupFrequency,
    /// How long log removal may fail before volumes fill up.
    pub tolerance: Nanos,
    /// How long the network may fail before volumes fill up.
    pub network_tolerance: Nanos,
}

/// Protection of the databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupMethod {
    /// Copies alone.
    Native,
    /// Snapshots of the storage.
    HardwareVss,
    /// Snapshots of the operating system.
    SoftwareVss,
}

/// How often backups are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupFrequency {
    /// A full one every day.
    DailyFull,
    /// Weekly full backup, daily log backup.
    WeeklyFullDailyIncremental,
    /// Weekly full backup; every day, all changes since.
    WeeklyFullDailyDifferential,
    /// Full backup twice a month, daily log backup.
    TwiceMonthlyFullDailyIncremental,
}

/// The transport queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transport {
    /// Longest time that a message may stay queued.
    pub queue_expiration: Nanos,
    /// How long delivered messages are kept for redelivery.
    pub safety_net: Nanos,
}

/// The network between copies.
#[derive(Clone, Debug, PartialEq)]
pub struct Replication {
    /// Share of a day's log generated in each of its 24 hours; `None` if unknown, and then the
    /// network is not sized.
    pub hourly_shares: Option<[f64; 24]>,
    /// Saving from compressing shipped logs, as a share; zero if compression is off.
    pub compression: f64,
    /// Megabits per second between the sites; `None` if unknown.
    pub link_mbps: Option<f64>,
    /// Round trip between the sites.
    pub link_latency: Nanos,
}

/// File system and encryption under the databases.
#[derive(Clone, Debug, PartialEq)]
pub struct FileSystem {
    /// Its name, as the exports write it.
    pub name: String,
    /// Encryption of the volumes; `none` if unencrypted.
    pub encryption: String,
    /// Share of a disk's I/O that remains with both.
    pub iops_factor: f64,
    /// Factor on the processor time of databases under both.
    pub processor_factor: f64,
    /// Source of the factors, for the report.
    pub source: String,
}

/// Names for servers, groups and databases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// Precedes the number in server names.
    pub server_prefix: String,
    /// Prefix before the number of a group.
    pub dag_prefix: String,
    /// Prefix before the number of a database.
    pub database_prefix: String,
    /// The groups of servers of a site that fail together; 0 if none are known.
    pub failure_domains_per_site: u32,
}

impl Deployment {
    /// Copies of each database, lagged ones included.
    pub const fn total_copies(&self) -> u32 {
        if self.has_copies() {
            self.availability.copies + self.availability.lagged_copies
        } else {
            1
        }
    }

    /// Whether some servers hold only lagged copies.
    pub const fn has_own_servers_for_late_copies(&self) -> bool {
        self.has_copies()
            && self.availability.lagged_on_own_servers
            && self.availability.lagged_copies > 0
    }

    /// Whether databases have copies that can take over.
    pub const fn has_copies(&self) -> bool {
        self.availability.copies > 1
    }

    /// Whether known mistakes of the official calculator are repeated.
    pub const fn is_compatible(&self) -> bool {
        matches!(self.mode, Mode::Compatible)
    }

    /// Copies of each database in the first site: those that can take over, and lagged ones. For
    /// databases at home in the second site of an active/active group, the two sites swap roles.
    pub fn copies_in_first_site(&self) -> (u32, u32) {
        let (copies, lagged) = self.copies_in_second_site();
        let late = self.total_copies() - self.availability.copies;
        (self.availability.copies - copies, late - lagged)
    }

    /// Copies of each database in the second site: those that can take over, and lagged ones.
    pub fn copies_in_second_site(&self) -> (u32, u32) {
        self.second_site.as_ref().map_or((0, 0), |site| (site.copies, site.lagged_copies))
    }

    /// The model of two sites, if there are two.
    pub fn site_model(&self) -> Option<SiteModel> {
        self.second_site.as_ref().map(|site| site.model)
    }
}
