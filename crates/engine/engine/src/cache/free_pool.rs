//! How much of the cache is kept free: little, until pages have to wait for room. Pure: pages in,
//! marks out.

/// Limit on the start mark, however often pages had to wait: one in this many pages of the cache.
const HIGHEST_SHARE: usize = 16;

/// The marks between which pages are evicted, in free pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FreePool {
    /// Eviction starts below this number of free pages.
    pub start: usize,
    /// Eviction stops at this number of free pages.
    pub stop: usize,
    highest_start: usize,
}

impl FreePool {
    /// The configured marks, for a cache of `cache_pages` pages.
    pub(super) fn new((start, stop): (usize, usize), cache_pages: usize) -> Self {
        let start = start.max(1);
        Self {
            start,
            stop: stop.max(start + 1),
            highest_start: start.max(cache_pages / HIGHEST_SHARE),
        }
    }

    /// Marks for storage that takes longer to make room than the free pages lasted: eviction starts
    /// with twice as many free. If writes do not keep up at all, no number suffices, and the waits
    /// show it.
    pub(super) fn raised(self) -> Self {
        let start = (2 * self.start).min(self.highest_start);
        Self { start, stop: self.stop + (start - self.start), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::FreePool;

    #[test]
    fn marks_double_up_to_a_sixteenth_of_the_cache() {
        let mut pool = FreePool::new((32, 64), 2048);
        let mut seen = Vec::new();
        for _ in 0..4 {
            seen.push((pool.start, pool.stop));
            pool = pool.raised();
        }
        assert_eq!(seen, [(32, 64), (64, 96), (128, 160), (128, 160)]);
    }

    #[test]
    fn marks_asked_for_are_kept_however_high() {
        let pool = FreePool::new((300, 300), 2048);
        assert_eq!((pool.start, pool.stop), (300, 301));
        assert_eq!(pool.raised(), pool);
    }
}
