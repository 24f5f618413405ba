//! The request to stop: a value that who orders work keeps a clone of, and sets.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether work is to stop cleanly; clones are one request.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A request that `asked` makes, as a signal handler sets it.
    pub const fn of(asked: Arc<AtomicBool>) -> Self {
        Self(asked)
    }

    /// Whether a stop was requested.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Asks for a stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Withdraws the request, for work that begins after the stopped work.
    pub fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
