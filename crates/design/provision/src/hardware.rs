//! Hardware of a group's servers other than their disks.

use units::Bytes;

/// Processor time of one database on a server, in megacycles.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Megacycles {
    /// For an active copy, client access included if it runs on the same servers.
    pub active: f64,
    /// For a passive copy.
    pub passive: f64,
    /// Available per server in each place, if its speed is known.
    pub available: Places<Option<f64>>,
}

/// One value for each kind of server in a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places<T> {
    /// Servers of the first site.
    pub first: T,
    /// Servers of the second site.
    pub second: T,
    /// Servers reserved for lagged copies.
    pub lagged: T,
}

impl<T> Places<T> {
    /// Returns the value for a server in `site`, counted from 0.
    pub(crate) const fn of(&self, site: usize, only_lagged: bool) -> &T {
        match (only_lagged, site) {
            (true, _) => &self.lagged,
            (_, 0) => &self.first,
            _ => &self.second,
        }
    }
}

/// SSDs of a server, all alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MetaCacheDisks {
    /// Number of SSDs.
    pub ssds: usize,
    /// Capacity of one.
    pub ssd: Bytes,
}
