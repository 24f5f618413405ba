//! One run against the first, in sentences: the real changes, and whether it carries more.

use record::{Phase, RunRecord};
use verdict::{Metric, MetricChange, NamedRun, RunComparison, Significance};

use super::{LETTERS, has_imported, tables, winner};
use crate::format;

/// Maximum number of changes in one sentence; the table has all.
const MOST_TOLD: usize = 3;

/// The real changes of the run at `index`, in the order of the table.
pub(super) fn real(
    comparison: &RunComparison,
    index: usize,
) -> impl Iterator<Item = (Metric, MetricChange)> {
    comparison
        .rows
        .iter()
        .filter_map(move |row| Some((row.metric, row.values[index].change?)))
        .filter(|(_, change)| change.significance() == Significance::Real)
}

/// Whether the run at `index` carries more than the first, if its name is not in the headline, and
/// what really changed.
pub(crate) fn meaning(runs: &[NamedRun], comparison: &RunComparison, index: usize) -> String {
    let load = winner::undecided(runs, comparison, index);
    let real = differences(runs, comparison, index);
    load.map_or_else(|| real.clone(), |load| format!("{load} {real}"))
}

/// The real changes, and whether they are better or worse.
fn differences(runs: &[NamedRun], comparison: &RunComparison, index: usize) -> String {
    let name = LETTERS[index];
    let mut changes = comparison.rows.iter().filter_map(|row| row.values[index].change);
    if changes.all(|change| change.significance() == Significance::Unknown) {
        return unknown(runs, comparison, index);
    }
    let is_of_other_work = comparison.differences.iter().any(|of| of.is_work);
    let mut told: Vec<String> = real(comparison, index)
        .map(|(metric, change)| words(metric, change, is_of_other_work))
        .collect();
    if told.is_empty() {
        return format!("{name}: what differs from A is no more than noise.");
    }
    let more = match told.len().saturating_sub(MOST_TOLD) {
        0 => String::new(),
        more => format!("; {more} more in the table"),
    };
    told.truncate(MOST_TOLD);
    format!("{name} against A: {}{more}.", told.join("; "))
}

/// A change is neither better nor worse if neither direction is, or the work differs.
fn words(metric: Metric, change: MetricChange, is_of_other_work: bool) -> String {
    let worth = match metric.more_is_better.filter(|_| !is_of_other_work) {
        Some(more_is_better) if more_is_better == (change.percent > 0.0) => " (better)",
        Some(_) => " (worse)",
        None => "",
    };
    format!("{} {}{worth}", lower_first(metric.title), change_words(change.percent))
}

/// Why no change of the run at `index` is more than noise.
fn unknown(runs: &[NamedRun], comparison: &RunComparison, index: usize) -> String {
    let name = LETTERS[index];
    if has_imported(runs, index) {
        return format!(
            "{name}: beside an imported result no change can be told from noise; read the two \
             values and what differs."
        );
    }
    let [first, other] = [0, index].map(|of| intervals_in(&runs[of].record, comparison.phase));
    format!(
        "{name}: too few intervals to tell a difference from noise: {first} of A, {other} of \
         {name}."
    )
}

/// Intervals of a phase; with too few of them in either run, noise cannot be separated.
fn intervals_in(run: &RunRecord, phase: Phase) -> usize {
    run.intervals.iter().filter(|row| row.phase == phase).count()
}

/// From this percentage on, a change is stated as a factor, which is clearer.
const MANY_TIMES_PERCENT: f64 = 300.0;

fn change_words(percent: f64) -> String {
    if percent >= MANY_TIMES_PERCENT {
        return format!("{} times as much", format::number(percent / 100.0 + 1.0, 0));
    }
    tables::percent(percent)
}

fn lower_first(text: &str) -> String {
    text.chars().take(1).flat_map(char::to_lowercase).chain(text.chars().skip(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::change_words;

    #[test]
    fn large_changes_are_told_as_multiples() {
        assert_eq!(change_words(3102.0), "32 times as much");
        assert_eq!(change_words(300.0), "4 times as much");
        assert_eq!(change_words(299.0), "+299 %");
        assert_eq!(change_words(-69.0), "-69.0 %");
    }
}
