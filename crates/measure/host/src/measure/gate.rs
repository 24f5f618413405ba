//! Lets another program start the measurement, by two files in the run folder: one says that the
//! run is waiting, the other holds the start time. Files outlive an agent that is killed, and the
//! next one finds the run by them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use device::Clock as _;
use device_os::OsClock;
use trial::Coordinator;
use units::Nanos;

use super::questions::Questions;
use crate::error::HostError;

/// The run is warm and waits.
pub const WAITING: &str = "waiting-to-measure";

/// When to measure, in nanoseconds since 1970 by this machine's clock, as decimal text.
pub const MEASURE_AT: &str = "measure-at";

const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Holds a run until it may measure.
pub(crate) struct Gate {
    folder: PathBuf,
    answers: Questions<Option<u64>>,
    looked: Instant,
    has_told: bool,
    is_open: bool,
}

impl Gate {
    /// Closes the gate of the run in `folder`.
    pub(super) fn close(folder: &Path, coordinator: &Coordinator) -> Result<Self, HostError> {
        for name in [WAITING, MEASURE_AT] {
            let _ = fs::remove_file(folder.join(name));
        }
        coordinator.hold();
        Ok(Self {
            folder: folder.to_path_buf(),
            answers: Questions::start()?,
            looked: Instant::now(),
            has_told: false,
            is_open: false,
        })
    }

    /// Reports once that the run is waiting, and opens when the other program has answered.
    pub(super) fn look(&mut self, coordinator: &Coordinator) {
        if self.is_open {
            return;
        }
        if !self.has_told && coordinator.is_waiting() {
            self.has_told = true;
            let waiting = self.folder.join(WAITING);
            // An agent that cannot see it will report that the warm-up took too long.
            self.answers.ask(&self.folder, move || fs::write(waiting, "").ok().and(None));
        }
        let is_due = self.looked.elapsed() >= BETWEEN_LOOKS && self.answers.waiting().is_none();
        if self.has_told && is_due {
            self.looked = Instant::now();
            let answer = self.folder.join(MEASURE_AT);
            self.answers
                .ask(&self.folder, move || fs::read_to_string(answer).ok()?.trim().parse().ok());
        }
        if let Some(at_ns) = self.answers.answers().into_iter().flatten().next() {
            self.is_open = true;
            coordinator.release(Nanos(at_ns).since(OsClock::new().epoch()));
        }
    }
}
