//! Where a run that was cut off goes on: how much of its journal stands, and how much is left to be
//! measured.

mod refusal;

use crate::codec::{Seal, Sealer};
use crate::{Event, IntervalRow, Phase, Resumed, RunRecord, TestType};

pub use refusal::NotResumable;

/// A run that can go on.
#[derive(Clone, Debug)]
pub struct Resumption {
    /// What has happened so far.
    pub record: RunRecord,
    /// So many bytes of the journal stand; what comes behind them was cut off.
    pub kept_bytes: u64,
    /// Bytes behind them.
    pub cut_bytes: u64,
    /// Seals the lines that follow.
    pub sealer: Sealer,
    /// What is left to be measured, in nanoseconds.
    pub remaining_ns: u64,
}

impl Resumption {
    /// What the bytes of a journal leave to be done.
    ///
    /// # Errors
    ///
    /// Says why the run cannot go on.
    pub fn of(journal: &[u8]) -> Result<Self, NotResumable> {
        let (record, kept) = whole_lines(journal)?;
        let sealer = match record.seal {
            Seal::Whole { end } => Sealer::behind(end),
            Seal::Unsealed => return Err(NotResumable::Unsealed),
            Seal::Altered { line } => return Err(NotResumable::Altered { line }),
        };
        if let Some(finished) = &record.finished {
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

    /// The event with which the run goes on, `at_ns` after its start.
    pub const fn event(&self, at_ns: u64) -> Event {
        Event::Resumed(Resumed { at_ns, cut_bytes: self.cut_bytes })
    }
}

/// The record of all whole lines, and their length. What a crash has torn is the last line: one
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

/// What is left of the planned time. A measurement that has come to its end leaves nothing, though
/// its intervals may come to a little less than was planned.
fn remaining_ns(record: &RunRecord) -> u64 {
    let settings = &record.start.settings;
    let spans = record.intervals_of(Phase::Measure).map(IntervalRow::span_ns);
    let left_ns = settings.measure_ns.saturating_sub(spans.sum());
    let mut later = record.phases.iter();
    let has_ended = later.any(|span| matches!(span.phase, Phase::Drain | Phase::Check));
    if has_ended && left_ns < settings.interval_ns { 0 } else { left_ns }
}

#[cfg(test)]
mod tests;
