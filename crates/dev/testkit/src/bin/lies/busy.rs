//! A load on every processor that competes with the program under test.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// One busy thread per processor; the threads end when this is dropped.
pub(crate) struct BusyProcessors {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl BusyProcessors {
    pub(crate) fn new() -> Self {
        let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let is_over = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        for _ in 0..processors {
            let is_over = Arc::clone(&is_over);
            threads.push(thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }));
        }
        Self { is_over, threads }
    }
}

impl Drop for BusyProcessors {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
