//! A level's results for a load, and the tolerance between two levels.

use std::fmt;
use std::fs;
use std::path::Path;

use serde_json::Value;
use xtask::failure::Failure;

/// The kinds of requests to compare, and their names in rows.
const KINDS: [(&str, &str); 3] =
    [("database_read", "reads"), ("database_write", "writes"), ("log_write", "log")];

/// Maximum difference between the levels, in percent, beyond the random error.
const MOST_PERCENT: f64 = 5.0;

/// The 99th percentile of waiting times in a queue, as a multiple of their mean: ln(100).
const P99_MEANS: f64 = 4.605;

/// One request in this many is above the 99th percentile.
const ABOVE_P99: f64 = 100.0;

/// Requests of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
struct KindFigures {
    count: f64,
    average_ms: f64,
    p99_ms: f64,
}

/// Reads, writes and log of one simulation, if there were any.
pub(super) struct LevelFigures([Option<KindFigures>; KINDS.len()]);

impl LevelFigures {
    /// Reads the figures from a report.
    pub(super) fn read(report: &Path) -> Result<Self, Failure> {
        let named = |error: String| Failure::new(format!("{}: {error}", report.display()));
        let text = fs::read(report).map_err(|error| named(error.to_string()))?;
        let value: Value =
            serde_json::from_slice(&text).map_err(|error| named(error.to_string()))?;
        Ok(Self(KINDS.map(|(kind, _)| {
            let series = &value["sum"]["series"][kind];
            Some(KindFigures {
                count: series["count"].as_f64()?,
                average_ms: series["average_ms"].as_f64()?,
                p99_ms: series["p99_ms"].as_f64()?,
            })
        })))
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
        // Standard error of a high quantile of an exponential distribution: only the requests above
        // the quantile count, and they exceed it by the mean on average.
        let chance = self.chance_percent() * ABOVE_P99.sqrt() / P99_MEANS;
        self.p99_percent().abs() <= MOST_PERCENT + chance + self.spread_percent[1]
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
        300.0 * parts.sqrt()
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
