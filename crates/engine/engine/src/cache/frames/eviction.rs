//! Chooses the next page to evict, and tracks the reasons why others must wait.

use ese::Lgpos;
use units::PageNumber;

use super::Frames;

/// Position of a frame in the eviction order. A frame that cannot be evicted when its turn comes is
/// not inspected again until it can: with 32 sessions those inspections took a sixth of all
/// processor time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Among the victims.
    Queued,
    /// Waits until the log is durable up to its last change.
    Unlogged,
    /// Waits until it is neither pinned nor being written.
    InUse,
}

/// Requirements of the next victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cache) enum Eviction {
    /// It was clean and has been evicted.
    Done,
    /// This page must be written first.
    Write(PageNumber),
    /// The log must be durable up to here before any page can be written.
    Log(Lgpos),
    /// Every page is held.
    Stuck,
}

impl Frames {
    /// Requeues a frame that had to wait.
    pub(super) fn queue(&mut self, index: u32) {
        let frame = self.frame_mut(index);
        frame.turn = Turn::Queued;
        let rank = frame.uses.rank();
        self.victims.push(index, rank);
    }

    /// Evicts the page with the least worth, or returns the work needed first. A page whose last
    /// change is not durable waits as long as there are others: evicting it would cost a log write.
    pub(in crate::cache) fn evict(&mut self, history_pages: usize, durable: Lgpos) -> Eviction {
        let Some(index) = self.next_victim(durable) else {
            let unlogged = self.unlogged.first();
            return unlogged.map_or(Eviction::Stuck, |(place, _)| Eviction::Log(*place));
        };
        let uses = self.frame(index).uses;
        self.pace.note(uses, self.now);
        let frame = self.frame_mut(index);
        if frame.dirt.is_some() {
            frame.turn = Turn::InUse;
            let page = frame.page;
            self.counts.dirty_evictions += 1;
            return Eviction::Write(page);
        }
        let frame = self.slots[index as usize].take().expect("invariant: it was just looked at");
        self.by_page.remove(&frame.page);
        self.vacant.push(index);
        self.history.remember(frame.page, frame.uses, history_pages);
        self.give_buffer(frame.image);
        self.counts.evictions += 1;
        Eviction::Done
    }

    /// The evictable frame with the least worth. Those before it wait until they can be evicted.
    fn next_victim(&mut self, durable: Lgpos) -> Option<u32> {
        while let Some(&(place, index)) = self.unlogged.first()
            && place <= durable
        {
            self.unlogged.pop_first();
            self.queue(index);
        }
        loop {
            let slots = &self.slots;
            let index = self.victims.pop(|index| {
                let frame = slots[index as usize].as_ref();
                frame.expect("invariant: queued frames are in use").uses.rank()
            })?;
            let frame = self.frame_mut(index);
            if frame.pins > 0 || frame.writing.is_some() {
                frame.turn = Turn::InUse;
                continue;
            }
            match frame.dirt.filter(|dirt| dirt.last > durable) {
                None => return Some(index),
                Some(dirt) => {
                    frame.turn = Turn::Unlogged;
                    self.unlogged.insert((dirt.last, index));
                }
            }
        }
    }
}
