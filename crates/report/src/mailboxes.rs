//! What a load comes to in mailboxes. Fast disks do the requests of more mailboxes than they have
//! room for, so the one bound never stands without the other.

use std::collections::BTreeMap;

use record::RunRecord;
use units::Bytes;

use crate::format;

/// IOPS of a mailbox where the plan names none: 150 messages a day in Exchange 2013 and later
/// (0.101 in Microsoft's mailbox profile table).
const USUAL_IOPS_EACH: f64 = 0.1;

/// Size of a mailbox that room is counted in where the plan names none: where Exchange 2013 and
/// later prohibit sending by default, 2 GB.
const USUAL_SIZE: Bytes = Bytes(2 << 30);

/// How many mailboxes a run stands for, by each bound, rounded down to two digits: more would be a
/// claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Carried {
    /// By the requests that were served.
    pub by_io: f64,
    /// By the size of the volumes of the databases; none where the record has no sizes.
    pub by_space: Option<f64>,
    volumes_bytes: u64,
    /// Transactional IOPS of one mailbox.
    pub iops_each: f64,
}

impl Carried {
    /// What `run` achieved.
    pub(crate) fn of(run: &RunRecord) -> Self {
        let stated = run.start.settings.iops_per_mailbox;
        let iops_each = stated.filter(|&iops| iops > 0.0).unwrap_or(USUAL_IOPS_EACH);
        let databases = run.start.databases.iter();
        let volumes: BTreeMap<&str, u64> = databases
            .map(|facts| (facts.volume.mount.as_str(), facts.volume.size_bytes))
            .collect();
        let volumes_bytes = volumes.values().sum();
        let by_space = volumes_bytes as f64 / USUAL_SIZE.0 as f64;
        Self {
            by_io: two_digits(run.achieved_transactional_iops() / iops_each),
            by_space: (volumes_bytes > 0).then(|| two_digits(by_space)),
            volumes_bytes,
            iops_each,
        }
    }

    /// Both bounds, and which one holds.
    pub(crate) fn sentence(&self) -> String {
        let by_io = format!(
            "In mailboxes: the requests of about {} of {} IOPS",
            format::number(self.by_io, 0),
            format::number(self.iops_each, 2)
        );
        let Some(by_space) = self.by_space else {
            return format!("{by_io}; the room for them is unknown.");
        };
        let bound = if by_space < self.by_io {
            "space"
        } else {
            "I/O"
        };
        format!(
            "{by_io}; the room of about {} of {} on {}: {bound} is the limit.",
            format::number(by_space, 0),
            format::size(USUAL_SIZE.0),
            format::size(self.volumes_bytes)
        )
    }
}

fn two_digits(mailboxes: f64) -> f64 {
    if mailboxes < 10.0 {
        return mailboxes.floor();
    }
    let step = 10_f64.powf(mailboxes.log10().floor() - 1.0);
    (mailboxes / step).floor() * step
}
