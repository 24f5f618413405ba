//! Assigns numbers to new long values. A value that reuses the number of a removed one takes its
//! place in the tree as well, so deletes spread over the whole table give their space back.

/// Free numbers kept for new values. Numbers removed beyond that stay unused.
const MOST_FREE: usize = 64 << 10;

/// The numbers of one long-value tree.
#[derive(Debug)]
pub(crate) struct LongValueNumbers {
    /// Above every number in the tree.
    next: u32,
    /// Numbers whose values have been removed, the latest last: its page is the likeliest to be
    /// in the cache.
    free: Vec<u32>,
}

impl LongValueNumbers {
    /// Numbers from `next` on.
    pub(crate) const fn from(next: u32) -> Self {
        Self { next, free: Vec::new() }
    }

    /// A number for a new value.
    pub(crate) fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// Takes back a number with no value in the tree, because its value was removed or never
    /// stored.
    pub(crate) fn give_back(&mut self, number: u32) {
        assert!(number < self.next, "a number was never given out");
        if number + 1 == self.next {
            self.next = number;
        } else if self.free.len() < MOST_FREE {
            self.free.push(number);
        }
    }

    /// Does not assign `number` until it is given back, because the tree may still hold its value.
    pub(crate) fn avoid(&mut self, number: u32) {
        self.next = self.next.max(number.saturating_add(1));
    }
}

#[cfg(test)]
mod tests {
    use super::LongValueNumbers;

    #[test]
    fn a_number_that_came_back_is_the_next() {
        let mut numbers = LongValueNumbers::from(7);
        assert_eq!([numbers.take(), numbers.take(), numbers.take()], [7, 8, 9]);
        numbers.give_back(7);
        numbers.give_back(9);
        assert_eq!([numbers.take(), numbers.take(), numbers.take()], [7, 9, 10]);
    }

    #[test]
    fn a_number_in_use_is_kept_clear_of() {
        let mut numbers = LongValueNumbers::from(7);
        numbers.avoid(3);
        assert_eq!(numbers.take(), 7);
        numbers.avoid(20);
        assert_eq!(numbers.take(), 21);
    }
}
