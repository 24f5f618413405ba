//! LRU-K with K = 2: chooses the page the cache can do without.
//!
//! A page's worth is the time of its last but one uncorrelated use (O'Neil, O'Neil, Weikum, "The
//! LRU-K page replacement algorithm", SIGMOD 1993), as in ESE. A page used once is credited with an
//! earlier use: if it were worth nothing, pages used twice would eventually fill the cache for
//! good. Pure values: no clock, no pages.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use units::{Nanos, PageNumber};

use crate::hash::QuickHash;

/// When a page was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    /// The last use that counted.
    last: Nanos,
    /// The counted use before it.
    last_but_one: Nanos,
}

/// The cache's own time scale: how soon a page must be used again to escape eviction. Storage sets
/// the pace at which pages come and go, so spans in seconds would mean something else on every
/// machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Average age of the last but one use of recently evicted pages.
    horizon: Nanos,
}

/// The age of the earlier use credited to a page at its first use, as a share of the horizon. The
/// rest is its lifetime unless it is used again: short, so that pages in repeated use find room. On
/// the transaction mix an eighth instead costs a read and a write per batch at 32 MiB of cache.
const ASSUMED_SHARE: (u64, u64) = (31, 32);
/// The period within which uses count as one, as a share of the horizon: a page is worth keeping
/// for recurring uses, not for a burst. If it were longer than a page is cached and remembered, no
/// second use would ever count.
const BURST_SHARE: u64 = 16;
/// Each evicted page moves the horizon by one part in this many towards its own age.
const SMOOTHING: u64 = 16;

impl Pace {
    /// A guess; it matters only for the first pages evicted.
    pub(super) const fn unknown() -> Self {
        Self { horizon: Nanos::from_secs(1) }
    }

    /// Records that a page with these uses is evicted at `now`.
    pub(super) fn note(&mut self, uses: Uses, now: Nanos) {
        let age = now.since(uses.last_but_one);
        self.horizon = Nanos(self.horizon.0 - self.horizon.0 / SMOOTHING + age.0 / SMOOTHING);
    }

    const fn assumed(self) -> Nanos {
        Nanos(self.horizon.0 / ASSUMED_SHARE.1 * ASSUMED_SHARE.0)
    }

    const fn burst(self) -> Nanos {
        Nanos(self.horizon.0 / BURST_SHARE)
    }
}

/// Order of eviction: the smallest goes first.
pub(crate) type Rank = (Nanos, Nanos);

impl Uses {
    /// The first use of an unknown page.
    pub(super) const fn first(now: Nanos, pace: Pace) -> Self {
        Self { last: now, last_but_one: now.since(pace.assumed()) }
    }

    /// Records one more use. It counts if the last counted use is more than a burst ago. Measuring
    /// from the last use of any kind would fail: a page in constant use, such as a root, would have
    /// only one use, long ago, and be evicted first.
    #[inline]
    pub(super) fn again(&mut self, now: Nanos, pace: Pace) {
        if now.since(self.last) > pace.burst() {
            self.last_but_one = self.last;
            self.last = now;
        }
    }

    /// Whether this page, at `now`, has been idle for at least half as long as another one that is
    /// being evicted, so that its own eviction is near.
    pub(super) fn is_nearly_as_old(&self, other: &Self, now: Nanos) -> bool {
        now.since(self.last).0 >= now.since(other.last).0 / 2
            && now.since(self.last_but_one).0 >= now.since(other.last_but_one).0 / 2
    }

    /// The page whose last but one use is the oldest goes first; then the longest unused.
    pub(super) const fn rank(&self) -> Rank {
        (self.last_but_one, self.last)
    }
}

/// Frames in eviction order. A frame's rank may rise while it is queued: it is checked again when
/// its turn comes, so that using a page incurs no cost here.
#[derive(Debug, Default)]
pub(crate) struct Victims {
    queue: BinaryHeap<Reverse<(Rank, u32)>>,
}

impl Victims {
    /// Queues a frame. It must not be queued.
    pub(super) fn push(&mut self, frame: u32, rank: Rank) {
        self.queue.push(Reverse((rank, frame)));
    }

    /// Takes the frame to evict first; `rank` returns a frame's current rank.
    pub(super) fn pop(&mut self, rank: impl Fn(u32) -> Rank) -> Option<u32> {
        while let Some(Reverse((queued, frame))) = self.queue.pop() {
            match rank(frame) {
                risen if risen > queued => self.push(frame, risen),
                _ => return Some(frame),
            }
        }
        None
    }
}

