//! A row of bars, one character each: the recent course of a rate.

/// The heights of a bar, lowest first.
const BARS: [char; 8] = [
    '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}',
];

/// The newest `columns` of `rates` as bars from 0 up to the highest of them.
pub(super) fn sparkline(
    rates: impl ExactSizeIterator<Item = f64> + Clone,
    columns: usize,
) -> String {
    let skipped = rates.len().saturating_sub(columns);
    let shown = rates.skip(skipped);
    let highest = shown.clone().fold(0.0, f64::max);
    shown.map(|rate| bar(rate, highest)).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share from 0 to 1 of eight"
)]
fn bar(rate: f64, highest: f64) -> char {
    let share = if highest > 0.0 { (rate / highest).clamp(0.0, 1.0) } else { 0.0 };
    BARS[((share * BARS.len() as f64) as usize).min(BARS.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::sparkline;

    #[test]
    fn bars_begin_at_nothing_and_the_newest_are_kept() {
        let rates = [0.0, 500.0, 1_000.0];
        assert_eq!(sparkline(rates.into_iter(), 9), "\u{2581}\u{2585}\u{2588}");
        assert_eq!(sparkline(rates.into_iter(), 2), "\u{2585}\u{2588}");
        assert_eq!(sparkline([0.0].into_iter(), 2), "\u{2581}");
        assert_eq!(sparkline(rates.into_iter(), 0), "");
    }
}
