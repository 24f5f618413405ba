//! Spreads each request of a stretched database over the pages that its page represents.
//!
//! A page that always went to the same place would be changed again while the array's memory still
//! holds it, which rarely happens to a page of the larger database. Requests that follow each other
//! closely stay as close.

use std::collections::VecDeque;

use units::{Prng, Seed};

/// Number of recent reads that the next one may follow closely: about as many sessions read at a
/// time.
const RECENT_READS: usize = 8;

/// Writes of a burst come in their order, so that each may follow only the one before it.
const RECENT_WRITES: usize = 1;

/// Requests closer than this are near each other; level 2 uses the same limit.
const NEAR_BYTES: u64 = 2 << 20;

/// Positions of the latest requests of one file.
#[derive(Debug)]
pub(super) struct Spread {
    prng: Prng,
    reads: VecDeque<RecentRequest>,
    writes: VecDeque<RecentRequest>,
}

#[derive(Clone, Copy, Debug)]
struct RecentRequest {
    offset: u64,
    at: u64,
}

impl Spread {
    pub(super) const fn new(seed: Seed) -> Self {
        Self { prng: Prng::new(seed), reads: VecDeque::new(), writes: VecDeque::new() }
    }

    /// Places a request at `offset`: as far from a recent one as its offset is, if that is near,
    /// otherwise wherever `anywhere` draws.
    pub(super) fn place(
        &mut self,
        (offset, is_write): (u64, bool),
        anywhere: impl FnOnce(&mut Prng) -> u64,
    ) -> u64 {
        let (recent, most) = if is_write {
            (&mut self.writes, RECENT_WRITES)
        } else {
            (&mut self.reads, RECENT_READS)
        };
        let near = recent.iter().find(|of| of.offset.abs_diff(offset) < NEAR_BYTES);
        let at = near.map_or_else(
            || anywhere(&mut self.prng),
            |of| of.at.saturating_add_signed(offset.cast_signed() - of.offset.cast_signed()),
        );
        recent.truncate(most - 1);
        recent.push_front(RecentRequest { offset, at });
        at
    }
}

#[cfg(test)]
mod tests {
    use units::Seed;

    use super::Spread;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_page_goes_elsewhere_each_time_and_neighbours_stay_together() {
        let mut spread = Spread::new(Seed(1));
        let mut at =
            |offset, is_write| spread.place((offset, is_write), |prng| prng.below(1 << 40));
        let first = at(100 * MIB, true);
        assert_eq!(at(101 * MIB, true), first + MIB);
        assert_eq!(at(100 * MIB, true), first);
        at(200 * MIB, true);
        assert!(at(100 * MIB, true).abs_diff(first) > 100 * MIB, "it has been forgotten");

        let read = at(100 * MIB, false);
        for other in 2..9 {
            at(other * 100 * MIB, false);
        }
        assert_eq!(at(99 * MIB, false), read - MIB, "seven reads of other sessions came between");
    }
}
