//! Keeps the groups of a run in phase: nobody measures before everybody is warm.
//!
//! Groups run on threads of their own and may not wait for each other with locks, since a waiting
//! thread would not see its completions. They meet by looking at a few atomics.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::SeqCst};

use device::Runtime;
use units::Nanos;

use crate::sampler::Sums;
use crate::tune;

/// How often a waiting group looks.
const LOOK: Nanos = Nanos::from_millis(5);

/// Where groups wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Barrier {
    /// All databases are open.
    Opened,
    /// All caches are filled.
    Warm,
    /// The number of sessions is found.
    Tuned,
    /// The load has ended.
    Measured,
    /// All databases are closed.
    Drained,
    /// All pages are verified.
    Checked,
}

impl Barrier {
    /// All of them, in the order of a run.
    pub const ALL: [Self; 6] = [
        Self::Opened,
        Self::Warm,
        Self::Tuned,
        Self::Measured,
        Self::Drained,
        Self::Checked,
    ];
}

/// Why a run ends before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A person asked for it.
    Interrupted,
    /// The storage failed, or a database could not be opened.
    Failed,
}

/// What the groups of one run share. Put it into an `Arc`; a signal handler may hold one too.
#[derive(Debug)]
pub struct Coordinator {
    groups: u32,
    barriers: [Meeting; Barrier::ALL.len()],
    steps: [StepMeeting; tune::MOST_STEPS],
    /// 0: no stop; else see [`Coordinator::stop`].
    stop: AtomicU8,
    lag: AtomicU64,
}

#[derive(Debug, Default)]
struct Meeting {
    arrived: AtomicU32,
    latest: AtomicU64,
}

/// Where groups add up what they saw of one number of sessions.
#[derive(Debug, Default)]
struct StepMeeting {
    arrived: AtomicU32,
    requests: AtomicU64,
    reads: AtomicU64,
    read_nanos: AtomicU64,
    log_writes: AtomicU64,
    log_write_nanos: AtomicU64,
}

impl Coordinator {
    /// For `groups` groups.
    pub fn new(groups: u32) -> Self {
        Self {
            groups,
            barriers: Default::default(),
            steps: Default::default(),
            stop: AtomicU8::new(0),
            lag: AtomicU64::new(0),
        }
    }

    /// Asks every group to end its load. The first reason stands.
    pub fn stop(&self, reason: Stop) {
        let code = match reason {
            Stop::Interrupted => 1,
            Stop::Failed => 2,
        };
        // A second reason changes nothing, so the result does not matter.
        let _ = self.stop.compare_exchange(0, code, SeqCst, SeqCst);
    }

    /// Whether the groups have been asked to end, and why.
    pub fn stopped(&self) -> Option<Stop> {
        match self.stop.load(SeqCst) {
            0 => None,
            1 => Some(Stop::Interrupted),
            _ => Some(Stop::Failed),
        }
    }

    /// One group has reached `barrier`; every group arrives exactly once, failed or not.
    pub fn arrive(&self, barrier: Barrier, now: Nanos) {
        let meeting = &self.barriers[barrier as usize];
        meeting.latest.fetch_max(now.0, SeqCst);
        let before = meeting.arrived.fetch_add(1, SeqCst);
        assert!(before < self.groups, "a group arrives once");
    }

    /// When the last group arrived, once all have.
    pub fn passed(&self, barrier: Barrier) -> Option<Nanos> {
        let meeting = &self.barriers[barrier as usize];
        let all = meeting.arrived.load(SeqCst) == self.groups;
        all.then(|| Nanos(meeting.latest.load(SeqCst)))
    }

    /// Waits until all groups have arrived, and returns when the last one did.
    pub async fn wait(&self, barrier: Barrier, runtime: &Runtime) -> Nanos {
        loop {
            if let Some(at) = self.passed(barrier) {
                return at;
            }
            runtime.sleep(LOOK).await;
        }
    }

    /// Adds what one group saw in step `number` of the search for the number of sessions, and waits
    /// for the others; what all saw together. None where the run is to end.
    pub(crate) async fn add_up(
        &self,
        number: usize,
        seen: Sums,
        runtime: &Runtime,
    ) -> Option<Sums> {
        let step = &self.steps[number];
        step.requests.fetch_add(seen.requests, SeqCst);
        step.reads.fetch_add(seen.reads, SeqCst);
        step.read_nanos.fetch_add(seen.read_nanos, SeqCst);
        step.log_writes.fetch_add(seen.log_writes, SeqCst);
        step.log_write_nanos.fetch_add(seen.log_write_nanos, SeqCst);
        step.arrived.fetch_add(1, SeqCst);
        while step.arrived.load(SeqCst) < self.groups {
            if self.stopped().is_some() {
                return None;
            }
            runtime.sleep(LOOK).await;
        }
        Some(Sums {
            requests: step.requests.load(SeqCst),
            reads: step.reads.load(SeqCst),
            read_nanos: step.read_nanos.load(SeqCst),
            log_writes: step.log_writes.load(SeqCst),
            log_write_nanos: step.log_write_nanos.load(SeqCst),
        })
    }

    /// Arrives and waits.
    pub async fn meet(&self, barrier: Barrier, runtime: &Runtime) -> Nanos {
        self.arrive(barrier, runtime.now());
        self.wait(barrier, runtime).await
    }

    /// Notes that completions were seen late by up to `lag`.
    pub(crate) fn note_lag(&self, lag: Nanos) {
        self.lag.fetch_max(lag.0, SeqCst);
    }

    /// The longest lag noted by any group since the last call.
    pub(crate) fn take_lag(&self) -> Nanos {
        Nanos(self.lag.swap(0, SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::{Barrier, Coordinator, Stop};

    #[test]
    fn a_barrier_passes_when_the_last_group_arrives() {
        let coordinator = Coordinator::new(3);
        coordinator.arrive(Barrier::Warm, Nanos(7));
        coordinator.arrive(Barrier::Warm, Nanos(9));
        assert_eq!(coordinator.passed(Barrier::Warm), None);
        coordinator.arrive(Barrier::Warm, Nanos(8));
        assert_eq!(coordinator.passed(Barrier::Warm), Some(Nanos(9)));
        assert_eq!(coordinator.passed(Barrier::Opened), None);
    }

    #[test]
    fn the_first_reason_to_stop_stands() {
        let coordinator = Coordinator::new(1);
        assert_eq!(coordinator.stopped(), None);
        coordinator.stop(Stop::Failed);
        coordinator.stop(Stop::Interrupted);
        assert_eq!(coordinator.stopped(), Some(Stop::Failed));
    }

    #[test]
    fn lag_is_the_longest_of_all_groups() {
        let coordinator = Coordinator::new(2);
        coordinator.note_lag(Nanos(5));
        coordinator.note_lag(Nanos(3));
        assert_eq!(coordinator.take_lag(), Nanos(5));
        assert_eq!(coordinator.take_lag(), Nanos::ZERO);
    }
}
