//! What survivors carry in each failure that was played through, in the units of their hardware.

use super::{Needs, Provision};
use crate::layout::Mode;

/// Processor time of one database on a server, in megacycles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Megacycles {
    /// Where it is active, client access included if it runs on the same servers.
    pub active: f64,
    /// Where it is not.
    pub passive: f64,
    /// What a server has; none where its speed is not known.
    pub available: Option<f64>,
}

/// The least and the most of what a survivor carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burden {
    /// Active databases.
    pub active: (usize, usize),
    /// Megacycles.
    pub megacycles: (f64, f64),
    /// Database reads and writes per second.
    pub iops: (f64, f64),
    /// Most megacycles as a share of what a server has.
    pub processor: Option<f64>,
}

impl Needs {
    /// What a survivor of `mode` carries; none where nothing survives. A passive copy costs as much
    /// I/O as an active one (Exchange 2013 and later).
    pub fn burden(&self, mode: &Mode) -> Option<Burden> {
        let costs = self.megacycles;
        let megacycles = mode.cost(costs.active, costs.passive)?;
        Some(Burden {
            active: mode.active()?,
            megacycles,
            iops: mode.cost(self.iops_per_database, self.iops_per_database)?,
            processor: costs.available.map(|available| megacycles.1 / available),
        })
    }
}

impl Provision {
    /// Names of the servers that failed in the worst case of `mode`, in the first group.
    pub fn worst(&self, mode: &Mode) -> Vec<&str> {
        let servers = self.groups.first().map_or(&[][..], |group| &group.servers);
        let named = mode.worst.iter().filter_map(|&server| servers.get(server));
        named.map(|server| server.name.as_str()).collect()
    }
}
