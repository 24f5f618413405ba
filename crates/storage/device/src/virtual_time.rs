//! Time that advances only when every task waits, so that a run is a function of its seed.
//!
//! Events fire in the order of (instant, sequence of scheduling): two events at the same instant
//! never swap, on any machine.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use units::{Nanos, Prng, Seed};

use crate::{Clock, Reactor};

/// 2020-01-01T00:00:00Z: the date at the zero of every virtual clock.
const EPOCH: Nanos = Nanos::from_secs(1_577_836_800);

/// A clock that a [`VirtualReactor`] moves.
#[derive(Debug, Default)]
pub(crate) struct VirtualClock {
    now: Cell<Nanos>,
}

impl Clock for VirtualClock {
    fn now(&self) -> Nanos {
        self.now.get()
    }

    fn epoch(&self) -> Nanos {
        EPOCH
    }
}

type TimedEvent = Box<dyn FnOnce()>;

/// Delivers scheduled events and moves the clock to the next one when every task waits.
#[derive(Default)]
pub struct VirtualReactor {
    clock: Rc<VirtualClock>,
    events: RefCell<BTreeMap<(Nanos, u64), TimedEvent>>,
    sequence: Cell<u64>,
}

impl VirtualReactor {
    /// A reactor at instant zero with nothing scheduled.
    pub fn new() -> Rc<Self> {
        Rc::default()
    }

    /// The instant now.
    pub fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Runs `event` once `span` has passed.
    pub fn after(&self, span: Nanos, event: impl FnOnce() + 'static) {
        let sequence = self.sequence.get();
        self.sequence.set(sequence + 1);
        self.events.borrow_mut().insert((self.now() + span, sequence), Box::new(event));
    }

    fn next_event(&self) -> Option<Nanos> {
        self.events.borrow().keys().next().map(|&(at, _)| at)
    }

    fn fire_due(&self) {
        while self.next_event().is_some_and(|at| at <= self.now()) {
            let first = self.events.borrow_mut().pop_first();
            if let Some((_, event)) = first {
                event();
            }
        }
    }
}

impl Reactor for VirtualReactor {
    fn clock(&self) -> Rc<dyn Clock> {
        Rc::<VirtualClock>::clone(&self.clock)
    }

    fn turn(&self, until: Option<Nanos>) -> bool {
        let until = until.unwrap_or(Nanos::ZERO);
        let next = self.next_event();
        if next.is_none() && until == Nanos::MAX {
            return false;
        }
        let wake = next.unwrap_or(Nanos::MAX).min(until);
        self.clock.now.set(self.now().max(wake));
        self.fire_due();
        true
    }

    fn retire(&self) {
        // A dropped event may access the reactor.
        let events = std::mem::take(&mut *self.events.borrow_mut());
        drop(events);
    }
}

/// Duration of one operation of a virtual device.
#[derive(Clone, Debug)]
pub struct Latency {
    shortest: Nanos,
    spread: u64,
    prng: Prng,
}

impl Latency {
    /// A constant duration.
    pub const fn fixed(span: Nanos) -> Self {
        Self { shortest: span, spread: 0, prng: Prng::new(Seed(0)) }
    }

    /// Uniformly distributed over `shortest..=longest`, so that requests overtake each other.
    pub fn spread(shortest: Nanos, longest: Nanos, seed: Seed) -> Self {
        Self { shortest, spread: (longest - shortest).0, prng: Prng::new(seed) }
    }

    /// Draws the duration of the next operation.
    pub(crate) fn draw(&mut self) -> Nanos {
        match self.spread {
            0 => self.shortest,
            spread => self.shortest + Nanos(self.prng.below(spread.saturating_add(1))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use units::{Nanos, Seed};

    use super::{Latency, VirtualReactor};
    use crate::Reactor;

    #[test]
    fn events_fire_by_instant_then_by_order_of_scheduling() {
        let reactor = VirtualReactor::new();
        let seen = Rc::new(RefCell::new(Vec::new()));
        for (name, at) in [("late", 9), ("first", 5), ("second", 5)] {
            let (seen, twin) = (Rc::clone(&seen), Rc::clone(&reactor));
            reactor.after(Nanos(at), move || {
                seen.borrow_mut().push((name, twin.now().0));
            });
        }
        assert!(reactor.turn(Some(Nanos::MAX)));
        assert_eq!(*seen.borrow(), [("first", 5), ("second", 5)]);
        assert!(reactor.turn(Some(Nanos(7))), "a timer ends this wait");
        assert_eq!((reactor.now(), seen.borrow().len()), (Nanos(7), 2));
        assert!(reactor.turn(Some(Nanos::MAX)));
        assert_eq!(seen.borrow().last(), Some(&("late", 9)));
        assert!(!reactor.turn(Some(Nanos::MAX)), "nothing is left");
    }

    #[test]
    fn polling_moves_no_time() {
        let reactor = VirtualReactor::new();
        reactor.after(Nanos(3), || panic!("not yet due"));
        assert!(reactor.turn(None));
        assert_eq!(reactor.now(), Nanos::ZERO);
    }

    #[test]
    fn a_seeded_latency_repeats_and_keeps_its_bounds() {
        let draw = || {
            let mut latency = Latency::spread(Nanos(10), Nanos(20), Seed(1));
            (0..100).map(|_| latency.draw().0).collect::<Vec<_>>()
        };
        assert_eq!(draw(), draw());
        assert!(draw().iter().all(|span| (10..=20).contains(span)));
        assert!(draw().iter().any(|&span| span != draw()[0]));
    }
}
