//! Follows the journal of the live run as it grows, and prepares the data for its page.

mod decisions;

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use record::{
    Event, Histogram, IntervalRow, Phase, PhaseTotals, RunRecord, Series, SeriesRow, TestType,
    codec,
};
use serde_json::{Value, json};

use crate::summary::is_load;

/// Maximum number of points sent to a page at once; for a longer run, the newest.
const MOST_POINTS: usize = 2_000;

/// Upper ends of the bars of the histogram: 1, 2 and 5 times the powers of ten from 10 us to 10 s.
pub(crate) const BARS_NS: [u64; 19] = {
    let mut bars = [0; 19];
    let (mut bar, mut power) = (0, 10_000);
    while bar < bars.len() {
        bars[bar] = power * [1, 2, 5][bar % 3];
        bar += 1;
        if bar.is_multiple_of(3) {
            power *= 10;
        }
    }
    bars
};

/// Events that a page has already received.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Given {
    /// Intervals.
    pub intervals: usize,
    /// Lines of the test log.
    pub lines: usize,
}

impl Given {
    /// The position after all events of `run`.
    pub(crate) const fn all_of(run: &RunRecord) -> Self {
        Self { intervals: run.intervals.len(), lines: run.log.len() }
    }
}

/// Reads a journal as it grows.
pub(crate) struct JournalTail {
    journal: PathBuf,
    offset: u64,
    /// An incomplete last line of the journal.
    partial: Vec<u8>,
    record: Option<RunRecord>,
}

impl JournalTail {
    /// Creates a reader of the journal at this path, with nothing read yet.
    pub(crate) const fn new(journal: PathBuf) -> Self {
        Self { journal, offset: 0, partial: Vec::new(), record: None }
    }

    /// The run so far, as last read.
    pub(crate) const fn record(&self) -> Option<&RunRecord> {
        self.record.as_ref()
    }

    /// Reads the events written since the last call.
    pub(crate) fn follow(&mut self) {
        let mut new = Vec::new();
        // A journal that cannot be read now may be readable at the next attempt.
        let _ = File::open(&self.journal).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.offset))?;
            file.read_to_end(&mut new)
        });
        // A failed read may have returned a part, which must not be read again.
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

/// State of a run at `now_ns` since 1970, with all events after `given`.
pub(crate) fn snapshot(run: &RunRecord, now_ns: u64, given: Given) -> Value {
    let since_start_ns = now_ns.saturating_sub(run.start.started_epoch_ns);
    let span = run.phases.iter().rev().find(|span| span.to_ns.is_none());
    let elapsed_ns = span.map(|span| since_start_ns.saturating_sub(span.from_ns));
    let phase = span.map(|span| span.phase);
    let planned_ns = phase.and_then(|phase| planned(run, phase));
    let left = planned_ns.zip(elapsed_ns).map(|(whole, gone)| whole.saturating_sub(gone));
    let latest = run.intervals.last().filter(|row| is_load(row.phase));
    let limits = &run.start.settings.thresholds;
    let (read_limits, log_write_limits) = (
        (limits.read_average_ns, limits.read_maximum_ns),
        (limits.log_write_average_ns, limits.log_write_maximum_ns),
    );
    json!({
        "phase": phase.map(Phase::name),
        "elapsed_s": elapsed_ns.map(seconds),
        "planned_s": planned_ns.map(seconds),
        "left_s": left.map(seconds),
        "least_left_s": least_left_ns(run, phase).map(seconds),
        "running_s": seconds(since_start_ns),
        "sessions": run.sessions_per_database(),
        "tuned_at_s": run.tuned.map(|tuned| seconds(tuned.at_ns)),
        "iops": latest.map(iops),
        "target_iops": run.target_iops().filter(|_| holds_target(run)),
        "is_held": phase == Some(Phase::Measure) || run.start.settings.warm_up_held,
        "read": latency(latest, Series::DatabaseRead, read_limits),
        "log_write": latency(latest, Series::LogWrite, log_write_limits),
        "issues": run.issues.len() as u64 + run.further_error_count(),
        "finished": run.finished.is_some(),
        "points": points(run, given),
        "histogram": phase.map(|phase| histogram(run, phase)),
        "decisions": decisions::since(run, given),
    })
}

/// Whether the test holds the target of its plan: only a load that is judged does.
const fn holds_target(run: &RunRecord) -> bool {
    matches!(run.start.test, TestType::Performance | TestType::Stress)
}

/// Remaining measurement time of a run that started `since_start_ns` ago; `None` if it is unknown
/// or the measurement is over.
pub(crate) fn left_to_measure_ns(run: &RunRecord, since_start_ns: u64) -> Option<u64> {
    let span = run.phases.iter().rev().find(|span| span.to_ns.is_none())?;
    let least = least_left_ns(run, Some(span.phase));
    let gone_ns = since_start_ns.saturating_sub(span.from_ns);
    least.or_else(|| planned(run, span.phase).map(|whole| whole.saturating_sub(gone_ns)))
}

/// Time that a run before its measurement still needs at least; `None` once it measures.
fn least_left_ns(run: &RunRecord, phase: Option<Phase>) -> Option<u64> {
    let is_before = matches!(phase, Some(Phase::Open | Phase::Warm | Phase::Tune));
    planned(run, Phase::Measure).filter(|_| is_before)
}

