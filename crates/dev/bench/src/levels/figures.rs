//! A level's results for a load, and the tolerance between two levels.

use std::fmt;
use std::fs;
use std::path::Path;

use record::{Histogram, Phase, RunRecord, Series};
use xtask::failure::Failure;

/// The kinds of requests to compare, and their names in rows.
const KINDS: [(Series, &str); 3] =
    [(Series::DatabaseRead, "reads"), (Series::DatabaseWrite, "writes"), (Series::LogWrite, "log")];

/// Maximum difference between the levels, in percent, beyond the random error.
const MOST_PERCENT: f64 = 5.0;

/// How many standard errors a difference between the levels may have.
const MOST_ERRORS: f64 = 3.0;

/// The compared percentile, as a share.
const HIGH: f64 = 0.99;

/// Requests of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
struct KindFigures {
    count: f64,
    average_ms: f64,
    p99_ms: f64,
    /// Latencies between which chance may have put the 99th percentile.
    p99_range_ms: (f64, f64),
}

impl KindFigures {
    /// The figures of these latencies; `None` if there are none.
    ///
    /// How many of `n` requests are longer than the true 99th percentile is a matter of chance:
    /// whatever the distribution, the standard error of their share is `sqrt(0.99 * 0.01 / n)`. So
    /// the share is uncertain, and a latency follows from it. The distribution of log writes has a
    /// step at those that also begin a file, about one in a hundred; there a tiny change of the
    /// share is a large one of the latency.
    fn of(latencies: &Histogram) -> Option<Self> {
        if latencies.is_empty() {
            return None;
        }
        let count = latencies.count() as f64;
        // Of two such ranges, those that differ by `MOST_ERRORS` of their difference just meet.
        let most = MOST_ERRORS / 2.0_f64.sqrt() * (HIGH * (1.0 - HIGH) / count).sqrt();
        let [low, p99_ms, high] = [HIGH - most, HIGH, HIGH + most]
            .map(|share| latencies.quantile(share.clamp(0.0, 1.0)) as f64 / 1e6);
        let average_ms = latencies.mean_ns() / 1e6;
        Some(Self { count, average_ms, p99_ms, p99_range_ms: (low, high) })
    }
}

/// Reads, writes and log of one simulation, if there were any.
pub(super) struct LevelFigures([Option<KindFigures>; KINDS.len()]);

impl LevelFigures {
    /// Reads the figures from a journal.
    pub(super) fn read(journal: &Path) -> Result<Self, Failure> {
        let named = |error: String| Failure::new(format!("{}: {error}", journal.display()));
        let bytes = fs::read(journal).map_err(|error| named(error.to_string()))?;
        let run = RunRecord::load(&bytes).map_err(|error| named(error.to_string()))?;
        let sum = run.sum_of(Phase::Measure);
        Ok(Self(KINDS.map(|(kind, _)| KindFigures::of(&sum.series.get(&kind)?.latency))))
    }
}

/// One kind of requests at both levels, each as the median over the seeds.
pub(super) struct ComparedKind {
    name: &'static str,
    engine: KindFigures,
    operations: KindFigures,
    /// Half of the spread between the engine's seeds, in percent of their median: that of the mean,
    /// and that of the 99th percentile.
    spread_percent: [f64; 2],
}

/// The kinds that both levels saw with every seed.
pub(super) fn compared(engine: &[LevelFigures], operations: &[LevelFigures]) -> Vec<ComparedKind> {
    KINDS
        .iter()
        .enumerate()
        .filter_map(|(kind, (_, name))| {
            let (engine, operations) = (seeds_of(engine, kind)?, seeds_of(operations, kind)?);
            Some(ComparedKind {
                name,
                engine: medians(&engine),
                operations: medians(&operations),
                spread_percent: [
                    half_range_percent(&engine, |of| of.average_ms),
                    half_range_percent(&engine, |of| of.p99_ms),
                ],
            })
        })
        .collect()
}

/// One kind of requests with every seed; `None` if a seed has none.
fn seeds_of(level: &[LevelFigures], kind: usize) -> Option<Vec<KindFigures>> {
    level.iter().map(|figures| figures.0[kind]).collect()
}

