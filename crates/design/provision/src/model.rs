//! Everything to be built, as data with names; its inputs; the reasons why it cannot be built.

use plan::deployment::Origin;
use sizing::Key;
use units::{Bytes, Nanos};

use crate::hardware::{Megacycles, MetaCacheDisks, Places};
use crate::layout::{LayoutError, LayoutRequest, Mode, Witness};
use crate::names::NameError;
use crate::pool::Pool;

/// The sized requirements, as plain values.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirements {
    /// Title of the documents.
    pub title: String,
    /// Free text for the documents.
    pub description: String,
    /// Customer, author and date of the design.
    pub origin: Origin,
    /// Remark in the documents on figures taken from another product; `None` if there are none.
    pub assumption: Option<String>,
    /// Sources of the mailbox figures.
    pub provenance: Vec<String>,
    /// Number of identical groups of servers; each is laid out by `wish`.
    pub groups: usize,
    /// Whether the second half of the groups has the second site as its home.
    pub mirrored: bool,
    /// Whether a group is a database availability group; otherwise its servers are independent.
    pub copies: bool,
    /// Location of a group's witness; `None` if there is no group.
    pub witness: Option<Witness>,
    /// Servers, copies and databases of one group.
    pub wish: LayoutRequest,
    /// Mailboxes per database; may be fractional.
    pub mailboxes_per_database: f64,
    /// Quota of one database's mailboxes, excluding anything else in the database.
    pub mailbox_data: Bytes,
    /// Size of a database file when its mailboxes are full.
    pub database: Bytes,
    /// The same after a day of the test, if its growth has been measured.
    pub grown_database: Option<Bytes>,
    /// Room for its log.
    pub log: Bytes,
    /// Reads and writes per second of one copy of a database.
    pub iops_per_database: f64,
    /// Share of reads in them, 0 to 1.
    pub read_share: f64,
    /// Active databases for which processors and memory of a server are sized.
    pub(crate) sized_active: Places<usize>,
    /// Processor time of one database.
    pub(crate) megacycles: Megacycles,
    /// Size of a volume with databases, and their logs unless those have separate volumes.
    pub database_volume: Bytes,
    /// Size of a volume for logs alone, if they are separate.
    pub log_volume: Option<Bytes>,
    /// The volume for restores, if there is one.
    pub restore_volume: Option<Bytes>,
    /// Spare volumes of a server.
    pub spare_volumes: Places<usize>,
    /// The disks of a server by purpose, if volumes are cut from redundant groups; otherwise each
    /// volume is a separate disk. A purpose without a pool uses that of the databases.
    pub pools: Places<Vec<(Purpose, Pool)>>,
    /// SSDs of a server for `MetaCache` databases, if any.
    pub(crate) metacache: Option<MetaCacheDisks>,
    /// File system, encryption, product and lags.
    pub build: Build,
    /// Prefixes of names.
    pub(crate) names: Prefixes,
}

/// How volumes and groups are set up.
#[derive(Clone, Debug, PartialEq)]
pub struct Build {
    /// File system, such as `ReFS` or `XFS`.
    pub file_system: String,
    /// Encryption of the volumes; `none` without encryption.
    pub encryption: String,
    /// Delay before lagged copies replay logs.
    pub replay_lag: Nanos,
    /// Additional time they keep replayed logs.
    pub truncation_lag: Nanos,
    /// Whether lagged copies catch up by themselves.
    pub replay_lag_manager: bool,
    /// Bandwidth of the link between the sites in Mb/s, if the document gives it.
    pub link_mbps: Option<f64>,
    /// Whether the link between the sites was sized for compressed traffic.
    pub(crate) network_compression: NetworkCompression,
    /// Whether the product's commands accept a file system for a group (Exchange 2016 and later).
    pub group_file_system: bool,
    /// Pause of the product's background maintenance between two reads of 256 KiB of a copy; `None`
    /// if it reads no copy throughout the day.
    pub maintenance_pause: Option<Nanos>,
    /// Longest retention of deleted items of any tier.
    pub deleted_item_retention: Nanos,
    /// Whether logs are removed without a backup, because copies protect the databases.
    pub circular_logging: bool,
}

