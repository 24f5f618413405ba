//! The run that goes on: its journal followed as it grows, and what a page shows of it.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use record::{Event, IntervalRow, Phase, RunRecord, Series, SeriesRow, codec};
use serde_json::{Value, json};

use crate::summary::is_load;

/// Points that a page is given at once; of a longer run it gets the newest.
const MOST_POINTS: usize = 2_000;

/// A journal that grows.
pub(crate) struct JournalTail {
    journal: PathBuf,
    offset: u64,
    /// The beginning of a line whose end is not written yet.
    partial: Vec<u8>,
    record: Option<RunRecord>,
}

impl JournalTail {
    /// Of the journal at this path, nothing of it read yet.
    pub(crate) const fn new(journal: PathBuf) -> Self {
        Self { journal, offset: 0, partial: Vec::new(), record: None }
    }

    /// The run so far, as it was read last.
    pub(crate) const fn record(&self) -> Option<&RunRecord> {
        self.record.as_ref()
    }

    /// Reads what has been written since.
    pub(crate) fn follow(&mut self) {
        let mut new = Vec::new();
        // What cannot be read now may be readable when it is looked at next.
        let _ = File::open(&self.journal).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.offset))?;
            file.read_to_end(&mut new)
        });
        // A read that fails may have brought a part, which must not come twice.
        self.offset += new.len() as u64;
        self.partial.append(&mut new);
        self.take_lines();
    }

    fn take_lines(&mut self) {
        let whole = self.partial.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let rest = self.partial.split_off(whole);
        for line in std::mem::replace(&mut self.partial, rest).split(|&byte| byte == b'\n') {
            let event = std::str::from_utf8(line).ok().and_then(|line| codec::decode(line).ok());
            match (event, &mut self.record) {
                (Some(Event::Start(start)), None) => self.record = Some(RunRecord::begin(*start)),
                (Some(event), Some(record)) => record.push(event),
                _ => {}
            }
        }
    }
}

/// Where a run stands at `now_ns` since 1970, with every point from number `first` on; none before
/// it has begun.
pub(crate) fn snapshot(run: &RunRecord, now_ns: u64, first: usize) -> Value {
    let since_start_ns = now_ns.saturating_sub(run.start.started_epoch_ns);
    let span = run.phases.iter().rev().find(|span| span.to_ns.is_none());
    let elapsed_ns = span.map(|span| since_start_ns.saturating_sub(span.from_ns));
    let phase = span.map(|span| span.phase);
    let planned_ns = phase.and_then(|phase| planned(run, phase));
    let left = planned_ns.zip(elapsed_ns).map(|(whole, gone)| whole.saturating_sub(gone));
    let latest = run.intervals.last().filter(|row| is_load(row.phase));
    let limits = &run.start.settings.thresholds;
    let first = first.max(run.intervals.len().saturating_sub(MOST_POINTS));
    let points = run.intervals.get(first..).unwrap_or_default();
    json!({
        "phase": phase.map(Phase::name),
        "elapsed_s": elapsed_ns.map(seconds),
        "planned_s": planned_ns.map(seconds),
        "left_s": left.map(seconds),
        "running_s": seconds(since_start_ns),
        "sessions": run.sessions_per_database(),
        "iops": latest.map(iops),
        "target_iops": run.start.settings.target_iops,
        "read": latency(latest, Series::DatabaseRead, limits.read_average_ns),
        "log_write": latency(latest, Series::LogWrite, limits.log_write_average_ns),
        "issues": run.issues.len(),
        "finished": run.finished.is_some(),
        "next": run.intervals.len(),
        "points": points.iter().filter(|row| is_load(row.phase)).map(point).collect::<Vec<_>>(),
    })
}

/// How long a phase is to last, where that is known.
fn planned(run: &RunRecord, phase: Phase) -> Option<u64> {
    let is_timed = phase == Phase::Measure && run.start.settings.replay_logs == 0;
    is_timed.then_some(run.start.settings.measure_ns)
}

