//! The range of message keys that may exist, known without reading the database.

use std::cell::Cell;

/// The keys of one database that were ever handed out. Deleted ones stay in the range: a session
/// that meets one continues with the next.
#[derive(Debug)]
pub struct Ids {
    first: i64,
    next: Cell<i64>,
}

/// A random position among the keys, drawn before their number is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(pub u64);

impl Ids {
    /// The keys `first` to `last`.
    pub const fn new(first: i64, last: i64) -> Self {
        assert!(first <= last + 1, "a range does not end before it begins");
        Self { first, next: Cell::new(last + 1) }
    }

    /// Hands out the key after the last one.
    pub fn append(&self) -> i64 {
        self.next.replace(self.next.get() + 1)
    }

    /// The key that the next [`Ids::append`] hands out.
    #[cfg(test)]
    pub(crate) fn next(&self) -> i64 {
        self.next.get()
    }

    /// The key at `place`; `None` if no key was ever handed out.
    pub fn pick(&self, place: Place) -> Option<i64> {
        let span = self.next.get().abs_diff(self.first);
        if span == 0 {
            return None;
        }
        let offset = (u128::from(place.0) * u128::from(span)) >> 64;
        self.first.checked_add(i64::try_from(offset).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::{Ids, Place};

    #[test]
    fn places_reach_from_the_first_key_to_the_last() {
        let ids = Ids::new(1, 100);
        assert_eq!(ids.pick(Place(0)), Some(1));
        assert_eq!(ids.pick(Place(u64::MAX)), Some(100));
        assert_eq!(ids.append(), 101);
        assert_eq!(ids.next(), 102);
        assert_eq!(ids.pick(Place(u64::MAX)), Some(101));
    }

    #[test]
    fn an_empty_database_has_no_place() {
        assert_eq!(Ids::new(1, 0).pick(Place(7)), None);
    }
}
