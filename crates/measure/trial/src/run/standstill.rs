//! Detects work that neither ends nor progresses although no storage request is pending.

use units::Nanos;

/// Maximum time counted between two checks: a stopped program does not count as a standstill.
const LONGEST_LOOK: Nanos = Nanos::from_secs(1);

/// How long there has been no progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standstill {
    moved: u64,
    idle: Nanos,
    looked: Nanos,
}

impl Standstill {
    /// Watches from `now` on.
    pub(super) const fn new(now: Nanos) -> Self {
        Self { moved: 0, idle: Nanos::ZERO, looked: now }
    }

    /// Whether `moved`, a count of completed work, has been the same for `limit`.
    pub(super) fn look(&mut self, now: Nanos, moved: u64, limit: Nanos) -> bool {
        let since = now.since(self.looked).min(LONGEST_LOOK);
        self.looked = now;
        self.idle = if moved == self.moved { self.idle + since } else { Nanos::ZERO };
        self.moved = moved;
        self.idle >= limit
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::Standstill;

    #[test]
    fn only_time_in_which_nothing_moves_counts() {
        let mut still = Standstill::new(Nanos::ZERO);
        let limit = Nanos::from_secs(3);
        let mut look = |second, moved| still.look(Nanos::from_secs(second), moved, limit);
        let seen = [(1, 5), (2, 5), (3, 5), (4, 6), (5, 6), (6, 6), (106, 6)];
        let seen: Vec<bool> = seen.into_iter().map(|(at, moved)| look(at, moved)).collect();
        assert_eq!(seen, [false, false, false, false, false, false, true]);
        assert!(look(107, 6));
        assert!(!look(108, 7));
    }
}
