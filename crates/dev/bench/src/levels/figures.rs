//! What a level says of a load, and how far two levels may be apart.

use std::fmt;
use std::fs;
use std::path::Path;

use serde_json::Value;
use xtask::failure::Failure;

/// Kinds of requests that are compared, and their names in rows.
const KINDS: [(&str, &str); 3] =
    [("database_read", "reads"), ("database_write", "writes"), ("log_write", "log")];

/// How far the levels may be apart, in percent, beside what chance allows.
const MOST_PERCENT: f64 = 5.0;

/// Requests of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
struct KindFigures {
    count: f64,
    average_ms: f64,
    p99_ms: f64,
}

/// Reads, writes and log of one simulation, as far as there were any.
pub(super) struct LevelFigures([Option<KindFigures>; KINDS.len()]);

impl LevelFigures {
    /// Reads a report.
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

/// One kind of requests at both levels.
pub(super) struct ComparedKind {
    name: &'static str,
    engine: KindFigures,
    operations: KindFigures,
}

/// The kinds that both levels saw.
pub(super) fn compared(engine: &LevelFigures, operations: &LevelFigures) -> Vec<ComparedKind> {
    let mut compared = Vec::new();
    for ((engine, operations), (_, name)) in engine.0.iter().zip(&operations.0).zip(KINDS) {
        if let (Some(engine), Some(operations)) = (*engine, *operations) {
            compared.push(ComparedKind { name, engine, operations });
        }
    }
    compared
}

impl ComparedKind {
    /// Whether the means are as near as they must be.
    pub(super) fn is_near(&self) -> bool {
        let allowed = MOST_PERCENT + self.chance_percent();
        percent(self.operations.average_ms, self.engine.average_ms).abs() <= allowed
    }

    /// The difference of the two means that chance allows, in percent: three standard deviations,
    /// if the latency of a request deviates by its mean, as waiting times in a queue do.
    fn chance_percent(&self) -> f64 {
        let parts = 1.0 / self.engine.count.max(1.0) + 1.0 / self.operations.count.max(1.0);
        300.0 * parts.sqrt()
    }
}

impl fmt::Display for ComparedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, engine, operations } = self;
        let mean = percent(operations.average_ms, engine.average_ms);
        let p99 = percent(operations.p99_ms, engine.p99_ms);
        let apart = if self.is_near() { "" } else { " APART" };
        write!(f, "{name} {:.3} ms {mean:+.1} %{apart} (p99 {p99:+.1} %)", engine.average_ms)
    }
}

/// How much more `value` is than `base`, in percent.
fn percent(value: f64, base: f64) -> f64 {
    (value / base - 1.0) * 100.0
}

#[cfg(test)]
mod tests;
