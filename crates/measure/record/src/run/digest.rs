//! The expensive part of a folded journal, kept next to it: sums of histograms and their
//! percentiles. With it, the 16 journals of a day-long fleet run are folded in seconds.
//!
//! The journal stays authoritative. Everything but histograms is read from it, its hash chain is
//! followed to the end, and a digest of any other journal is refused.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::lines::{IntervalOutline, decode, lines, outline};
use super::{DatabaseRow, IntervalRow, PhaseTotals, RunRecord, SeriesRow, SeriesTotal};
use crate::codec::{Seal, SealCheck};
use crate::pause::Looked;
use crate::{
    Event, Gauges, Histogram, IntervalCounters, LatencySpread, Phase, Series, Summary, Unanswered,
};

/// Incremented for every change of the digest, or of how a journal becomes a record.
const LAYOUT: u32 = 1;

/// Why a digest does not apply to a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DigestFault {
    /// Its bytes have changed since they were written.
    Damaged,
    /// Another release made it.
    OtherRelease,
    /// It was made from a different journal.
    OtherJournal,
}

impl fmt::Display for DigestFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Damaged => "is damaged",
            Self::OtherRelease => "was made by another release",
            Self::OtherJournal => "does not fit its journal",
        })
    }
}

impl std::error::Error for DigestFault {}

/// The first line of a digest.
#[derive(Serialize, Deserialize)]
struct DigestHead {
    made_by: String,
    journal_bytes: u64,
    /// Hash of the journal's last line, which covers all of it.
    chain: String,
    /// [`crate::digest`] of the second line.
    content: String,
}

/// The second line.
#[derive(Serialize, Deserialize)]
struct DigestFigures {
    rows: Vec<IntervalFigures>,
    totals: Vec<TotalFigures>,
}

/// An interval.
#[derive(Serialize, Deserialize)]
struct IntervalFigures {
    databases: Vec<DatabaseFigures>,
    series: Vec<RequestFigures>,
    spreads: Vec<(Series, LatencySpread)>,
}

/// Figures of one database in an interval.
#[derive(Serialize, Deserialize)]
struct DatabaseFigures {
    index: u32,
    counters: IntervalCounters,
    gauges: Gauges,
    series: Vec<RequestFigures>,
}

/// Requests of one kind in an interval: bytes and errors, then the members of [`Summary`] and of
/// [`Unanswered`] in their order. The mean is kept as the bits of its `f64`, since text may round
/// it.
#[derive(Serialize, Deserialize)]
struct RequestFigures(Series, [u64; 2], [u64; 7], [u64; 5]);

/// A database in a phase.
#[derive(Serialize, Deserialize)]
struct TotalFigures {
    of: (Phase, u32),
    span_ns: u64,
    counters: IntervalCounters,
    gauges: Gauges,
    series: Vec<SeriesFigures>,
}

#[derive(Serialize, Deserialize)]
struct SeriesFigures {
    series: Series,
    bytes: u64,
    errors: u64,
    latency: Histogram,
    unanswered: Unanswered,
}

impl RunRecord {
    /// The digest of this record, which was folded from a journal of `journal_bytes`. `None` unless
    /// that journal is sealed, unaltered and complete.
    pub fn digest(&self, journal_bytes: u64) -> Option<String> {
        let Seal::Whole { end } = self.seal else { return None };
        if self.torn_tail || self.finished.is_none() {
            return None;
        }
        let figures = DigestFigures {
            rows: self.intervals.iter().map(IntervalFigures::of).collect(),
            totals: self.totals.iter().map(|(of, totals)| TotalFigures::of(*of, totals)).collect(),
        };
        let content = serde_json::to_string(&figures).ok()?;
        let head = DigestHead {
            made_by: made_by(),
            journal_bytes,
            chain: end.to_string(),
            content: crate::digest([content.as_bytes()]),
        };
        Some(format!("{}\n{content}\n", serde_json::to_string(&head).ok()?))
    }

    /// Folds a journal to the same record as [`RunRecord::load`], with the histograms of a digest
    /// instead of the journal's.
    pub fn load_digested(journal: &[u8], digest: &[u8]) -> Result<Self, DigestFault> {
        let (head, figures) = opened(digest)?;
        if head.journal_bytes != journal.len() as u64 {
            return Err(DigestFault::OtherJournal);
        }
        let run = folded(journal, figures).ok_or(DigestFault::OtherJournal)?;
        match run.seal {
            Seal::Whole { end } if end.to_string() == head.chain => Ok(run),
            _ => Err(DigestFault::OtherJournal),
        }
    }

    fn push_digested(&mut self, outline: IntervalOutline, row: IntervalFigures) {
        let IntervalOutline { phase, from_ns, to_ns, host, processors, flash_cache } = outline;
        let span_ns = to_ns.saturating_sub(from_ns);
        let planned_ns = self.start.settings.interval_ns;
        let is_left_out = self.leaves_out(Looked { phase, span_ns, planned_ns, host });
        self.intervals.push(IntervalRow {
            phase,
            from_ns,
            to_ns,
            databases: row.databases.into_iter().map(DatabaseFigures::row).collect(),
            series: row.series.into_iter().map(RequestFigures::row).collect(),
            spreads: row.spreads,
            host,
            processors,
            flash_cache,
            is_left_out,
        });
        self.last_ns = self.last_ns.max(to_ns);
    }
}

