//! Detects when a load has filled an array's write memory to its steady level: until then, writes
//! are faster than they stay.

use units::Nanos;

/// Time for which the memory is watched before it can count as settled.
const WINDOW: Nanos = Nanos::from_secs(30);

/// The memory has settled if less than this part of it is filled or freed in a window.
const LARGEST_CHANGE: f64 = 0.02;

/// No load is watched for longer: one that is close to the limit of the disks fills and frees
/// memory for ever.
const LONGEST: Nanos = Nanos::from_secs(600);

/// Follows the fill level of arrays' memory.
#[derive(Clone, Debug, Default)]
pub struct MemorySettling {
    /// Start of the window, and the fill level at that time.
    begun: Option<(Nanos, f64)>,
    /// Time of the first call.
    asked: Option<Nanos>,
    is_settled: bool,
}

impl MemorySettling {
    /// Whether the memory has settled. `filled` is the fill level at `now` as a share of one
    /// array's memory, summed over all arrays.
    pub fn is_settled(&mut self, now: Nanos, filled: f64) -> bool {
        let asked = *self.asked.get_or_insert(now);
        let (begun, before) = *self.begun.get_or_insert((now, filled));
        if now.since(begun) >= WINDOW {
            let changes_little = (filled - before).abs() < LARGEST_CHANGE;
            self.is_settled = changes_little || now.since(asked) >= LONGEST;
            self.begun = Some((now, filled));
        }
        self.is_settled
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::MemorySettling;

    #[test]
    fn memory_has_settled_once_a_window_changes_it_little() {
        let mut settling = MemorySettling::default();
        let mut at = |seconds, filled| settling.is_settled(Nanos::from_secs(seconds), filled);
        assert!(!at(0, 0.0) && !at(29, 0.0), "the first window has not ended");
        assert!(!at(30, 0.5) && !at(60, 0.98), "it fills");
        assert!(at(90, 0.985));
    }

    #[test]
    fn memory_that_never_settles_is_followed_for_ten_minutes() {
        let mut settling = MemorySettling::default();
        let filled = |round: u64| if round.is_multiple_of(2) { 0.1 } else { 0.9 };
        let mut at = |round| settling.is_settled(Nanos::from_secs(30 * round), filled(round));
        assert!((0..20).all(|round| !at(round)));
        assert!(at(20));
    }
}
