//! Requests to the storage that are not answered yet: a request that never returns leaves no other
//! trace.

use std::cell::RefCell;
use std::rc::Rc;

use device::{Asked, Clock, Observation, Observer};
use units::{Nanos, thousands};

/// A request to the storage, and its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    /// The request.
    pub asked: Asked,
    /// When it was made.
    pub since: Nanos,
}

impl Open {
    /// Describes it as of `now`, for people.
    pub(crate) fn sentence(&self, now: Nanos) -> String {
        let Asked { file, operation, offset, length, .. } = &self.asked;
        let bytes =
            if *length > 0 { format!(" of {length} bytes at {offset}") } else { String::new() };
        format!(
            "{file}: no answer to the {operation}{bytes} for {:.1} s; look at the disk, its \
             controller and cables, and the system log",
            now.since(self.since).as_secs_f64()
        )
    }
}

/// All requests in flight, by number.
pub(crate) struct InFlight {
    clock: Rc<dyn Clock>,
    slots: RefCell<RequestSlots>,
}

#[derive(Default)]
struct RequestSlots {
    open: Vec<Option<Open>>,
    free: Vec<usize>,
}

impl InFlight {
    /// An empty set; times are those of `clock`.
    pub(crate) fn new(clock: Rc<dyn Clock>) -> Self {
        Self { clock, slots: RefCell::default() }
    }

    /// The time now.
    pub(crate) fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Registers a request made at `since`; returns its number.
    pub(crate) fn begin(&self, asked: Asked, since: Nanos) -> usize {
        let mut slots = self.slots.borrow_mut();
        let open = Some(Open { asked, since });
        if let Some(number) = slots.free.pop() {
            slots.open[number] = open;
            return number;
        }
        slots.open.push(open);
        slots.open.len() - 1
    }

    /// Removes the request with this number, and returns it.
    pub(crate) fn end(&self, number: usize) -> Open {
        let mut slots = self.slots.borrow_mut();
        let open = slots.open[number].take();
        slots.free.push(number);
        open.expect("invariant: an answer comes once")
    }

    /// Calls `look` with every waiting request.
    pub(crate) fn each(&self, mut look: impl FnMut(&Open)) {
        self.slots.borrow().open.iter().flatten().for_each(&mut look);
    }

    /// The number and age of waiting requests `now`, in brackets; empty if none waits.
    pub(crate) fn in_words(&self, now: Nanos) -> String {
        let (mut count, mut oldest) = (0_u64, Nanos::ZERO);
        self.each(|open| {
            count += 1;
            oldest = oldest.max(now.since(open.since));
        });
        let oldest = oldest.as_secs_f64();
        match count {
            0 => String::new(),
            1 => format!(" (one request waits, for {oldest:.1} s)"),
            _ => format!(" ({} requests wait, the oldest for {oldest:.1} s)", thousands(count)),
        }
    }

    /// Waiting requests made before `moment`, oldest first, one per file.
    pub(crate) fn asked_before(&self, moment: Nanos) -> Vec<Open> {
        let mut found: Vec<Open> = Vec::new();
        self.each(|open| {
            if open.since <= moment {
                found.push(open.clone());
            }
        });
        found.sort_by_key(|open| open.since);
        let mut named: Vec<Open> = Vec::new();
        for open in found {
            if !named.iter().any(|one| one.asked.file == open.asked.file) {
                named.push(open);
            }
        }
        named
    }
}

/// Used alone if no measurement is taken.
impl Observer for InFlight {
    fn asked(&self, asked: Asked) -> usize {
        self.begin(asked, self.now())
    }

    fn answered(&self, number: usize) {
        drop(self.end(number));
    }

    fn observe(&self, _: &Observation) {}
}

#[cfg(test)]
mod tests {
    use device::{Asked, Reactor, VirtualReactor};
    use units::Nanos;

    use super::InFlight;

    fn read_of(file: &str) -> Asked {
        Asked { file: file.into(), operation: "read", request: None, offset: 0, length: 0 }
    }

    #[test]
    fn the_oldest_of_each_file_is_named_until_it_is_answered() {
        let in_flight = InFlight::new(VirtualReactor::new().clock());
        let first = in_flight.begin(read_of("a"), Nanos(5));
        let _ = in_flight.begin(read_of("b"), Nanos(3));
        let _ = in_flight.begin(read_of("a"), Nanos(4));
        let _ = in_flight.begin(read_of("c"), Nanos(9));
        let named = |moment| {
            let open = in_flight.asked_before(Nanos(moment));
            open.iter().map(|open| (open.asked.file.to_string(), open.since.0)).collect::<Vec<_>>()
        };
        assert_eq!(named(5), [("b".to_owned(), 3), ("a".to_owned(), 4)]);
        assert_eq!(in_flight.end(first).since, Nanos(5));
        assert_eq!(in_flight.begin(read_of("d"), Nanos(1)), first);
        assert_eq!(named(2), [("d".to_owned(), 1)]);
    }
}