fn medians(seeds: &[KindFigures]) -> KindFigures {
    KindFigures {
        count: median(seeds, |seed| seed.count),
        average_ms: median(seeds, |seed| seed.average_ms),
        p99_ms: median(seeds, |seed| seed.p99_ms),
        p99_range_ms: (
            median(seeds, |seed| seed.p99_range_ms.0),
            median(seeds, |seed| seed.p99_range_ms.1),
        ),
    }
}

fn median(seeds: &[KindFigures], figure: fn(&KindFigures) -> f64) -> f64 {
    crate::median(seeds.iter().map(figure).collect())
}

fn half_range_percent(seeds: &[KindFigures], figure: fn(&KindFigures) -> f64) -> f64 {
    let least = seeds.iter().map(figure).fold(f64::MAX, f64::min);
    let most = seeds.iter().map(figure).fold(0.0, f64::max);
    50.0 * (most - least) / median(seeds, figure)
}

impl ComparedKind {
    /// Whether both the mean and the 99th percentile are within tolerance.
    pub(super) fn is_near(&self) -> bool {
        self.is_mean_near() && self.is_p99_near()
    }

    pub(super) fn is_mean_near(&self) -> bool {
        let chance = self.chance_percent() + self.spread_percent[0];
        self.mean_percent().abs() <= MOST_PERCENT + chance
    }

    pub(super) fn is_p99_near(&self) -> bool {
        let most = 1.0 + (MOST_PERCENT + self.spread_percent[1]) / 100.0;
        let (engine, operations) = (self.engine.p99_range_ms, self.operations.p99_range_ms);
        operations.0 <= engine.1 * most && operations.1 >= engine.0 / most
    }

    fn mean_percent(&self) -> f64 {
        percent(self.operations.average_ms, self.engine.average_ms)
    }

    fn p99_percent(&self) -> f64 {
        percent(self.operations.p99_ms, self.engine.p99_ms)
    }

    /// The difference of the means that chance allows, in percent: three standard errors, assuming
    /// that the latency's standard deviation equals its mean, as for waiting times in a queue.
    fn chance_percent(&self) -> f64 {
        let parts = 1.0 / self.engine.count.max(1.0) + 1.0 / self.operations.count.max(1.0);
        100.0 * MOST_ERRORS * parts.sqrt()
    }
}

impl fmt::Display for ComparedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, engine, .. } = self;
        let (mean, p99) = (self.mean_percent(), self.p99_percent());
        write!(f, "{name} {:.3} ms {mean:+.1} %{}", engine.average_ms, apart(self.is_mean_near()))?;
        write!(f, " (p99 {:.2} ms {p99:+.1} %{}", engine.p99_ms, apart(self.is_p99_near()))?;
        match self.spread_percent[1] {
            0.0 => write!(f, ")"),
            spread => write!(f, ", of three seeds, which differ by {spread:.1} % either way)"),
        }
    }
}

const fn apart(is_near: bool) -> &'static str {
    if is_near { "" } else { " APART" }
}

/// For each kind: the number of plans that have it, and how many of them agree.
#[derive(Default)]
pub(super) struct ComparedTally([TalliedKind; KINDS.len()]);

#[derive(Clone, Copy, Default)]
struct TalliedKind {
    plans: usize,
    near_means: usize,
    near_p99s: usize,
    largest_percent: f64,
}

impl ComparedTally {
    /// Counts the rows of one plan.
    pub(super) fn add(&mut self, rows: &[ComparedKind]) {
        for row in rows {
            let number = KINDS.iter().position(|(_, name)| *name == row.name).unwrap_or_default();
            let tallied = &mut self.0[number];
            tallied.plans += 1;
            tallied.near_means += usize::from(row.is_mean_near());
            tallied.near_p99s += usize::from(row.is_p99_near());
            tallied.largest_percent = tallied.largest_percent.max(row.mean_percent().abs());
        }
    }
}

impl fmt::Display for ComparedTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (of, (_, name)) in self.0.iter().zip(KINDS) {
            let TalliedKind { plans, near_means, near_p99s, largest_percent } = of;
            writeln!(
                f,
                "{name}: of {plans} plans {near_means} means are near, at most \
                 {largest_percent:.1} % apart, and {near_p99s} 99th percentiles"
            )?;
        }
        Ok(())
    }
}

/// How much larger `value` is than `base`, in percent.
fn percent(value: f64, base: f64) -> f64 {
    (value / base - 1.0) * 100.0
}

#[cfg(test)]
mod tests;
