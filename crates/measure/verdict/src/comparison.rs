//! Several runs side by side: which differences are real, and which are no more than noise.

mod circumstances;
mod doubts;
mod imported;
mod limits;
mod metric;
mod sizes;
mod stated;

use std::fmt;

use record::{Checksum, Phase, RunRecord, Series, TestType};

pub(crate) use circumstances::work;
pub use metric::Metric;

use crate::Verdict;
use crate::samples::{Confidence, SampledMean};
use metric::{MetricSource, OF_BACKUPS, OF_CHECKSUMS, OF_LOADS};

/// A run and its name for readers.
#[derive(Clone, Debug)]
pub struct NamedRun {
    /// Its name.
    pub name: String,
    /// The record.
    pub record: RunRecord,
    /// The verdict.
    pub verdict: Verdict,
}

/// Runs side by side; the others are compared with the first.
#[derive(Clone, Debug)]
pub struct RunComparison {
    /// The phase that is compared.
    pub phase: Phase,
    /// A row for each metric that any run has, the most important first.
    pub rows: Vec<ComparedMetric>,
    /// Circumstances in which the runs differ.
    pub differences: Vec<OtherCircumstance>,
    /// Why the numbers may mislead, as sentences.
    pub doubts: Vec<String>,
}

/// A metric of every run.
#[derive(Clone, Debug)]
pub struct ComparedMetric {
    /// The metric.
    pub metric: Metric,
    /// Its value in each run, in the order of the runs.
    pub values: Vec<ComparedValue>,
}

/// A value of one run compared with the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparedValue {
    /// The value; `None` if the run has none.
    pub value: Option<f64>,
    /// The change against the first run; `None` for the first.
    pub change: Option<MetricChange>,
}

/// Difference of a value from that of the first run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricChange {
    /// In percent of the first.
    pub percent: f64,
    /// Half-width of the confidence interval of the change, in percent of the first. The intervals
    /// of all runs hold together 19 times in 20. `None` if there are too few samples.
    pub margin_percent: Option<f64>,
}

/// Significance of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Significance {
    /// Larger than its margin.
    Real,
    /// Not larger than its margin.
    Noise,
    /// Too few intervals to determine a spread.
    Unknown,
}

/// A circumstance in which runs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherCircumstance {
    /// Its name.
    pub name: &'static str,
    /// Its value in each run; empty if the record does not state it.
    pub values: Vec<String>,
    /// Whether it made the runs do different work.
    pub is_work: bool,
}

/// Why runs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotComparable {
    /// There is only one.
    TooFew,
    /// They were tests of different kinds.
    Kinds {
        /// Name and kind of the first run.
        first: (String, TestType),
        /// Name and kind of the differing run.
        other: (String, TestType),
    },
    /// Tests of this kind have no numbers to compare.
    Kind {
        /// Kind of the tests.
        kind: TestType,
    },
    /// One of them measured nothing.
    NothingMeasured {
        /// Its name.
        name: String,
    },
}

impl fmt::Display for NotComparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew => write!(f, "select at least two runs to compare"),
            Self::Kinds { first, other } => write!(
                f,
                "{} was a test of kind {}, {} one of kind {}: name runs of one kind",
                first.0,
                first.1.name(),
                other.0,
                other.1.name()
            ),
            Self::Kind { kind } => write!(
                f,
                "a test of kind {} has one result without a margin, so no change is judged; read \
                 the results of both runs",
                kind.name()
            ),
            Self::NothingMeasured { name } => {
                write!(f, "{name}: it ended before anything was measured; leave it out")
            }
        }
    }
}

impl std::error::Error for NotComparable {}

impl MetricChange {
    /// Compares it with its margin.
    pub fn significance(&self) -> Significance {
        match self.margin_percent {
            Some(margin) if self.percent.abs() > margin => Significance::Real,
            Some(_) => Significance::Noise,
            None => Significance::Unknown,
        }
    }
}

/// Sets runs side by side.
pub fn compare(runs: &[NamedRun]) -> Result<RunComparison, NotComparable> {
    let [first, others @ ..] = runs else {
        return Err(NotComparable::TooFew);
    };
    if others.is_empty() {
        return Err(NotComparable::TooFew);
    }
    let kind = first.record.start.test;
    let (phase, metrics) = compared(kind).ok_or(NotComparable::Kind { kind })?;
    for run in others {
        let kinds = [first, run].map(|run| (run.name.clone(), run.record.start.test));
        if compared(kinds[1].1).is_none_or(|(other, _)| other != phase) {
            let [first, other] = kinds;
            return Err(NotComparable::Kinds { first, other });
        }
    }
    let rows = rows(metrics, runs, phase);
    let mut columns = runs.iter().enumerate();
    if let Some((_, empty)) = columns.find(|&(at, run)| is_empty(run, phase, &rows, at)) {
        return Err(NotComparable::NothingMeasured { name: empty.name.clone() });
    }
    let differences = differences(runs);
    Ok(RunComparison { phase, rows, doubts: doubts::of(runs, &differences), differences })
}

/// Whether a run has nothing to compare; an imported run has values but no time.
fn is_empty(run: &NamedRun, phase: Phase, rows: &[ComparedMetric], at: usize) -> bool {
    match run.record.imported() {
        Some(_) => rows.iter().all(|row| row.values[at].value.is_none()),
        None => run.record.span_ns(phase) == 0,
    }
}

