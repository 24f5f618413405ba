//! Predicts how many loads a search for the line has left: it takes long, and the user wants to
//! know how long.

use super::{LineAdvice, TriedLoad, asked, lowest_failed, next_load};

/// Range of the line when nothing is known, as shares of the rate without a target.
const ANYWHERE: (f64, f64) = (0.05, 2.0);

/// Positions of the line to try, evenly spaced by ratio.
const PLACES: i32 = 24;

/// Placeholder for the rate without a target until it is known: only ratios matter.
const SOME_IOPS: f64 = 10_000.0;

/// Minimum and maximum number of loads after `tried`, wherever the line lies between the loads that
/// held and those that failed, provided that none has to be repeated.
pub fn loads_left(tried: &[TriedLoad]) -> (usize, usize) {
    let free = tried.iter().rfind(|load| load.asked_iops.is_none() && load.iops > 0.0);
    let free_iops = free.map_or(SOME_IOPS, |load| load.iops);
    let low = asked(tried, true).max().map_or(free_iops * ANYWHERE.0, f64::from);
    let high = lowest_failed(tried).map_or(free_iops * ANYWHERE.1, f64::from).max(low);
    let mut counts = Vec::new();
    for place in 0..PLACES {
        let share = f64::from(place) / f64::from(PLACES);
        counts.push(search_on(tried, free_iops, low * (high / low).powf(share)));
    }
    let fewest = counts.iter().copied().min().unwrap_or(0);
    (fewest, counts.into_iter().max().unwrap_or(0))
}

/// Loads until the end of a search that finds the line at `line_iops`.
fn search_on(tried: &[TriedLoad], free_iops: f64, line_iops: f64) -> usize {
    let mut all = tried.to_vec();
    loop {
        let asked_iops = match next_load(&all) {
            LineAdvice::End => return all.len() - tried.len(),
            LineAdvice::Free => None,
            LineAdvice::Hold(iops) => Some(iops),
        };
        let iops = asked_iops.map_or(free_iops, f64::from);
        all.push(TriedLoad { asked_iops, iops, holds: Some(iops <= line_iops) });
    }
}
