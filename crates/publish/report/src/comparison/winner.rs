//! Finds the run that supports the higher load, and by what factor: the first question of a storage
//! buyer.

use record::{Phase, Seal};
use verdict::{NamedRun, Ruling, RunComparison, Significance};

use super::{LETTERS, format};

/// Smallest ratio that is printed as a factor; a lower one is printed as a percentage.
const LEAST_FACTOR: f64 = 1.2;

/// With a margin up to this, a change within it makes no difference to a buyer.
const CLOSE_PERCENT: f64 = 10.0;

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
    if !is_of_one_load(comparison) || runs.iter().any(is_odd) {
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

/// Whether the runs are loads of the same work.
fn is_of_one_load(comparison: &RunComparison) -> bool {
    comparison.phase == Phase::Measure && !comparison.differences.iter().any(|of| of.is_work)
}

/// Why neither the first run nor the one at `index` is shown to carry more; `None` if one is, or
/// the runs cannot be compared at all.
pub(super) fn undecided(
    runs: &[NamedRun],
    comparison: &RunComparison,
    index: usize,
) -> Option<String> {
    if !is_of_one_load(comparison) || [0, index].iter().any(|&at| is_odd(&runs[at])) {
        return None;
    }
    let change = comparison.rows.first()?.values[index].change?;
    let (margin, name) = (change.margin_percent?, LETTERS[index]);
    if change.significance() == Significance::Real {
        return None;
    }
    if let (Some(_), Some(target)) = (held_to(&runs[0]), held_to(&runs[index])) {
        let target = format::three_digits(target);
        return Some(format!(
            "A and {name} were held to {target} IOPS: which of them carries more was not tried."
        ));
    }
    let percent = format::number(change.percent.abs(), 1);
    let apart = format!("their IOPS differ by {percent} %, within the margin of {margin:.1} %");
    Some(if margin <= CLOSE_PERCENT {
        format!("Neither A nor {name} carries more: {apart}.")
    } else {
        format!("Whether A or {name} carries more cannot be told: {apart}; measure longer.")
    })
}

/// The target of a run that reached it: it may carry more.
fn held_to(run: &NamedRun) -> Option<f64> {
    let settings = &run.record.start.settings;
    let target = run.record.target_iops().filter(|_| settings.target_iops.is_some())?;
    let least = target * settings.thresholds.target_reached_percent / 100.0;
    (run.record.achieved_transactional_iops() >= least).then_some(target)
}

/// Whether a run was not measured here, or its record is altered.
fn is_odd(run: &NamedRun) -> bool {
    run.record.imported().is_some() || matches!(run.record.seal, Seal::Altered { .. })
}

/// The winner's advantage. Headlines are printed in capitals, which names would not survive.
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
    format!("{} {carries} {much} {}", LETTERS[place], LETTERS[other])
}
