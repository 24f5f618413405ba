//! A request to stop: callers keep a clone and set it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to stop work cleanly; clones share it.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Wraps a flag set elsewhere, such as by a signal handler.
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
