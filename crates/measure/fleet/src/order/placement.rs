//! The placement of databases on hosts over time: copies, losses, and the load of each copy.

use serde::{Deserialize, Serialize};
use units::Nanos;

use super::FleetOrder;
use super::event::{CopySet, EventAction, PlannedEvent, TakeOver};

/// Role of a database's copy on one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CopyRole {
    /// Its host is lost.
    Lost,
    /// It follows the active copy.
    Passive,
    /// It carries the load of the database's mailboxes.
    Active,
}

/// The load of one copy from an instant on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadChange {
    /// Time after the common instant.
    #[serde(rename = "after_ns", with = "crate::nanos")]
    pub at: Nanos,
    /// Host of the fleet plan, counted from 0.
    pub host: usize,
    /// Name of the database.
    pub database: String,
    /// Its load in percent of that of an active copy: 0 to 100.
    pub percent: u32,
}

/// The state of all copies between two events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CopyPlacement {
    /// Host of the active copy of each database; `None` if every copy is lost.
    active: Vec<Option<usize>>,
    is_lost: Vec<bool>,
}

impl CopyPlacement {
    /// The first copy of every database is active, and no host is lost.
    pub(super) fn first(copies: &[CopySet], hosts: usize) -> Self {
        let active = copies.iter().map(|of| of.hosts.first().copied()).collect();
        Self { active, is_lost: vec![false; hosts] }
    }

    pub(super) fn is_lost(&self, host: usize) -> bool {
        self.is_lost[host]
    }

    pub(super) fn active(&self, database: usize) -> Option<usize> {
        self.active[database]
    }

    /// Databases that are active on `host`.
    pub(super) fn active_on(&self, host: usize) -> Vec<usize> {
        (0..self.active.len()).filter(|&of| self.active[of] == Some(host)).collect()
    }

    /// The first copy of a database, by preference, on a host that is not lost and is not `but`.
    pub(super) fn next_copy(&self, copies: &CopySet, but: usize) -> Option<usize> {
        copies.hosts.iter().copied().find(|&host| host != but && !self.is_lost[host])
    }

    /// The state after an event.
    pub(super) fn after(mut self, copies: &[CopySet], action: &EventAction) -> Self {
        match action {
            EventAction::Lose { host, take_over } => {
                self.is_lost[*host] = true;
                for database in self.active_on(*host) {
                    let of = &copies[database].database;
                    let found = take_over.iter().find(|taken| taken.database == *of);
                    self.active[database] = found.map(|TakeOver { by, .. }| *by);
                }
            }
            EventAction::Rejoin { host } => {
                self.is_lost[*host] = false;
                for (active, of) in self.active.iter_mut().zip(copies) {
                    if active.is_none() && of.hosts.contains(host) {
                        *active = Some(*host);
                    }
                }
            }
            EventAction::Reseed { .. } => {}
        }
        self
    }

    fn role(&self, database: usize, host: usize) -> CopyRole {
        if self.is_lost[host] {
            CopyRole::Lost
        } else if self.active[database] == Some(host) {
            CopyRole::Active
        } else {
            CopyRole::Passive
        }
    }
}

impl FleetOrder {
    /// The state before the first event, and after each.
    fn placements(&self) -> Vec<(Nanos, CopyPlacement)> {
        let first = CopyPlacement::first(&self.databases, self.hosts.len());
        let mut placements = vec![(Nanos::ZERO, first.clone())];
        let mut last = first;
        for PlannedEvent { at, action } in &self.events {
            last = last.after(&self.databases, action);
            placements.push((*at, last.clone()));
        }
        placements
    }

    /// Returns the role of the copy of `database` on `host` at an instant; `None` if there is no
    /// such copy.
    #[cfg(test)]
    pub(crate) fn role(&self, host: usize, database: &str, at: Nanos) -> Option<CopyRole> {
        let index = self.databases.iter().position(|of| of.database == database)?;
        let holds = self.databases[index].hosts.contains(&host);
        let placements = self.placements();
        let (_, placement) = placements.iter().rfind(|(from, _)| *from <= at)?;
        holds.then(|| placement.role(index, host))
    }

    /// The load of every copy when the measurement begins, and each change of it, in the order of
    /// time. A copy that is not lost has 100 percent while it is active, and
    /// [`FleetOrder::passive_percent`] otherwise.
    pub fn load_changes(&self) -> Vec<LoadChange> {
        let mut changes: Vec<LoadChange> = Vec::new();
        for (at, placement) in self.placements() {
            for (index, copies) in self.databases.iter().enumerate() {
                for &host in &copies.hosts {
                    let percent = match placement.role(index, host) {
                        CopyRole::Lost => 0,
                        CopyRole::Passive => self.passive_percent,
                        CopyRole::Active => 100,
                    };
                    let database = copies.database.clone();
                    let last =
                        changes.iter().rfind(|of| (of.host, &of.database) == (host, &database));
                    if last.is_none_or(|last| last.percent != percent) {
                        changes.push(LoadChange { at, host, database, percent });
                    }
                }
            }
        }
        changes
    }
}
