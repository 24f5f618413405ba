//! Whether the plan's mailboxes fit on the volumes: storage that is fast enough but too small does
//! not meet the requirement.

use std::collections::BTreeMap;

use record::RunRecord;
use units::{Bytes, thousands};

use super::judges_load;
use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// Machine-readable rule name.
pub(crate) const RULE: &str = "mailbox-room";

/// The data required by the plan, and the volumes of the databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailboxRoom {
    /// Number of mailboxes in the plan.
    pub wanted: u64,
    /// Size of each, in bytes.
    pub each_bytes: u64,
    /// Size of the volumes of the databases, in bytes.
    pub volumes_bytes: u64,
}

impl MailboxRoom {
    /// The demand of the plan of `run`. `None` if it names no number or no size of mailboxes, or
    /// the size of the volumes is not known.
    pub fn of(run: &RunRecord) -> Option<Self> {
        let settings = &run.start.settings;
        let (wanted, each_bytes) = (settings.mailboxes?, settings.mailbox_bytes?);
        let volumes_bytes = volumes_bytes(run);
        let is_known = each_bytes > 0 && volumes_bytes > 0;
        is_known.then_some(Self { wanted, each_bytes, volumes_bytes })
    }

    /// Number of mailboxes that fit on the volumes.
    pub const fn fitting(&self) -> u64 {
        self.volumes_bytes / self.each_bytes
    }
}

/// Size of the volumes of the databases, each counted once, in bytes; 0 if it is not known.
pub fn volumes_bytes(run: &RunRecord) -> u64 {
    let databases = run.start.databases.iter();
    let volumes: BTreeMap<&str, u64> =
        databases.map(|facts| (facts.volume.mount.as_str(), facts.volume.size_bytes)).collect();
    volumes.values().sum()
}

/// Warns if the mailboxes do not fit. No finding in a test without a load, or if the plan has no
/// mailboxes.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let room = MailboxRoom::of(run).filter(|_| judges_load(run))?;
    let has_room = room.fitting() >= room.wanted;
    let lacking = Evidence::of_run(format!(
        "{} mailboxes of {} do not fit on {}; take larger volumes, or plan for fewer mailboxes",
        thousands(room.wanted),
        Bytes(room.each_bytes),
        Bytes(room.volumes_bytes)
    ));
    Some(Finding {
        rule: RULE,
        title: "Mailboxes that have room",
        kind: Kind::Load,
        outcome: if has_room { Ruling::Pass } else { Ruling::Warn },
        measured: Some(room.fitting() as f64),
        limit: Some(Limit::AtLeast(room.wanted as f64)),
        unit: Unit::Count,
        evidence: if has_room { Vec::new() } else { vec![lacking] },
    })
}

#[cfg(test)]
mod tests;