/// The intervals of the load that a page has not received yet.
fn points(run: &RunRecord, given: Given) -> Vec<Value> {
    let first = given.intervals.max(run.intervals.len().saturating_sub(MOST_POINTS));
    run.intervals
        .get(first..)
        .unwrap_or_default()
        .iter()
        .filter(|row| is_load(row.phase))
        .map(point)
        .collect()
}

/// Latencies of a phase so far, as counts per bar.
fn histogram(run: &RunRecord, phase: Phase) -> Value {
    let sum = run.sum_of(phase);
    json!({
        "upto_ms": BARS_NS.map(milliseconds),
        "read": bars(&sum, Series::DatabaseRead),
        "log_write": bars(&sum, Series::LogWrite),
    })
}

/// Number of requests of a kind per bar.
fn bars(sum: &PhaseTotals, series: Series) -> Vec<u64> {
    let empty = Histogram::new();
    let latency = sum.series.get(&series).map_or(&empty, |total| &total.latency);
    between(&latency.counts_within(&BARS_NS), latency.count())
}

/// Counts per bar, from cumulative counts; the last bar holds everything above.
fn between(within: &[u64], all: u64) -> Vec<u64> {
    within
        .iter()
        .copied()
        .chain([all])
        .scan(0, |before, end| Some(end - std::mem::replace(before, end)))
        .collect()
}

/// Planned length of a phase, if known.
fn planned(run: &RunRecord, phase: Phase) -> Option<u64> {
    let is_timed = phase == Phase::Measure && run.start.settings.replay_logs == 0;
    is_timed.then_some(run.start.settings.measure_ns)
}

/// The latest interval's requests of a kind, with the limits of the mean and of the worst interval.
fn latency(latest: Option<&IntervalRow>, series: Series, limits_ns: (u64, u64)) -> Value {
    let row: Option<&SeriesRow> = latest.and_then(|row| row.series.get(&series));
    let row = row.filter(|row| row.latency.count > 0);
    json!({
        "mean_ms": row.map(|row| row.latency.mean_ns / 1e6),
        "p99_ms": row.map(|row| milliseconds(row.latency.p99_ns)),
        "maximum_ms": row.map(|row| milliseconds(row.latency.maximum_ns)),
        "limit_ms": milliseconds(limits_ns.0),
        "worst_limit_ms": milliseconds(limits_ns.1),
    })
}

/// Time since the start of the run, IOPS, mean read and log write latency, and whether it belongs
/// to the measurement.
fn point(row: &IntervalRow) -> Value {
    let means = [Series::DatabaseRead, Series::LogWrite].map(|series| mean_ms(row, series));
    json!([seconds(row.to_ns), iops(row), means[0], means[1], row.phase == Phase::Measure])
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
    use record::{Event, Phase, RunRecord, Series, TestType};
    use serde_json::json;

    use super::{Given, JournalTail, between, snapshot};

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
        let shown = snapshot(&run, now_ns, Given::default());
        assert_eq!(shown["phase"], "measurement");
        assert_eq!(shown["elapsed_s"], 20.0);
        let planned = run.start.settings.measure_ns as f64 / 1e9;
        assert_eq!(shown["left_s"].as_f64(), Some((planned - 20.0).max(0.0)));
        assert_eq!(shown["read"]["limit_ms"], 20.0);
        assert_eq!(shown["is_held"], true);
        let points = shown["points"].as_array().unwrap();
        let measured = points.iter().filter(|point| point[4] == json!(true)).count();
        assert!((1..points.len()).contains(&measured), "{points:?}");
        assert!(shown["iops"].as_f64().unwrap() > 0.0);
        assert_eq!(shown["log_write"]["worst_limit_ms"], 100.0);
        let bars = shown["histogram"]["read"].as_array().unwrap();
        let counted: u64 = bars.iter().map(|bar| bar.as_u64().unwrap()).sum();
        let read = &run.sum_of(Phase::Measure).series[&Series::DatabaseRead];
        assert_eq!(counted, read.latency.count());
        let given = Given::all_of(&run);
        let shown = snapshot(&run, now_ns, given);
        assert_eq!((&shown["points"], &shown["decisions"]), (&json!([]), &json!([])));
    }

    #[test]
    fn bars_hold_what_lies_between_their_ends() {
        assert_eq!(between(&[0, 3, 3, 9], 10), [0, 3, 0, 6, 1]);
    }

    #[test]
    fn before_the_measurement_its_whole_time_is_left() {
        let mut run = Synthetic::default().run();
        run.phases.retain(|span| span.phase == Phase::Warm);
        run.phases[0].to_ns = None;
        let planned = run.start.settings.measure_ns as f64 / 1e9;
        let shown = snapshot(&run, run.start.started_epoch_ns, Given::default());
        assert_eq!(shown["least_left_s"].as_f64(), Some(planned));
        assert!(shown["left_s"].is_null());
        assert_eq!(shown["is_held"], true);
        run.start.settings.warm_up_held = false;
        let shown = snapshot(&run, run.start.started_epoch_ns, Given::default());
        assert_eq!(shown["is_held"], false);
        assert!(shown["target_iops"].is_number());
        run.start.test = TestType::Recovery;
        let shown = snapshot(&run, run.start.started_epoch_ns, Given::default());
        assert!(shown["target_iops"].is_null(), "its logs are made at full speed");
    }
}