fn latency(latest: Option<&IntervalRow>, series: Series, limit_ns: u64) -> Value {
    let row: Option<&SeriesRow> = latest.and_then(|row| row.series.get(&series));
    let row = row.filter(|row| row.latency.count > 0);
    json!({
        "mean_ms": row.map(|row| row.latency.mean_ns / 1e6),
        "p99_ms": row.map(|row| milliseconds(row.latency.p99_ns)),
        "maximum_ms": row.map(|row| milliseconds(row.latency.maximum_ns)),
        "limit_ms": milliseconds(limit_ns),
    })
}

/// Time since the start of the run, IOPS, mean read and log write latency.
fn point(row: &IntervalRow) -> Value {
    let means = [Series::DatabaseRead, Series::LogWrite].map(|series| mean_ms(row, series));
    json!([seconds(row.to_ns), iops(row), means[0], means[1]])
}

fn mean_ms(row: &IntervalRow, series: Series) -> Option<f64> {
    let part = row.series.get(&series).filter(|part| part.latency.count > 0);
    part.map(|part| part.latency.mean_ns / 1e6)
}

/// Database reads and writes of transactions per second.
pub(crate) fn iops(row: &IntervalRow) -> f64 {
    row.transactional_iops()
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

fn milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write as _;

    use record::codec::encode;
    use record::synthetic::Synthetic;
    use record::{Event, Phase, RunRecord};

    use super::{JournalTail, snapshot};

    #[test]
    fn a_journal_is_followed_over_lines_that_are_half_written() {
        let events = Synthetic::default().events();
        let text: String = events.iter().map(encode).collect();
        let journal = std::env::temp_dir().join(format!("plimsoll-tail-{}", std::process::id()));
        fs::write(&journal, "").unwrap();
        let mut tail = JournalTail::new(journal.clone());
        let mut file = OpenOptions::new().append(true).open(&journal).unwrap();
        for piece in text.as_bytes().chunks(997) {
            file.write_all(piece).unwrap();
            tail.follow();
        }
        let whole = RunRecord::load(text.as_bytes()).unwrap();
        let followed = tail.record().unwrap();
        assert_eq!(followed.intervals.len(), whole.intervals.len());
        assert_eq!(followed.last_ns(), whole.last_ns());
        assert!(followed.finished.is_some());
        fs::remove_file(journal).unwrap();
    }

    #[test]
    fn what_is_left_is_reckoned_from_the_clock() {
        let mut run: Option<RunRecord> = None;
        for event in Synthetic::default().events() {
            match (event, &mut run) {
                (Event::Start(start), _) => run = Some(RunRecord::begin(*start)),
                (event, Some(run)) => run.push(event),
                (_, None) => {}
            }
            let is_measured = |run: &RunRecord| {
                run.phases.last().is_some_and(|span| span.phase == Phase::Measure)
                    && run.intervals.last().is_some_and(|row| row.phase == Phase::Measure)
            };
            if run.as_ref().is_some_and(is_measured) {
                break;
            }
        }
        let run = run.unwrap();
        let begun_ns = run.phases.last().unwrap().from_ns;
        let now_ns = run.start.started_epoch_ns + begun_ns + 20_000_000_000;
        let shown = snapshot(&run, now_ns, 0);
        assert_eq!(shown["phase"], "measurement");
        assert_eq!(shown["elapsed_s"], 20.0);
        let planned = run.start.settings.measure_ns as f64 / 1e9;
        assert_eq!(shown["left_s"].as_f64(), Some((planned - 20.0).max(0.0)));
        assert_eq!(shown["read"]["limit_ms"], 20.0);
        assert!(shown["iops"].as_f64().unwrap() > 0.0);
        let next = usize::try_from(shown["next"].as_u64().unwrap()).unwrap();
        assert_eq!(snapshot(&run, now_ns, next)["points"], serde_json::json!([]));
    }
}
