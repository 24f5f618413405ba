//! Arrays whose own wizard determines the size of volumes.

use super::pool::{ArrayRule, Pool, carve, scaled};
use super::{Places, ProvisionError, Purpose, Requirements};

/// An array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Array {
    /// Its name.
    pub name: &'static str,
    /// Sizing rule of its volumes.
    pub(crate) rule: ArrayRule,
    /// Share of a disk that remains after the array's own formatting.
    pub formatted_share: f64,
}

/// The EMC `VNXe3300`. Its wizard's formula was never published; the figures are derived from its
/// published test report (ESRP, 1,000 mailboxes of 1.5 GB in two databases on seven disks of 600 GB
/// in RAID-5 6+1: formatted 3,211.26 GB, log volumes of 75 GB for 750 GB of data each).
///
/// Its tool makes databases 1/1.25 of the volume's size. The two were 2,086,905,446,400 bytes, so
/// volumes are 1.61965 times the data: 1.186 TB, as printed. After the day of the stress test they
/// were 2,099,966,509,056 bytes, the 1,955 GB that the report prints.
pub const VNXE3300: Array = Array {
    name: "VNXe3300",
    rule: ArrayRule {
        database_per_data: 1.619_650,
        log_per_data: 0.10,
        test_fill: 0.80,
        test_growth: 1.006_259,
    },
    formatted_share: 0.957_796,
};

/// Maximum number of groups tried before a pool counts as too small.
const MOST_GROUPS: u32 = 64;

impl Requirements {
    /// Moves the requirements to an array: volumes sized by its wizard, databases and logs on the
    /// same disks, and the fewest redundant groups that carry both the volumes and the I/O.
    pub fn on_array(mut self, array: &Array) -> Result<Self, ProvisionError> {
        let (_, pool) = self.pools.first.first().copied().ok_or(ProvisionError::NoPool)?;
        let formatted = scaled(pool.raw, array.formatted_share);
        let databases = self.databases_per_server();
        let load = self.iops_per_database * f64::from(databases);
        let (pool, carved) = (1..=MOST_GROUPS)
            .map(|groups| Pool { groups, formatted, ..pool })
            .map(|pool| (pool, carve(&pool, array.rule, databases, self.mailbox_data)))
            .find(|(pool, carved)| carved.used <= 1.0 && pool.load(load, self.read_share) <= 1.0)
            .ok_or(ProvisionError::PoolTooSmall { groups: MOST_GROUPS })?;
        self.database = carved.test_database;
        self.grown_database = Some(carved.grown_database);
        self.log = carved.log_volume;
        self.database_volume = carved.database_volume;
        self.log_volume = Some(carved.log_volume);
        self.restore_volume = None;
        self.wish.databases_per_volume = 1;
        let pools = vec![(Purpose::Databases, pool)];
        self.spare_volumes = Places::default();
        self.pools = Places { first: pools.clone(), second: pools.clone(), lagged: pools };
        Ok(self)
    }

    /// Copies of databases on a server, rounded up if they do not divide evenly.
    fn databases_per_server(&self) -> u32 {
        let sites = &self.wish.sites;
        let servers: usize = sites.iter().map(crate::layout::Site::servers).sum();
        let copies: usize = sites.iter().map(crate::layout::Site::copies).sum();
        let held = (self.wish.databases * copies).div_ceil(servers.max(1));
        u32::try_from(held).unwrap_or(u32::MAX)
    }
}
