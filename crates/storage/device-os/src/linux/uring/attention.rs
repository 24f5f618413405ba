//! How long a server polls for its next request before it sleeps. A sleeping processor takes longer
//! to wake than a client on the same machine takes to ask again; one that polls in vain takes time
//! from others. So the span follows the needs of the last waits, like the polling of QEMU's
//! threads, and a server whose processor is wanted by others sleeps at once for a while.

use units::Nanos;

/// The shortest useful span.
const SHORTEST: Nanos = Nanos::from_micros(8);

/// Longest useful span; for longer waits the server sleeps at once. A client that reads 32 KiB at
/// once asks again within half of this; `cargo xtask bench cache` shows benefit and cost.
const LONGEST: Nanos = Nanos::from_micros(64);

/// A polling step that takes longer yielded the processor to something else. That was the client
/// itself if it has asked again by then, unless the step took longer than [`LONGEST`].
const DISPLACED: Nanos = Nanos::from_micros(10);

/// Number of waits without polling after a displacement: the first time, and at most.
const RESTS: std::ops::RangeInclusive<u32> = 16..=4_096;

/// Rests saved by each wait that polling ended in time.
const SAVED_RESTS: u32 = 4;

/// How a wait went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ClientWait {
    pub waited: Nanos,
    /// The longest polling step that found nothing.
    pub longest_step: Nanos,
    /// Duration of the polling step that found something.
    pub last_step: Nanos,
}

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Attention {
    span: Nanos,
    /// Waits to sleep through.
    rests: u32,
    /// Value of `rests` after the next displacement.
    next_rests: u32,
}

impl Attention {
    /// How long the next wait polls; zero if it sleeps at once.
    pub(super) const fn span(self) -> Nanos {
        if self.rests > 0 { Nanos::ZERO } else { self.span }
    }

    /// The state after a wait.
    pub(super) fn after(self, wait: ClientWait) -> Self {
        let next = self.next_rests.clamp(*RESTS.start(), *RESTS.end());
        if wait.longest_step > DISPLACED || wait.last_step > LONGEST {
            return Self { span: Nanos::ZERO, rests: next, next_rests: next * 2 };
        }
        let is_found = wait.waited <= self.span();
        let span = match wait.waited {
            waited if waited > LONGEST => Nanos::ZERO,
            waited if waited > self.span => Nanos(self.span.0 * 2).clamp(SHORTEST, LONGEST),
            _ => self.span,
        };
        let next_rests = if is_found { next.saturating_sub(SAVED_RESTS) } else { next };
        Self { span, rests: self.rests.saturating_sub(1), next_rests }
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::{Attention, ClientWait, LONGEST};

    fn wait(micros: u64) -> ClientWait {
        ClientWait { waited: Nanos::from_micros(micros), ..ClientWait::default() }
    }

    fn after(waits: &[u64]) -> Attention {
        waits.iter().fold(Attention::default(), |now, &micros| now.after(wait(micros)))
    }

    /// Number of waits without polling until the next one polls.
    fn rests(mut now: Attention) -> (u32, Attention) {
        let mut rests = 0;
        while now.span() == Nanos::ZERO {
            now = now.after(wait(40));
            rests += 1;
        }
        (rests, now)
    }

    #[test]
    fn a_span_covers_short_waits_and_no_long_one() {
        assert_eq!(after(&[]).span(), Nanos::ZERO);
        assert!(after(&[40; 8]).span() >= Nanos::from_micros(40), "a client that asks at once");
        assert_eq!(after(&[40, 40, 40, 500]).span(), Nanos::ZERO, "one that has stopped");
        assert_eq!(after(&[500; 8]).span(), Nanos::ZERO, "one that is slow");
        assert_eq!(after(&[64; 100]).span(), LONGEST);
    }

    #[test]
    fn a_processor_that_others_want_is_left_to_them() {
        let micros = Nanos::from_micros;
        let others = ClientWait { longest_step: micros(30), ..wait(40) };
        let (first, again) = rests(after(&[40; 8]).after(others));
        let (second, _) = rests(again.after(others));
        assert!(first >= 16 && second >= 2 * first, "{first} and {second}");
        let calm = (0..1_000).fold(again, |now, _| now.after(wait(40)));
        assert_eq!(rests(calm.after(others)).0, first, "they have gone");
        let client = ClientWait { last_step: micros(30), ..wait(40) };
        assert!(after(&[40; 8]).after(client).span() > Nanos::ZERO, "it has no other processor");
        let slow = ClientWait { last_step: micros(3_000), ..wait(40) };
        assert_eq!(after(&[40; 8]).after(slow).span(), Nanos::ZERO, "others ran before it");
    }
}
