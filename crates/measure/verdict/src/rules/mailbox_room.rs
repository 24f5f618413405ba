//! Whether the plan's mailboxes fit on the volumes: storage that is fast enough but too small does
//! not meet the requirement.

use std::collections::BTreeMap;

use record::{RunRecord, VolumeFacts};
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
    /// Space on the database volumes, in bytes: see [`room_bytes`].
    pub room_bytes: u64,
}

impl MailboxRoom {
    /// The demand of the plan of `run`. `None` if it lacks the number or size of mailboxes, or the
    /// space on the volumes is unknown.
    pub fn of(run: &RunRecord) -> Option<Self> {
        let settings = &run.start.settings;
        let (wanted, each_bytes) = (settings.mailboxes?, settings.mailbox_bytes?);
        let room_bytes = room_bytes(run);
        let is_known = each_bytes > 0 && room_bytes > 0;
        is_known.then_some(Self { wanted, each_bytes, room_bytes })
    }

    /// Number of mailboxes that fit on the volumes.
    pub const fn fitting(&self) -> u64 {
        self.room_bytes / self.each_bytes
    }
}

/// Space for databases on the volumes of `run`, in bytes; 0 if unknown. That is the free space at
/// the start of the run, plus the space of its databases: files of others stay.
pub fn room_bytes(run: &RunRecord) -> u64 {
    let mut volumes: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for facts in &run.start.databases {
        let VolumeFacts { mount, size_bytes, free_bytes, .. } = &facts.volume;
        let (_, room) = volumes.entry(mount).or_insert((*size_bytes, *free_bytes));
        *room = room.saturating_add(facts.initial_bytes);
    }
    volumes.values().map(|&(size, room)| room.min(size)).sum()
}

/// Warns if the mailboxes do not fit. No finding in a test without a load, or if the plan has no
/// mailboxes.
pub(super) fn judge(run: &RunRecord) -> Option<Finding> {
    let room = MailboxRoom::of(run).filter(|_| judges_load(run))?;
    let has_room = room.fitting() >= room.wanted;
    let lacking = Evidence::of_run(format!(
        "{} mailboxes of {} do not fit in the space that is free or holds these databases; take \
         larger volumes, or plan for fewer mailboxes",
        thousands(room.wanted),
        Bytes(room.each_bytes)
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
