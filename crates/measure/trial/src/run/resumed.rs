//! Requirements for resuming a run after a crash: databases not opened by any other program since,
//! and logs that contain everything acknowledged.

use std::collections::BTreeMap;

use engine::Database;
use ese::Lgpos;
use ese::header::{DatabaseHeader, read_copies};
use record::{Attached, Event, LogPlace, RunRecord};

use super::Group;
use crate::location::Location;
use crate::manifest::{digits, header_of};
use crate::sampler::log_place;

/// Session numbers reserved for one part of a run: each session draws a different stream of
/// operations, and rows drawn before the crash may still be in some cache.
const SESSIONS_OF_A_PART: u32 = 1 << 16;

/// State of an interrupted run, from its journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResumedRun {
    /// How many times it was resumed before.
    breaks: u32,
    /// The last attachment of each database.
    attachments: BTreeMap<u32, Attached>,
    /// Position up to which each log was acknowledged as durable; more of it may be.
    durable_to: BTreeMap<u32, LogPlace>,
}

impl ResumedRun {
    /// Collects the state from the events so far.
    pub fn of(record: &RunRecord) -> Self {
        let mut durable_to = BTreeMap::new();
        for ((_, database), totals) in &record.totals {
            if let Some(place) = totals.gauges.log_durable_to {
                let known: &mut LogPlace = durable_to.entry(*database).or_default();
                *known = place.max(*known);
            }
        }
        Self {
            breaks: u32::try_from(record.breaks.len()).unwrap_or(u32::MAX),
            attachments: record.attachments.clone(),
            durable_to,
        }
    }
}

/// Whether the first bytes of a database show that it was opened since a run that knows it as
/// `known`.
pub fn is_opened_since(known: &Attached, start: &[u8]) -> bool {
    read_copies(start).is_ok_and(|copies| !is_attached_as(&copies.header, known))
}

fn is_attached_as(header: &DatabaseHeader, known: &Attached) -> bool {
    log_place(header.attached_at) == known.place
        && digits(header.log_signature) == known.log_signature
}

impl Group {
    /// The number of the first session.
    pub(super) fn first_session(&self) -> u32 {
        let resumed = self.resumed.as_ref();
        resumed.map_or(0, |resumed| (resumed.breaks + 1).saturating_mul(SESSIONS_OF_A_PART))
    }

    /// Refuses a database that was opened by anything else since the interrupted run.
    pub(super) async fn refuse_used_since(&self, location: &Location) -> Result<(), String> {
        let resumed = self.resumed.as_ref();
        let known = resumed.and_then(|run| run.attachments.get(&location.plan.index));
        let Some(known) = known else {
            return Ok(());
        };
        let read = header_of(&*location.database, &location.plan.file).await;
        let Some(header) = read.map_err(|error| error.to_string())? else {
            return Ok(());
        };
        if is_attached_as(&header, known) {
            return Ok(());
        }
        Err(format!(
            "{}: has been opened since the run was cut off (by another run, or by `plimsoll \
             recover`), so the run cannot go on; start it anew",
            location.path()
        ))
    }

    /// The missing part of the log after recovery, which ended at `end`, if it falls short of the
    /// acknowledged position.
    pub(super) fn lost_log(&self, location: &Location, end: Option<Lgpos>) -> Option<String> {
        let durable_to = self.resumed.as_ref()?.durable_to.get(&location.plan.index)?;
        let end = log_place(end?);
        (end < *durable_to).then(|| {
            format!(
                "{}: the log ends at {end} after the crash, and all before {durable_to} had been \
                 acknowledged as durable: the storage has lost writes that it had confirmed",
                location.path()
            )
        })
    }

    /// Reports where a database was opened, so that this run can be resumed after a crash.
    pub(super) fn tell_attached(&self, location: &Location, database: &Database) {
        let (place, log_signature) = database.attached();
        (self.events)(Event::Attached(Attached {
            at_ns: self.elapsed(),
            database: location.plan.index,
            log_signature: digits(log_signature),
            place: log_place(place),
        }));
    }
}
