//! Ctrl-C: once asks to stop cleanly, twice ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::CommandError;

/// Set by the first Ctrl-C.
#[derive(Clone, Debug)]
pub(crate) struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Listens from now on.
    pub(crate) fn install() -> Result<Self, CommandError> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds the flag unset, sets it, and only the second
            // finds it set.
            flag::register_conditional_shutdown(signal, 2, Arc::clone(&asked))?;
            flag::register(signal, Arc::clone(&asked))?;
        }
        Ok(Self(asked))
    }

    /// Whether a stop has been asked for.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