/// Remembers evicted pages, so that one that soon returns keeps its history.
#[derive(Debug, Default)]
pub(crate) struct History {
    uses: HashMap<PageNumber, Uses, QuickHash>,
    order: VecDeque<PageNumber>,
}

impl History {
    /// Remembers an evicted page; at most `most` pages are remembered.
    pub(super) fn remember(&mut self, page: PageNumber, uses: Uses, most: usize) {
        if self.uses.insert(page, uses).is_none() {
            self.order.push_back(page);
        }
        while self.order.len() > most {
            if let Some(oldest) = self.order.pop_front() {
                self.uses.remove(&oldest);
            }
        }
    }

    /// The remembered uses of a returning page.
    pub(super) fn recall(&self, page: PageNumber) -> Option<Uses> {
        self.uses.get(&page).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::{History, Pace, Uses, Victims};
    use units::{Nanos, PageNumber};

    /// With this horizon, uses within 40 ns count as one, and a first use implies one 620 ns
    /// earlier.
    const PACE: Pace = Pace { horizon: Nanos(640) };

    #[test]
    fn a_burst_counts_once() {
        let mut uses = Uses::first(Nanos(700), PACE);
        uses.again(Nanos(720), PACE);
        uses.again(Nanos(740), PACE);
        assert_eq!(uses.rank(), (Nanos(80), Nanos(700)));
        uses.again(Nanos(800), PACE);
        assert_eq!(uses.rank(), (Nanos(700), Nanos(800)));
        uses.again(Nanos(900), PACE);
        assert_eq!(uses.rank(), (Nanos(800), Nanos(900)));
    }

    #[test]
    fn a_page_that_is_used_all_the_time_stays_young() {
        let mut uses = Uses::first(Nanos(100), PACE);
        for moment in 101..2000 {
            uses.again(Nanos(moment), PACE);
        }
        let (last_but_one, last) = uses.rank();
        assert!(last_but_one >= Nanos(1910) && last >= Nanos(1950), "{uses:?}");
    }

    #[test]
    fn used_often_outlives_used_once_outlives_used_twice_long_ago() {
        let [mut often, once, mut long_ago] =
            [500, 1000, 10].map(|first| Uses::first(Nanos(first), PACE));
        often.again(Nanos(900), PACE);
        often.again(Nanos(990), PACE);
        long_ago.again(Nanos(60), PACE);
        let uses = [often, once, long_ago];
        let mut victims = Victims::default();
        for frame in 0..3 {
            victims.push(frame, (Nanos::ZERO, Nanos::ZERO));
        }
        let rank = |frame: u32| uses[frame as usize].rank();
        let order: Vec<_> = std::iter::from_fn(|| victims.pop(rank)).collect();
        assert_eq!(order, [2, 1, 0]);
    }

    #[test]
    fn the_pace_is_that_of_the_pages_that_go() {
        let settled = |slower: u64| {
            let mut pace = Pace::unknown();
            for step in 1..1000 {
                let now = Nanos(step * 1_000_000 * slower);
                let before = Nanos(step.saturating_sub(50) * 1_000_000 * slower);
                let goes = Uses { last: now, last_but_one: before };
                pace.note(goes, now);
            }
            pace
        };
        for slower in [1, 100] {
            let (burst, assumed) = (settled(slower).burst(), settled(slower).assumed());
            let span = Nanos(50_000_000 * slower);
            assert!(burst.0.abs_diff(span.0 / 16) < span.0 / 1000, "{burst:?}");
            assert!(assumed < span && assumed.0 > span.0 / 10 * 9, "{assumed:?}");
        }
    }

    #[test]
    fn what_has_been_left_alone_half_as_long_goes_along() {
        let uses =
            |last_but_one, last| Uses { last: Nanos(last), last_but_one: Nanos(last_but_one) };
        let due = uses(100, 200);
        let along = |uses: Uses| uses.is_nearly_as_old(&due, Nanos(1000));
        assert!(along(uses(90, 210)) && along(uses(550, 600)));
        assert!(!along(uses(550, 601)), "used not long ago");
        assert!(!along(uses(551, 600)), "used twice not long ago");
    }

    #[test]
    fn history_forgets_the_oldest() {
        let used = |page: u32| Uses::first(Nanos(u64::from(page)), PACE);
        let mut history = History::default();
        for page in 1..=3 {
            history.remember(PageNumber(page), used(page), 2);
        }
        assert_eq!(history.recall(PageNumber(1)), None);
        assert_eq!(history.recall(PageNumber(3)), Some(used(3)));
    }
}
