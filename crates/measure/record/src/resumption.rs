//! The point at which an interrupted run resumes: the valid part of its journal, and the remaining
//! measurement.

mod refusal;

use crate::codec::{Seal, Sealer};
use crate::{Event, IntervalRow, Phase, Resumed, RunRecord, TestType};

pub use refusal::NotResumable;

/// A run that can resume.
#[derive(Clone, Debug)]
pub struct Resumption {
    /// The events so far.
    pub record: RunRecord,
    /// Length of the valid part of the journal, in bytes.
    pub kept_bytes: u64,
    /// Length of the invalid rest, in bytes, to be removed.
    pub cut_bytes: u64,
    /// Seals the lines that follow.
    pub sealer: Sealer,
    /// Remaining measurement, in nanoseconds.
    pub remaining_ns: u64,
}

impl Resumption {
    /// The remaining work, from the bytes of a journal.
    ///
    /// # Errors
    ///
    /// Returns why the run cannot resume.
    pub fn of(journal: &[u8]) -> Result<Self, NotResumable> {
        let (record, kept) = whole_lines(journal)?;
        let sealer = match record.seal {
            Seal::Whole { end } => Sealer::behind(end),
            Seal::Unsealed => return Err(NotResumable::Unsealed),
            Seal::Altered { line } => return Err(NotResumable::Altered { line }),
        };
        if let Some(finished) = record.finished.as_ref().filter(|finished| !finished.was_stopped) {
            return Err(NotResumable::Ended { reason: finished.reason.clone() });
        }
        if !matches!(record.start.test, TestType::Performance | TestType::Stress) {
            return Err(NotResumable::OnlyReads(record.start.test));
        }
        let mut databases = record.start.databases.iter();
        let was_loaded = record.phases.iter().any(|span| span.phase == Phase::Measure);
        let unknown = databases.find(|of| !record.attachments.contains_key(&of.index));
        if let (Some(of), true) = (unknown, was_loaded) {
            return Err(NotResumable::NoAttachment { database: of.index });
        }
        let remaining_ns = remaining_ns(&record);
        let (kept_bytes, cut_bytes) = (kept as u64, (journal.len() - kept) as u64);
        Ok(Self { record, kept_bytes, cut_bytes, sealer, remaining_ns })
    }

    /// The event that marks the resumption, `at_ns` after the run's start.
    pub const fn event(&self, at_ns: u64) -> Event {
        Event::Resumed(Resumed { at_ns, cut_bytes: self.cut_bytes })
    }
}

/// The record of all whole lines, and their length. A crash can tear only the last line: one
/// without a line feed, or one that cannot be read.
fn whole_lines(journal: &[u8]) -> Result<(RunRecord, usize), NotResumable> {
    let mut kept = end_of_last_line(journal);
    let mut record = RunRecord::load(&journal[..kept]).map_err(NotResumable::Unreadable)?;
    if record.torn_tail {
        kept = end_of_last_line(&journal[..kept - 1]);
        record = RunRecord::load(&journal[..kept]).map_err(NotResumable::Unreadable)?;
    }
    Ok((record, kept))
}

fn end_of_last_line(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1)
}

/// The intervals of a complete measurement may add up to this much less than planned, in percent.
const SLACK_PERCENT: u64 = 1;

/// The remainder of the planned time; none after a complete measurement.
fn remaining_ns(record: &RunRecord) -> u64 {
    let settings = &record.start.settings;
    let spans = record.intervals_of(Phase::Measure).map(IntervalRow::span_ns);
    let left_ns = settings.measure_ns.saturating_sub(spans.sum());
    let mut later = record.phases.iter();
    let has_ended = later.any(|span| matches!(span.phase, Phase::Drain | Phase::Check));
    let slack_ns = settings.measure_ns / 100 * SLACK_PERCENT;
    if has_ended && left_ns <= slack_ns { 0 } else { left_ns }
}

#[cfg(test)]
mod tests;
