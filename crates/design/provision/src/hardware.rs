//! What the servers of a group have, beside their disks.

use units::Bytes;

/// Processor time of one database on a server, in megacycles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Megacycles {
    /// For an active copy, client access included if it runs on the same servers.
    pub active: f64,
    /// For a passive copy.
    pub passive: f64,
    /// What a server of each place has, where its speed is known.
    pub available: Places<Option<f64>>,
}

/// One thing for each kind of server of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places<T> {
    /// Servers of the first site.
    pub first: T,
    /// Servers of the second site.
    pub second: T,
    /// Servers that are kept for late copies.
    pub lagged: T,
}

impl<T> Places<T> {
    /// That of a server in `site`, counted from 0.
    pub const fn of(&self, site: usize, only_lagged: bool) -> &T {
        match (only_lagged, site) {
            (true, _) => &self.lagged,
            (_, 0) => &self.first,
            _ => &self.second,
        }
    }
}

/// SSDs of a server, all alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetaCacheDisks {
    /// How many.
    pub ssds: usize,
    /// Capacity of one.
    pub ssd: Bytes,
}
