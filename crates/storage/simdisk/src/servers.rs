//! Servers with one FIFO queue: the completion time of work is known as soon as it arrives.

use crate::disk::{VirtualMoment, micros};

/// Identical servers with one queue.
pub(crate) struct FifoServers {
    /// When each is free.
    free: Vec<VirtualMoment>,
    /// Busy time of all servers in nanoseconds, including work that is accepted but not begun.
    busy: u64,
}

impl FifoServers {
    pub(crate) fn new(count: usize) -> Self {
        Self { free: vec![0; count.max(1)], busy: 0 }
    }

    /// Returns when work of `microseconds` that arrives now completes.
    pub(crate) fn serve(&mut self, now: VirtualMoment, microseconds: f64) -> VirtualMoment {
        let work = micros(microseconds);
        self.busy += work;
        let free = self.free.iter_mut().min().expect("invariant: at least one server");
        *free = now.max(*free) + work;
        *free
    }

    /// Mean busy time of one server, in nanoseconds.
    pub(crate) fn busy_ns(&self) -> u64 {
        self.busy / self.free.len() as u64
    }
}