/// Whether logs are compressed in transit to the other site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NetworkCompression {
    /// Logs are compressed.
    Enabled,
    /// Logs are not compressed, or there is no other site.
    Disabled,
}

impl NetworkCompression {
    /// The value that the product's commands take.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Enabled => "Enabled",
            Self::Disabled => "Disabled",
        }
    }
}

/// Prefixes of the numbered names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prefixes {
    /// Of servers.
    pub server: String,
    /// Of groups.
    pub group: String,
    /// Of databases.
    pub database: String,
}

/// Why nothing can be laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProvisionError {
    /// The copies do not fit.
    Layout(LayoutError),
    /// A name cannot be used in paths and scripts.
    Name(NameError),
    /// An array is wanted, but single disks were sized.
    NoPool,
    /// The volumes or the I/O do not fit on any number of groups.
    PoolTooSmall {
        /// Groups that were tried.
        groups: u32,
    },
    /// The sizing has no such number.
    NotSized {
        /// The missing key.
        key: Key,
    },
    /// Standby servers next to active ones in both sites, for which no layout is known.
    WaitingBesideActive,
    /// Servers or copies of a site cannot be spread evenly over its failure domains.
    Domains {
        /// Failure domains of each site.
        domains: usize,
        /// Servers of the site.
        servers: usize,
        /// Copies of a database in the site.
        copies: usize,
    },
}

impl std::fmt::Display for ProvisionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Layout(error) => write!(f, "{error}"),
            Self::Name(error) => write!(f, "{error}"),
            Self::NoPool => write!(
                f,
                "an array needs redundant groups, but single disks were sized; give `build = \
                 \"raid\"` and `raid = \"RAID-5\"` to [storage]"
            ),
            Self::NotSized { key } => write!(f, "nothing was sized for {key}"),
            Self::WaitingBesideActive => write!(
                f,
                "[second_site] dedicated_servers: no layout is known for servers that wait beside \
                 active ones; remove it, or give `mode = \"corrected\"`"
            ),
            Self::PoolTooSmall { groups } => write!(
                f,
                "{groups} groups of these disks do not carry a server; give larger or faster disks \
                 to [disks], or more servers"
            ),
            Self::Domains { domains, servers, copies } => write!(
                f,
                "[names] failure_domains_per_site: {servers} servers and {copies} copies of a site \
                 do not spread evenly over {domains} failure domains; give a divisor of both"
            ),
        }
    }
}

impl std::error::Error for ProvisionError {}

/// Everything to be built.
#[derive(Clone, Debug, PartialEq)]
pub struct Provision {
    /// The requirements behind it.
    pub needs: Requirements,
    /// The groups.
    pub groups: Vec<Group>,
    /// Every simulated failure, alike in all groups.
    pub modes: Vec<Mode>,
}

/// One group of servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Its servers, site after site.
    pub servers: Vec<Server>,
    /// Its databases.
    pub databases: Vec<Database>,
}

/// Databases that may be active on a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActiveLimits {
    /// The number for which the server is sized; more if the layout needs it when nothing, one
    /// server or a site fails.
    pub most: usize,
    /// The maximum with at most two servers failed, but no more than `most`; if there is none,
    /// `most`.
    pub preferred: usize,
}

impl Group {
    /// Returns the limits of the servers in `site`, counted from 0, that hold more than lagged
    /// copies; `None` if the group has no such server.
    pub(crate) fn limits_in(&self, site: usize) -> Option<ActiveLimits> {
        let servers = self.servers.iter();
        let here = servers.filter(|server| server.site == site && !server.only_lagged);
        here.map(|server| server.limits).reduce(ActiveLimits::max)
    }

    /// The limits of its busiest server.
    pub fn limits(&self) -> ActiveLimits {
        let limits = self.servers.iter().map(|server| server.limits);
        limits.reduce(ActiveLimits::max).unwrap_or_default()
    }
}

impl ActiveLimits {
    fn max(self, other: Self) -> Self {
        Self { most: self.most.max(other.most), preferred: self.preferred.max(other.preferred) }
    }
}

