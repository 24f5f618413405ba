//! Chooses the next load in the search for the load line, as a function of the results so far.

mod left;

pub use left::loads_left;

/// Loads to try first, as shares of the rate without a target.
const LADDER: [f64; 5] = [0.5, 0.75, 0.9, 1.0, 1.15];

/// The search continues until the line lies between two loads this close to each other.
const NEAR_ENOUGH: f64 = 0.06;

/// Factor for raising the load while every load passes; while none passes, the load is halved.
const HIGHER: f64 = 1.25;

/// Attempts at a load that cannot be judged; after these it is skipped.
const TRIES: usize = 3;

/// The search ends after this many loads, whatever the results.
const MOST_STEPS: usize = 16;

/// Result of one load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriedLoad {
    /// Target in database reads and writes per second; `None` for as many as the sessions produce.
    pub asked_iops: Option<u32>,
    /// Rate achieved.
    pub iops: f64,
    /// Whether every rule passed; `None` if that cannot be judged.
    pub holds: Option<bool>,
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineAdvice {
    /// Run without a target, to find the storage's rate.
    Free,
    /// Hold the load at this many database reads and writes per second.
    Hold(u32),
    /// No further load would add information.
    End,
}

/// The step after `tried`, in order.
pub fn next_load(tried: &[TriedLoad]) -> LineAdvice {
    if tried.len() >= MOST_STEPS {
        return LineAdvice::End;
    }
    if let Some(last) = tried.last()
        && last.holds.is_none()
        && tries(tried, last.asked_iops) < TRIES
    {
        return last.asked_iops.map_or(LineAdvice::Free, LineAdvice::Hold);
    }
    let is_judged = tried.iter().any(|load| load.holds.is_some());
    if !is_judged && tried.len() >= 2 * TRIES {
        return LineAdvice::End;
    }
    // Even an unjudged load shows the storage's rate.
    let free = tried.iter().rfind(|load| load.asked_iops.is_none() && load.iops > 0.0);
    let Some(free) = free else {
        let is_first = tried.is_empty();
        return if is_first { LineAdvice::Free } else { LineAdvice::End };
    };
    let rung = LADDER.iter().map(|share| whole(free.iops * share));
    let lowest_failed = lowest_failed(tried);
    let rung = rung.filter(|rung| lowest_failed.is_none_or(|failed| *rung < failed));
    let untried = rung.filter(|rung| tries(tried, Some(*rung)) == 0).min();
    untried.map_or_else(|| close_in(tried, lowest_failed), LineAdvice::Hold)
}

/// After the ladder: between the passed and the failed loads, or beyond either end.
fn close_in(tried: &[TriedLoad], lowest_failed: Option<u32>) -> LineAdvice {
    let highest_held = asked(tried, true).max();
    let next = match (highest_held, lowest_failed) {
        (Some(held), Some(failed)) if f64::from(failed - held) > f64::from(held) * NEAR_ENOUGH => {
            u32::midpoint(held, failed)
        }
        (Some(_), Some(_)) | (None, None) => return LineAdvice::End,
        (Some(held), None) => whole(f64::from(held) * HIGHER),
        (None, Some(failed)) => failed / 2,
    };
    if next == 0 || tries(tried, Some(next)) > 0 { LineAdvice::End } else { LineAdvice::Hold(next) }
}

/// The lowest load that failed above every load that held.
fn lowest_failed(tried: &[TriedLoad]) -> Option<u32> {
    let highest_held = asked(tried, true).max().unwrap_or(0);
    asked(tried, false).filter(|failed| *failed > highest_held).min()
}

/// The held loads that passed, or failed.
fn asked(tried: &[TriedLoad], holds: bool) -> impl Iterator<Item = u32> {
    tried.iter().filter(move |load| load.holds == Some(holds)).filter_map(|load| load.asked_iops)
}

fn tries(tried: &[TriedLoad], asked: Option<u32>) -> usize {
    tried.iter().filter(|load| load.asked_iops == asked).count()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is not negative, and too high a one becomes the highest"
)]
fn whole(iops: f64) -> u32 {
    (iops.round() as u32).max(1)
}

#[cfg(test)]
mod tests;
