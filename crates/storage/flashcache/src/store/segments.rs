//! The state of each segment: free, open for a queue, reserved for it, full, or being reclaimed.

use std::collections::VecDeque;

use crate::policy::rules::{self, FifoQueue};

/// The segment that a queue writes to, and the one that follows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenSegment {
    pub segment: u32,
    /// The next group to fill.
    pub group: u32,
    pub next_segment: Option<u32>,
}

/// See the module.
pub(super) struct Segments {
    count: u32,
    pub free: Vec<u32>,
    /// Full segments by queue, oldest first.
    pub full: [VecDeque<u32>; 2],
    pub open: [OpenSegment; 2],
    /// Reads in flight by segment: a segment is not written while it is read.
    pins: Vec<u32>,
}

impl Segments {
    /// Uses the segments in `full`; the others are free, and four of those are taken at once. At
    /// least four must be free.
    pub(super) fn new(count: u32, full: [VecDeque<u32>; 2]) -> Self {
        let mut is_free = vec![true; count as usize];
        for &segment in full.iter().flatten() {
            is_free[segment as usize] = false;
        }
        let mut free: Vec<u32> = (0..count).rev().filter(|&at| is_free[at as usize]).collect();
        let open = [(); 2].map(|()| {
            let segment = free.pop().expect("invariant: four segments are free");
            OpenSegment { segment, group: 0, next_segment: free.pop() }
        });
        Self { count, free, full, open, pins: vec![0; count as usize] }
    }

    /// Advances to the next segment of a queue; `false` if it is not known yet.
    pub(super) fn advance(&mut self, queue: FifoQueue) -> bool {
        let open = &mut self.open[queue.index()];
        let Some(segment) = open.next_segment.take() else {
            return false;
        };
        self.full[queue.index()].push_back(open.segment);
        *open = OpenSegment { segment, group: 0, next_segment: self.free.pop() };
        true
    }

    /// Removes the oldest segment from the queue to evict from.
    pub(super) fn take_victim(&mut self) -> Option<(FifoQueue, u32)> {
        let [small, main] = [&self.full[0], &self.full[1]].map(|full| full.len() as u64 + 1);
        let turn = rules::victim(small, main, u64::from(self.count));
        let other = if turn == FifoQueue::Small { FifoQueue::Main } else { FifoQueue::Small };
        [turn, other].into_iter().find_map(|queue| {
            let segment = self.full[queue.index()].pop_front()?;
            Some((queue, segment))
        })
    }

    pub(super) fn pin(&mut self, segment: u32) {
        self.pins[segment as usize] += 1;
    }

    pub(super) fn unpin(&mut self, segment: u32) {
        self.pins[segment as usize] -= 1;
    }

    pub(super) fn is_pinned(&self, segment: u32) -> bool {
        self.pins[segment as usize] > 0
    }
}
