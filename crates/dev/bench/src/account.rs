//! Adds up a run's events, and ends the run when there are enough.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use device::{Observation, Observer, OpKind, Purpose};
use plan::Plan;
use record::{Event, Phase};
use trial::{Coordinator, Stop};

use crate::budget::Totals;

/// The load has settled when its log is twice the checkpoint's depth: by then pages are written
/// both for the checkpoint and to free space in the cache.
const SETTLED_DEPTHS: u64 = 2;

/// Counts of one run.
pub(crate) struct Account {
    settles_at: u64,
    most_batches: u64,
    coordinator: Arc<Coordinator>,
    /// Totals since the database was opened.
    pub whole: RefCell<Totals>,
    /// Totals of the measurement, after the load has settled.
    pub settled: RefCell<Totals>,
}

impl Account {
    /// Accounts for a run of `plan` that must stop after `most_batches` of the settled load.
    pub(crate) fn new(plan: &Plan, coordinator: &Arc<Coordinator>, most_batches: u64) -> Self {
        Self {
            settles_at: SETTLED_DEPTHS * plan.checkpoint_depth.0,
            most_batches,
            coordinator: Arc::clone(coordinator),
            whole: RefCell::default(),
            settled: RefCell::default(),
        }
    }

    /// Adds the counts of an interval; other events do not count.
    pub(crate) fn note(&self, event: &Event) {
        let Event::Interval(interval) = event else {
            return;
        };
        for database in &interval.databases {
            let totals = Totals::of(database, interval.to_ns - interval.from_ns);
            let has_settled = self.whole.borrow().log_volume >= self.settles_at;
            *self.whole.borrow_mut() += totals;
            if has_settled && interval.phase == Phase::Measure {
                *self.settled.borrow_mut() += totals;
            }
        }
        if self.settled.borrow().batches >= self.most_batches {
            self.coordinator.stop(Stop::Interrupted);
        }
    }
}

/// Bytes written to log files, from the first opening to the last closing. Counting from a point in
/// the middle would miss the formatting of the file in use at that point.
#[derive(Default)]
pub(crate) struct LogBytes(pub Cell<u64>);

impl Observer for LogBytes {
    fn observe(&self, observation: &Observation) {
        let is_log = matches!(observation.purpose, Purpose::Log | Purpose::LogFormat);
        if is_log && observation.kind == OpKind::Write && observation.ok {
            self.0.set(self.0.get() + observation.length as u64);
        }
    }
}
