//! A contiguous range of bucket counts, for latencies that are recorded one by one.

use std::ops::Range;

/// The range grows in blocks of this many buckets.
const BLOCK: usize = 4 * WORD;

/// Buckets covered by one word of the bit map. Most are empty and never read: there are some
/// thousand between the first and the last non-empty one.
const WORD: usize = u64::BITS as usize;

/// Number and count of a non-empty bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Filled {
    pub index: usize,
    pub count: u64,
}

/// Counts of neighbouring buckets.
#[derive(Clone, Debug, Default)]
pub(super) struct Stretch {
    /// The bucket of the first of `counts`.
    first: usize,
    counts: Vec<u64>,
    /// A bit for each of `counts`, set if it is not zero.
    filled: Vec<u64>,
}

impl Stretch {
    /// Adds to one bucket.
    pub(super) fn add(&mut self, Filled { index, count }: Filled) {
        if !(self.first..self.first + self.counts.len()).contains(&index) {
            self.make_room(index..index + 1);
        }
        self.add_inside(Filled { index, count });
    }

    /// Adds to a bucket inside the range.
    fn add_inside(&mut self, Filled { index, count }: Filled) {
        let place = index - self.first;
        self.counts[place] = self.counts[place].saturating_add(count);
        self.filled[place / WORD] |= 1 << (place % WORD);
    }

    /// Adds to the buckets of `list`, which are in ascending order.
    pub(super) fn add_all(&mut self, list: &[Filled]) {
        if let (Some(first), Some(last)) = (list.first(), list.last()) {
            self.make_room(first.index..last.index + 1);
        }
        for &filled in list {
            self.add_inside(filled);
        }
    }

    /// Adds all of `other`.
    pub(super) fn merge(&mut self, other: &Self) {
        if other.counts.is_empty() {
            return;
        }
        self.make_room(other.first..other.first + other.counts.len());
        let before = other.first - self.first;
        for place in other.places() {
            let mine = &mut self.counts[before + place];
            *mine = mine.saturating_add(other.counts[place]);
        }
        for (mine, theirs) in self.filled[before / WORD..].iter_mut().zip(&other.filled) {
            *mine |= theirs;
        }
    }

    /// The non-empty buckets, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = Filled> {
        self.places().map(|place| Filled { index: self.first + place, count: self.counts[place] })
    }

    /// Indices of non-zero `counts`, ascending.
    fn places(&self) -> impl Iterator<Item = usize> {
        let words = self.filled.iter().zip((0..).step_by(WORD));
        words.flat_map(|(&word, first)| {
            let rests = std::iter::successors(Some(word), |rest| Some(rest & (rest - 1)));
            let rests = rests.take(word.count_ones() as usize);
            rests.map(move |rest| first + rest.trailing_zeros() as usize)
        })
    }

    fn make_room(&mut self, wanted: Range<usize>) {
        let end = self.first + self.counts.len();
        let wanted = wanted.start / BLOCK * BLOCK..wanted.end.next_multiple_of(BLOCK);
        if self.counts.is_empty() {
            self.first = wanted.start;
        } else if wanted.start < self.first {
            let before = self.first - wanted.start;
            self.counts.splice(..0, std::iter::repeat_n(0, before));
            self.filled.splice(..0, std::iter::repeat_n(0, before / WORD));
            self.first = wanted.start;
        }
        if wanted.end > end || self.counts.is_empty() {
            self.counts.resize(wanted.end - self.first, 0);
            self.filled.resize((wanted.end - self.first) / WORD, 0);
        }
    }
}
