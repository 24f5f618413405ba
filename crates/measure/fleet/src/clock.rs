//! How far a host's clock is from the controller's, so that all hosts begin at one instant.
//!
//! A round trip bounds the offset: the host read its clock between the request and the answer. The
//! shortest of several round trips bounds it best (Cristian, "Probabilistic clock synchronization",
//! 1989); half of it is the largest error.

use serde::{Deserialize, Serialize};
use units::Nanos;

/// One time request to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// When it was sent, by the controller's clock.
    pub sent: Nanos,
    /// The host's clock when it answered.
    pub host: Nanos,
    /// When the answer came, by the controller's clock.
    pub received: Nanos,
}

/// A host's clock against the controller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// The host's clock less the controller's, in nanoseconds.
    pub offset_ns: i64,
    /// Largest error of the offset, in nanoseconds: half of the shortest round trip.
    pub error_ns: u64,
}

impl ClockOffset {
    /// Derives the offset from the shortest of `trips`. Answers that predate their request are
    /// ignored.
    pub fn of(trips: &[RoundTrip]) -> Option<Self> {
        let possible = trips.iter().filter(|trip| trip.received >= trip.sent);
        let best = possible.min_by_key(|trip| trip.received.since(trip.sent))?;
        let half = best.received.since(best.sent).0 / 2;
        let middle = i128::from(best.sent.0) + i128::from(half);
        let offset_ns = i64::try_from(i128::from(best.host.0) - middle).ok()?;
        Some(Self { offset_ns, error_ns: half })
    }

    /// Converts the controller's instant `at` to the host's clock.
    pub(crate) fn on_host(&self, at: Nanos) -> Nanos {
        Nanos(at.0.saturating_add_signed(self.offset_ns))
    }

    /// Converts the host's instant `at` to the controller's clock.
    pub(crate) fn on_controller(&self, at: Nanos) -> Nanos {
        Nanos(at.0.saturating_add_signed(self.offset_ns.saturating_neg()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::Nanos;

    use super::{ClockOffset, RoundTrip};

    proptest! {
        #[test]
        fn the_true_offset_lies_within_the_error(
            offset in -5_000_000_i64..5_000_000,
            delays in prop::collection::vec((0_u64..2_000_000, 0_u64..2_000_000), 1..12),
        ) {
            let trips: Vec<RoundTrip> = delays
                .iter()
                .zip(1_u64..)
                .map(|(&(there, back), turn)| {
                    let sent = Nanos(turn * 100_000_000);
                    let host = Nanos((sent.0 + there).saturating_add_signed(offset));
                    RoundTrip { sent, host, received: Nanos(sent.0 + there + back) }
                })
                .collect();
            let found = ClockOffset::of(&trips).expect("there was a trip");
            prop_assert!(found.offset_ns.abs_diff(offset) <= found.error_ns + 1);
            let shortest = delays.iter().map(|(there, back)| there + back).min();
            prop_assert_eq!(Some(found.error_ns), shortest.map(|whole| whole / 2));
            let at = Nanos(1_000_000_000);
            prop_assert_eq!(found.on_controller(found.on_host(at)), at);
        }
    }

    #[test]
    fn an_answer_from_before_its_question_counts_for_nothing() {
        let trip = RoundTrip { sent: Nanos(9), host: Nanos(5), received: Nanos(8) };
        assert_eq!(ClockOffset::of(&[trip]), None);
    }
}
