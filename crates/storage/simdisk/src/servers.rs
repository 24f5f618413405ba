//! Servers of one queue in the order of arrival, so that the end of work is known when it arrives.

use crate::disk::{VirtualMoment, micros};

/// Alike servers with one queue.
pub(crate) struct FifoServers(Vec<VirtualMoment>);

impl FifoServers {
    pub(crate) fn new(count: usize) -> Self {
        Self(vec![0; count.max(1)])
    }

    /// When work of `microseconds` that arrives now is done.
    pub(crate) fn serve(&mut self, now: VirtualMoment, microseconds: f64) -> VirtualMoment {
        let free = self.0.iter_mut().min().expect("invariant: at least one server");
        *free = now.max(*free) + micros(microseconds);
        *free
    }
}
