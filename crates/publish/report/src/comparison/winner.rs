//! Finds the run that supports the higher load, and by what factor: the first question of a storage
//! buyer.

use record::{Phase, Seal};
use verdict::{NamedRun, Ruling, RunComparison, Significance};

use super::{LETTERS, format};

/// Smallest ratio that is printed as a factor; a lower one is printed as a percentage.
const LEAST_FACTOR: f64 = 1.2;

/// The run that supports a higher load than another, both as indices into the comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Winner {
    pub place: usize,
    other: usize,
    factor: f64,
}

/// The run with the most transactional IOPS; `None` unless the lead exceeds the noise, the work is
/// the same, and all runs were measured here and have unaltered records.
pub(super) fn winner(runs: &[NamedRun], comparison: &RunComparison) -> Option<Winner> {
    let is_work = comparison.differences.iter().any(|of| of.is_work);
    if comparison.phase != Phase::Measure || is_work || runs.iter().any(is_odd) {
        return None;
    }
    let row = comparison.rows.first()?;
    let mut places: Vec<(usize, f64)> =
        row.values.iter().enumerate().filter_map(|(at, of)| Some((at, of.value?))).collect();
    places.sort_by(|one, other| other.1.total_cmp(&one.1));
    let (place, most) = *places.first()?;
    // Margins are known against the first run only.
    let (other, less) = match place {
        0 => *places.get(1)?,
        _ => *places.iter().find(|(at, _)| *at == 0)?,
    };
    let change = row.values[place.max(other)].change?;
    let is_real = change.significance() == Significance::Real && less > 0.0;
    is_real.then_some(Winner { place, other, factor: most / less })
}

/// Whether a run was not measured here, or its record is altered.
fn is_odd(run: &NamedRun) -> bool {
    run.record.imported().is_some() || matches!(run.record.seal, Seal::Altered { .. })
}

/// The winner's advantage.
pub(super) fn sentence(runs: &[NamedRun], winner: Winner) -> String {
    let Winner { place, other, factor } = winner;
    let carries = match runs[place].verdict.outcome {
        Ruling::Pass | Ruling::Warn => "carries",
        Ruling::Fail | Ruling::CannotJudge => "reached",
    };
    let much = if factor < LEAST_FACTOR {
        format!("{} % more than", format::number((factor - 1.0) * 100.0, 1))
    } else {
        format!("{} times the load of", format::number(factor, 1))
    };
    format!("{} {carries} {much} {}", name(runs, place), name(runs, other))
}

/// The name of a run in a headline; its letter if the name is long.
pub(super) fn name(runs: &[NamedRun], place: usize) -> String {
    const LONGEST: usize = 24;
    let name = &runs[place].name;
    if name.chars().count() > LONGEST { LETTERS[place].to_owned() } else { name.clone() }
}