/// Metrics of tests of a kind. Stress is the load of a performance test, for longer.
fn compared(test: TestType) -> Option<(Phase, &'static [Metric])> {
    match test {
        TestType::Performance | TestType::Stress => Some((Phase::Measure, &OF_LOADS)),
        TestType::Backup => Some((Phase::Backup, &OF_BACKUPS)),
        TestType::Checksum => Some((Phase::Check, &OF_CHECKSUMS)),
        TestType::Recovery => None,
    }
}

/// A row for each metric that any run has.
fn rows(metrics: &[Metric], runs: &[NamedRun], phase: Phase) -> Vec<ComparedMetric> {
    // Readers look for any run that differs, so the confidence applies to all changes of a metric
    // together.
    let confidence = Confidence::of_each(runs.len() - 1);
    let mut rows = Vec::new();
    for &metric in metrics {
        let of_runs: Vec<MetricOfRun> =
            runs.iter().map(|run| MetricOfRun::of(metric.quantity, &run.record, phase)).collect();
        if of_runs.iter().all(|of_run| of_run.value.is_none()) {
            continue;
        }
        let mut values = vec![ComparedValue { value: of_runs[0].value, change: None }];
        for of_run in &of_runs[1..] {
            let change = of_runs[0].change_to(of_run, metric.quantity, confidence);
            values.push(ComparedValue { value: of_run.value, change });
        }
        rows.push(ComparedMetric { metric, values });
    }
    rows
}

/// Mean latency of the database reads of a load, as far as a comparison depends on it. Lists keep
/// it in place of the record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadLatency {
    /// The mean in milliseconds.
    pub mean_ms: f64,
    /// The mean of the intervals; `None` if there were too few to know their spread.
    pub sampled: Option<SampledMean>,
}

impl ReadLatency {
    /// `None` if the run measured no reads.
    pub fn of(run: &RunRecord) -> Option<Self> {
        let MetricOfRun { value, sampled } = MetricOfRun::of(READ_MEAN, run, Phase::Measure);
        Some(Self { mean_ms: value?, sampled })
    }

    /// The change from this load to `other`, judged as [`compare`] judges it.
    pub fn change_to(&self, other: &Self) -> Option<MetricChange> {
        self.metric().change_to(&other.metric(), READ_MEAN, Confidence::of_each(1))
    }

    const fn metric(&self) -> MetricOfRun {
        MetricOfRun { value: Some(self.mean_ms), sampled: self.sampled }
    }
}

/// The source of that metric.
const READ_MEAN: MetricSource = MetricSource::MeanLatency(Series::DatabaseRead);

/// A metric of one run.
struct MetricOfRun {
    value: Option<f64>,
    sampled: Option<SampledMean>,
}

impl MetricOfRun {
    fn of(quantity: MetricSource, run: &RunRecord, phase: Phase) -> Self {
        if let Some(imported) = run.imported() {
            return Self { value: quantity.of_imported(imported), sampled: None };
        }
        let samples: Vec<f64> =
            run.counting_intervals_of(phase).filter_map(|row| quantity.of_interval(row)).collect();
        let value = match quantity {
            // There are no totals of the machine's activity.
            MetricSource::Processors => mean(&samples),
            quantity if quantity.is_of_pass() => Checksum::together(pass(run)).mib_per_second(),
            quantity if quantity.is_of_flash() => {
                run.flash_cache_of(phase).and_then(|cache| quantity.of_flash(&cache))
            }
            quantity => quantity.of_phase(&run.sum_of(phase)),
        };
        Self { value, sampled: SampledMean::of(&samples) }
    }

    /// The change from this, the first run, to `other`. The margin combines the spread of the
    /// intervals with the spread between repeated runs, which no single run shows.
    fn change_to(
        &self,
        other: &Self,
        quantity: MetricSource,
        confidence: Confidence,
    ) -> Option<MetricChange> {
        let (first, value) = (self.value?, other.value?);
        if first == 0.0 {
            return None;
        }
        let percent = 100.0 * (value - first) / first;
        let margin_percent = self.sampled.zip(other.sampled).map(|(one, other)| {
            let spread = 100.0 * one.margin_of_difference(&other, confidence) / one.mean.abs();
            let of_repeats = quantity.repeats_percent() * confidence.widening();
            // The spread comes from the intervals' means. The overall value may change by more than
            // they do, such as a percentile that falls between two humps: the excess is added.
            let beyond = (percent - 100.0 * (other.mean - one.mean) / one.mean.abs()).abs();
            spread.hypot(of_repeats) + beyond
        });
        let margin_percent = margin_percent.filter(|margin| margin.is_finite());
        Some(MetricChange { percent, margin_percent })
    }
}

/// The pass that a backup or a checksum test consists of.
fn pass(run: &RunRecord) -> &[Checksum] {
    if run.start.test == TestType::Backup { &run.backups } else { &run.checksums }
}

fn mean(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

/// Circumstances that differ between the runs.
fn differences(runs: &[NamedRun]) -> Vec<OtherCircumstance> {
    let of_runs: Vec<_> = runs.iter().map(|run| circumstances::of_run(&run.record)).collect();
    let mut differences = Vec::new();
    for (index, of_first) in of_runs[0].iter().enumerate() {
        let values: Vec<String> =
            of_runs.iter().map(|of_run| of_run[index].value.clone()).collect();
        if values.iter().any(|value| *value != of_first.value) {
            let is_work = of_first.is_work && imported::is_stated_differently(runs, &values);
            differences.push(OtherCircumstance { name: of_first.name, values, is_work });
        }
    }
    differences.extend(sizes::difference(runs));
    differences
}

#[cfg(test)]
mod tests;
