//! LRU-K with K = 2: which page the cache can do without.
//!
//! A page's worth is the time of its last but one uncorrelated use (O'Neil, O'Neil, Weikum, "The
//! LRU-K page replacement algorithm", SIGMOD 1993), as in ESE. A page used once is taken to have
//! been used a while before as well: were it worth nothing, pages used twice at some time would
//! fill the cache for good, and one that was just changed would be written at once, only to be
//! read again for its cleanup. Pure values: no clock, no pages.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use units::{Nanos, PageNumber};

use crate::hash::QuickHash;

/// How many correlation intervals before its first use a page is taken to have been used: pages
/// used again within that time (1 s by default) are kept before those used once.
const ASSUMED_INTERVALS: u64 = 8;

/// When a page was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    /// The last use that counted.
    last: Nanos,
    /// The use that counted before it.
    last_but_one: Nanos,
}

/// What pages are compared by: the smallest goes first.
pub(crate) type Rank = (Nanos, Nanos);

impl Uses {
    /// The first use of a page that nothing is known about.
    pub const fn first(now: Nanos, correlation: Nanos) -> Self {
        Self {
            last: now,
            last_but_one: now.since(Nanos(correlation.0 * ASSUMED_INTERVALS)),
        }
    }

    /// One more use. It counts where the last one that did is more than `correlation` ago. The
    /// distance to the last use of all would not do: a page in use all the time, such as a root,
    /// would have but one use, long ago, and go first.
    #[inline]
    pub fn again(&mut self, now: Nanos, correlation: Nanos) {
        if now.since(self.last) > correlation {
            self.last_but_one = self.last;
            self.last = now;
        }
    }

    /// The page whose last but one use is the oldest goes first; then the longest unused.
    pub const fn rank(&self) -> Rank {
        (self.last_but_one, self.last)
    }
}

/// Frames in the order in which they should go. A frame's rank may rise while it is queued: it is
/// looked at again when its turn comes, so that using a page costs nothing here.
#[derive(Debug, Default)]
pub(crate) struct Victims {
    queue: BinaryHeap<Reverse<(Rank, u32)>>,
}

/// What becomes of a frame whose turn has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Its rank is this by now.
    Rank(Rank),
    /// It cannot go at present.
    Held(Rank),
}

impl Victims {
    /// Queues a frame. It must not be queued.
    pub fn push(&mut self, frame: u32, rank: Rank) {
        self.queue.push(Reverse((rank, frame)));
    }

    /// Takes the frame that should go first, as far as `judge` lets it.
    pub fn pop(&mut self, judge: impl Fn(u32) -> Verdict) -> Option<u32> {
        let mut held = Vec::new();
        let mut found = None;
        while let Some(Reverse((queued, frame))) = self.queue.pop() {
            match judge(frame) {
                Verdict::Held(rank) => held.push(Reverse((rank, frame))),
                Verdict::Rank(rank) if rank > queued => self.queue.push(Reverse((rank, frame))),
                Verdict::Rank(_) => {
                    found = Some(frame);
                    break;
                }
            }
        }
        self.queue.extend(held);
        found
    }
}

/// What is remembered of pages that have left the cache, so that a page that comes back soon is
/// not taken for a stranger.
#[derive(Debug, Default)]
pub(crate) struct History {
    uses: HashMap<PageNumber, Uses, QuickHash>,
    order: VecDeque<PageNumber>,
}

impl History {
    /// Remembers a page that leaves; at most `most` pages are remembered.
    pub fn remember(&mut self, page: PageNumber, uses: Uses, most: usize) {
        if self.uses.insert(page, uses).is_none() {
            self.order.push_back(page);
        }
        while self.order.len() > most {
            if let Some(oldest) = self.order.pop_front() {
                self.uses.remove(&oldest);
            }
        }
    }

    /// What is known of a page that comes back.
    pub fn recall(&self, page: PageNumber) -> Option<Uses> {
        self.uses.get(&page).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::{History, Uses, Verdict, Victims};
    use units::{Nanos, PageNumber};

    const CORRELATION: Nanos = Nanos(10);

    #[test]
    fn a_burst_counts_once() {
        let mut uses = Uses::first(Nanos(100), CORRELATION);
        uses.again(Nanos(105), CORRELATION);
        uses.again(Nanos(110), CORRELATION);
        assert_eq!(uses.rank(), (Nanos(20), Nanos(100)));
        uses.again(Nanos(200), CORRELATION);
        assert_eq!(uses.rank(), (Nanos(100), Nanos(200)));
        uses.again(Nanos(300), CORRELATION);
        assert_eq!(uses.rank(), (Nanos(200), Nanos(300)));
    }

    #[test]
    fn a_page_that_is_used_all_the_time_stays_young() {
        let mut uses = Uses::first(Nanos(100), CORRELATION);
        for now in 101..2000 {
            uses.again(Nanos(now), CORRELATION);
        }
        let (last_but_one, last) = uses.rank();
        assert!(
            last_but_one >= Nanos(1970) && last >= Nanos(1980),
            "{uses:?}"
        );
    }

    #[test]
    fn used_often_outlives_used_once_outlives_used_twice_long_ago() {
        let [mut often, once, mut long_ago] =
            [500, 1000, 10].map(|first| Uses::first(Nanos(first), CORRELATION));
        often.again(Nanos(940), CORRELATION);
        often.again(Nanos(990), CORRELATION);
        long_ago.again(Nanos(60), CORRELATION);
        let uses = [often, once, long_ago];
        let mut victims = Victims::default();
        for frame in 0..3 {
            victims.push(frame, (Nanos::ZERO, Nanos::ZERO));
        }
        let judge = |frame: u32| Verdict::Rank(uses[frame as usize].rank());
        let order: Vec<_> = std::iter::from_fn(|| victims.pop(judge)).collect();
        assert_eq!(order, [2, 1, 0]);
    }

    #[test]
    fn held_frames_are_passed_over_and_stay_queued() {
        let mut victims = Victims::default();
        victims.push(0, (Nanos(0), Nanos(1)));
        victims.push(1, (Nanos(0), Nanos(2)));
        let rank = |frame: u32| (Nanos(0), Nanos(u64::from(frame) + 1));
        let judge = |frame| {
            if frame == 0 {
                Verdict::Held(rank(0))
            } else {
                Verdict::Rank(rank(1))
            }
        };
        assert_eq!(victims.pop(judge), Some(1));
        assert_eq!(victims.pop(judge), None);
        assert_eq!(victims.pop(|frame| Verdict::Rank(rank(frame))), Some(0));
    }

    #[test]
    fn history_forgets_the_oldest() {
        let used = |page: u32| Uses::first(Nanos(u64::from(page)), CORRELATION);
        let mut history = History::default();
        for page in 1..=3 {
            history.remember(PageNumber(page), used(page), 2);
        }
        assert_eq!(history.recall(PageNumber(1)), None);
        assert_eq!(history.recall(PageNumber(3)), Some(used(3)));
    }
}
