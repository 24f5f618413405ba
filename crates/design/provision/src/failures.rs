//! What survivors carry in each simulated failure, in terms of their hardware.

use super::{Provision, Requirements};
use crate::layout::{Mode, Quorum};

/// Range of a survivor's load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burden {
    /// Active databases.
    pub active: (usize, usize),
    /// Megacycles.
    pub megacycles: (f64, f64),
    /// Database reads and writes per second.
    pub iops: (f64, f64),
    /// Maximum megacycles as a share of a server's.
    pub processor: Option<f64>,
}

impl Requirements {
    /// Returns the load of a survivor of `mode`; `None` if nothing survives. A passive copy costs
    /// as much I/O as an active one (Exchange 2013 and later).
    pub fn burden(&self, mode: &Mode) -> Option<Burden> {
        let costs = &self.megacycles;
        let megacycles = mode.cost(costs.active, costs.passive)?;
        Some(Burden {
            active: mode.active()?,
            megacycles,
            iops: mode.cost(self.iops_per_database, self.iops_per_database)?,
            processor: self.processor(mode),
        })
    }

    /// The largest share of its megacycles that a survivor needs; `None` if a server's speed is
    /// unknown.
    fn processor(&self, mode: &Mode) -> Option<f64> {
        let costs = &self.megacycles;
        let mut most = 0.0_f64;
        for load in &mode.loads {
            let needed = load.active as f64 * costs.active + load.passive as f64 * costs.passive;
            let mut available = (*costs.available.of(load.site, load.only_lagged))?;
            if self.mirrored {
                // Half of the groups have their home in the other site, so this site may be either.
                let other = *costs.available.of(1 - load.site, load.only_lagged);
                available = available.min(other?);
            }
            most = most.max(needed / available);
        }
        Some(most)
    }
}

/// The group's quorum after the failure, in a word or two.
pub const fn quorum_word(mode: &Mode) -> &'static str {
    match mode.quorum {
        Quorum::Kept => "kept",
        Quorum::Restorable => "by hand",
        Quorum::Lost => "lost",
    }
}

/// Explains the quorum words; shown below tables.
pub const QUORUM: &str = "\
     Quorum: where it is not kept, the group stops and no database is active until \
     an administrator acts. By hand: activate the site that is left (Stop- and \
     Restore-DatabaseAvailabilityGroup, with the alternate witness); the other numbers are those \
     after it. Lost: all databases are down until members of one site are back, more than half \
     of them. No copy left: all copies of so many databases are on failed servers; their data is \
     lost only if none of these servers comes back. All failures are taken to come at once.";

/// Explains databases that wait for a replay; shown below tables.
pub const REPLAYED: &str = "\
     Until a replay ends: databases of which only a lagged copy is left. It first replays the logs \
     of its delay (`replay_lag`); `plimsoll simulate provision.json \
     --event host-lost=...` says how long that takes.";

impl Provision {
    /// Names of the servers that failed in the worst case of `mode`, in the first group.
    pub fn worst(&self, mode: &Mode) -> Vec<&str> {
        let servers = self.groups.first().map_or(&[][..], |group| &group.servers);
        mode.worst
            .iter()
            .filter_map(|&server| servers.get(server))
            .map(|server| server.name.as_str())
            .collect()
    }
}