/// Both lines of a digest, if the hash matches the second.
fn opened(digest: &[u8]) -> Result<(DigestHead, DigestFigures), DigestFault> {
    let digest = digest.trim_ascii_end();
    let end = digest.iter().position(|&byte| byte == b'\n').ok_or(DigestFault::Damaged)?;
    let (head, content) = (&digest[..end], &digest[end + 1..]);
    let head: DigestHead = serde_json::from_slice(head).map_err(|_| DigestFault::Damaged)?;
    if head.made_by != made_by() {
        return Err(DigestFault::OtherRelease);
    }
    if head.content != crate::digest([content]) {
        return Err(DigestFault::Damaged);
    }
    let figures = serde_json::from_slice(content).map_err(|_| DigestFault::Damaged)?;
    Ok((head, figures))
}

/// Folds a journal with a digest's figures. `None` if a line is not in the written form, or if the
/// digest has more or fewer intervals.
fn folded(journal: &[u8], figures: DigestFigures) -> Option<RunRecord> {
    let mut check = SealCheck::default();
    let mut rows = figures.rows.into_iter();
    let mut run: Option<RunRecord> = None;
    for (text, number) in lines(journal) {
        check.pass(text, number);
        match &mut run {
            None => match decode(text) {
                Ok(Event::Start(start)) => run = Some(RunRecord::begin(*start)),
                _ => return None,
            },
            Some(run) => match outline(text) {
                Some(interval) => run.push_digested(interval, rows.next()?),
                None => match decode(text) {
                    Ok(Event::Interval(_)) | Err(_) => return None,
                    Ok(event) => run.push(event),
                },
            },
        }
    }
    let mut run = run.filter(|_| rows.next().is_none())?;
    run.totals = figures.totals.into_iter().map(|of| (of.of, of.totals())).collect();
    run.seal = check.seal();
    Some(run)
}

fn made_by() -> String {
    format!("plimsoll {} layout {LAYOUT}", env!("CARGO_PKG_VERSION"))
}

impl IntervalFigures {
    fn of(row: &IntervalRow) -> Self {
        Self {
            databases: row.databases.iter().map(DatabaseFigures::of).collect(),
            series: row.series.iter().map(RequestFigures::of).collect(),
            spreads: row.spreads.clone(),
        }
    }
}

impl DatabaseFigures {
    fn of(row: &DatabaseRow) -> Self {
        let series = row.series.iter().map(RequestFigures::of).collect();
        Self { index: row.index, counters: row.counters, gauges: row.gauges, series }
    }

    fn row(self) -> DatabaseRow {
        let series = self.series.into_iter().map(RequestFigures::row).collect();
        DatabaseRow { index: self.index, series, counters: self.counters, gauges: self.gauges }
    }
}

impl RequestFigures {
    fn of((&series, row): (&Series, &SeriesRow)) -> Self {
        let Summary { count, mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, maximum_ns } = row.latency;
        let mean = mean_ns.to_bits();
        let latency = [count, mean, p50_ns, p90_ns, p99_ns, p999_ns, maximum_ns];
        let Unanswered { waiting, mean_age_ns, oldest_ns, stalled_ns, stalled_wait_ns } =
            row.unanswered;
        let unanswered = [waiting, mean_age_ns, oldest_ns, stalled_ns, stalled_wait_ns];
        Self(series, [row.bytes, row.errors], latency, unanswered)
    }

    fn row(self) -> (Series, SeriesRow) {
        let Self(series, [bytes, errors], latency, unanswered) = self;
        let [count, mean, p50_ns, p90_ns, p99_ns, p999_ns, maximum_ns] = latency;
        let mean_ns = f64::from_bits(mean);
        let latency = Summary { count, mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, maximum_ns };
        let [waiting, mean_age_ns, oldest_ns, stalled_ns, stalled_wait_ns] = unanswered;
        let unanswered =
            Unanswered { waiting, mean_age_ns, oldest_ns, stalled_ns, stalled_wait_ns };
        (series, SeriesRow { bytes, errors, latency, unanswered })
    }
}

impl TotalFigures {
    fn of(of: (Phase, u32), totals: &PhaseTotals) -> Self {
        let series = totals.series.iter().map(|(&series, total)| SeriesFigures {
            series,
            bytes: total.bytes,
            errors: total.errors,
            latency: total.latency.clone(),
            unanswered: total.unanswered,
        });
        let (counters, gauges) = (totals.counters, totals.gauges);
        Self { of, span_ns: totals.span_ns, counters, gauges, series: series.collect() }
    }

    fn totals(self) -> PhaseTotals {
        let Self { span_ns, counters, gauges, series, .. } = self;
        let series = series.into_iter().map(|of| {
            let SeriesFigures { series, bytes, errors, latency, unanswered } = of;
            (series, SeriesTotal { bytes, errors, latency, unanswered })
        });
        PhaseTotals { span_ns, series: series.collect(), counters, gauges }
    }
}

#[cfg(test)]
mod tests;
