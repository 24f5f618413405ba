//! Disk usage of a server, in the rows that storage vendors' test reports print.

use units::Bytes;

use super::{Provision, Purpose, Server};

/// Sums over one server whose volumes are cut from redundant groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// All disks as their vendor counts them.
    pub raw: Bytes,
    /// Capacity of the data disks after formatting.
    pub formatted: Bytes,
    /// Volumes of databases.
    pub database_volumes: Bytes,
    /// Databases at the size made for a test, including their growth during it if that is known.
    pub databases: Bytes,
}

/// Reports divide sizes in units of 2^30 bytes by disks in units of 10^9, and call both GB. These
/// rows do the same, so that they compare with those reports.
const MIXED: f64 = 1.073_741_824;

impl Capacity {
    /// Formatted capacity divided by raw, as in reports.
    pub fn formatted_share(&self) -> f64 {
        share(self.formatted, self.raw) / MIXED
    }

    /// Databases divided by their volumes.
    pub fn share_of_volumes(&self) -> f64 {
        share(self.databases, self.database_volumes)
    }

    /// Databases divided by raw disks, as in reports.
    pub fn share_of_raw(&self) -> f64 {
        share(self.databases, self.raw) / MIXED
    }
}

fn share(part: Bytes, whole: Bytes) -> f64 {
    part.0 as f64 / whole.0.max(1) as f64
}

impl Provision {
    /// Totals over a server; `None` if each volume is a separate disk.
    pub fn capacity(&self, server: &Server) -> Option<Capacity> {
        let needs = &self.needs;
        let pools = self.pools(server);
        let carriers = server.volumes.iter();
        let carriers = carriers.filter(|volume| volume.purpose == Purpose::Databases);
        let each = needs.grown_database.unwrap_or(needs.database);
        (!pools.is_empty()).then(|| Capacity {
            raw: Bytes(pools.iter().map(|(_, pool)| pool.raw().0).sum()),
            formatted: Bytes(pools.iter().map(|(_, pool)| pool.formatted().0).sum()),
            database_volumes: Bytes(carriers.map(|volume| volume.size.0).sum()),
            databases: Bytes(each.0 * server.databases().count() as u64),
        })
    }

    /// Returns how many mailboxes of another size fit in the same databases.
    pub(crate) fn mailboxes_of(&self, size: Bytes) -> u64 {
        let databases = self.groups.iter().map(|group| group.databases.len() as u64);
        databases.sum::<u64>() * self.needs.mailbox_data.0 / size.0.max(1)
    }
}