/// A server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// Its site, counted from 0.
    pub site: usize,
    /// Whether it is reserved for lagged copies.
    pub only_lagged: bool,
    /// Databases that may be active on it.
    pub limits: ActiveLimits,
    /// Its volumes, in the order of their disks.
    pub volumes: Vec<Volume>,
    /// Its SSDs with `MetaCache` databases, numbered after those disks. The product's own script
    /// creates volumes on them, so nothing else may.
    pub metacache: Vec<Volume>,
}

impl Server {
    /// Its databases, in order, with the volume of each.
    pub fn databases(&self) -> impl Iterator<Item = (&str, &Volume)> {
        let carriers = self.volumes.iter();
        let carriers = carriers.filter(|volume| volume.purpose == Purpose::Databases);
        carriers.flat_map(|volume| volume.databases.iter().map(move |name| (name.as_str(), volume)))
    }

    /// The volume with the log of `database`: a separate one, or that of the databases.
    pub(crate) fn log_volume(&self, database: &str) -> Option<&Volume> {
        let mut holders = self
            .volumes
            .iter()
            .filter(|volume| volume.databases.iter().any(|name| name == database));
        let of_logs = holders.clone().find(|volume| volume.purpose == Purpose::Logs);
        of_logs.or_else(|| holders.next())
    }
}

/// Purpose of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Databases, and their logs unless those are separate.
    Databases,
    /// Logs alone.
    Logs,
    /// Restores and maintenance.
    Restore,
    /// A spare that replaces a failed one.
    Spare,
    /// `MetaCache` databases: the most frequently read data of the databases, on an SSD.
    MetaCache,
}

impl Provision {
    /// The first server of each kind: first site, second site, reserved for lagged copies.
    pub fn kinds(&self) -> Vec<&Server> {
        let mut kinds: Vec<&Server> = Vec::new();
        for server in self.groups.iter().flat_map(|group| &group.servers) {
            let kind = (server.site, server.only_lagged);
            if !kinds.iter().any(|known| (known.site, known.only_lagged) == kind) {
                kinds.push(server);
            }
        }
        kinds
    }

    /// The disks of a server.
    pub fn pools(&self, server: &Server) -> &[(Purpose, Pool)] {
        self.needs.pools.of(server.site, server.only_lagged)
    }

    /// The part of each pool that a server's volumes take; above 1 they do not fit. A volume whose
    /// purpose has no pool is cut from the first.
    pub fn pool_shares(&self, server: &Server) -> Vec<f64> {
        let pools = self.pools(server);
        let mut taken = vec![0.0; pools.len()];
        for volume in &server.volumes {
            let own = pools.iter().position(|(purpose, _)| *purpose == volume.purpose);
            if let Some(bytes) = taken.get_mut(own.unwrap_or(0)) {
                *bytes += volume.size.0 as f64;
            }
        }
        for (share, (_, pool)) in taken.iter_mut().zip(pools) {
            *share /= pool.formatted().0 as f64;
        }
        taken
    }

    /// Share of the database disks' I/O capacity that a server uses.
    pub fn pool_load(&self, server: &Server) -> Option<f64> {
        let (_, pool) = self.pools(server).first()?;
        let iops = self.needs.iops_per_database * server.databases().count() as f64;
        Some(pool.load(iops, self.needs.read_share))
    }
}

impl Purpose {
    /// Name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Databases => "databases",
            Self::Logs => "logs",
            Self::Restore => "restore",
            Self::Spare => "spare",
            Self::MetaCache => "MetaCache databases",
        }
    }
}

/// One volume, which is one disk to the operating system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Its label.
    pub name: String,
    /// The number of its disk, in order.
    pub disk: usize,
    /// Minimum size.
    pub size: Bytes,
    /// Its contents.
    pub purpose: Purpose,
    /// The databases on it.
    pub databases: Vec<String>,
}

/// A database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    /// Its name.
    pub name: String,
    /// Its copies in order of preference; the first is active in normal operation.
    pub copies: Vec<DatabaseCopy>,
}

/// A copy of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseCopy {
    /// Its server.
    pub server: String,
    /// Whether it is a lagged copy.
    pub lagged: bool,
}
