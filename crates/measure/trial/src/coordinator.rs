//! Keeps the groups of a run in phase: none measures before all are warm.
//!
//! Groups run on separate threads and may not use locks to wait for each other, since a waiting
//! thread would not see its completions. They synchronise by polling a few atomics.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::SeqCst};

use device::Runtime;
use units::Nanos;

use crate::countdown::Countdown;
use crate::load_steps::LoadSteps;
use crate::sums::Sums;
use crate::tune::{self, TuneStep};

/// Polling interval of a waiting group.
const LOOK: Nanos = Nanos::from_millis(5);

/// Start of a measurement that waits for [`Coordinator::release`].
const HELD: u64 = u64::MAX;

/// A point at which groups wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Barrier {
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
    /// All logs are replayed.
    Replayed,
    /// All pages are verified.
    Checked,
}

impl Barrier {
    /// All barriers, in the order of a run.
    pub(crate) const ALL: [Self; 7] = [
        Self::Opened,
        Self::Warm,
        Self::Tuned,
        Self::Measured,
        Self::Drained,
        Self::Replayed,
        Self::Checked,
    ];
}

/// Why a run ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The user asked for it.
    Interrupted,
    /// The storage failed, or a database could not be opened.
    Failed,
    /// A volume was nearly full.
    NoRoom,
    /// A part of the run exceeded its time limit.
    Overdue,
}

/// State shared by the groups of one run. Put it into an `Arc`; a signal handler may hold one too.
#[derive(Debug)]
pub struct Coordinator {
    groups: u32,
    barriers: [Meeting; Barrier::ALL.len()],
    steps: [StepMeeting; tune::MOST_STEPS],
    /// 0 for no stop; see [`Coordinator::stop`] for the other values.
    stop: AtomicU8,
    lag: AtomicU64,
    /// When the measurement may begin; [`HELD`] until then.
    begin: AtomicU64,
    /// How the held load changes during the measurement.
    load_steps: LoadSteps,
    /// Number of members so far, from which each gets its number.
    members: AtomicU32,
    /// When each group was last seen at work, by its number; see [`Coordinator::seen`].
    beats: Box<[AtomicU64]>,
}

/// One group's membership. If it is dropped early, by a panic or because its thread never started,
/// the run ends and no other group waits for this one.
#[derive(Debug)]
pub struct Member {
    coordinator: Arc<Coordinator>,
    number: usize,
    /// Number of barriers reached; a group passes all of them, in order.
    reached: Cell<usize>,
    /// Remaining time of the current part of the run.
    pub(crate) countdown: Countdown,
}

impl Member {
    /// Creates the membership of one group of `coordinator`; each group needs one.
    pub fn new(coordinator: &Arc<Coordinator>) -> Self {
        let number = coordinator.members.fetch_add(1, SeqCst);
        assert!(number < coordinator.groups, "one member for each group");
        Self {
            coordinator: Arc::clone(coordinator),
            number: number as usize,
            reached: Cell::new(0),
            countdown: Countdown::default(),
        }
    }

    /// State shared with the others.
    pub const fn coordinator(&self) -> &Arc<Coordinator> {
        &self.coordinator
    }

    /// Records that the group has reached `barrier`.
    pub(crate) fn arrive(&self, barrier: Barrier, now: Nanos) {
        assert_eq!(self.reached.get(), barrier as usize, "barriers have an order");
        self.reached.set(barrier as usize + 1);
        self.coordinator.arrive(barrier, now);
    }

    /// Arrives at `barrier`, waits for all groups, and returns the time at which the last one
    /// arrived.
    pub(crate) async fn meet(&self, barrier: Barrier, runtime: &Runtime) -> Nanos {
        self.arrive(barrier, runtime.now());
        self.coordinator.wait(barrier, runtime).await
    }

    /// Reports that the group is alive.
    pub(crate) fn beat(&self, now: Nanos) {
        self.coordinator.beats[self.number].store(now.0.min(u64::MAX - 1), SeqCst);
    }

    /// Takes the group out of the run. If barriers remain, the whole run ends.
    pub fn leave(&self) {
        self.coordinator.beats[self.number].store(u64::MAX, SeqCst);
        for barrier in &Barrier::ALL[self.reached.replace(Barrier::ALL.len())..] {
            self.coordinator.stop(Stop::Failed);
            self.coordinator.arrive(*barrier, Nanos::ZERO);
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.leave();
    }
}

#[derive(Debug, Default)]
struct Meeting {
    arrived: AtomicU32,
    latest: AtomicU64,
}

/// Collects the groups' results for one number of sessions.
#[derive(Debug, Default)]
struct StepMeeting {
    arrived: AtomicU32,
    /// Thousandths of a request per second: integer sums do not depend on the order.
    milli_iops: AtomicU64,
    /// Thousandths of a stall per second.
    milli_stalls: AtomicU64,
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
            begin: AtomicU64::new(0),
            load_steps: LoadSteps::default(),
            members: AtomicU32::new(0),
            beats: (0..groups).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// The same, with a held load that changes during the measurement.
    #[must_use]
    pub fn with_load_steps(self, load_steps: LoadSteps) -> Self {
        Self { load_steps, ..self }
    }

    /// How the held load changes during the measurement.
    pub(crate) const fn load_steps(&self) -> &LoadSteps {
        &self.load_steps
    }

    /// When group `number`, in order of membership, was last seen at work: zero if it has not
    /// begun, `None` if it has left.
    pub fn seen(&self, number: usize) -> Option<Nanos> {
        let beat = self.beats[number].load(SeqCst);
        (beat != u64::MAX).then_some(Nanos(beat))
    }

    /// Asks every group to end its load. The first reason counts.
    pub fn stop(&self, reason: Stop) {
        let code = match reason {
            Stop::Interrupted => 1,
            Stop::Failed => 2,
            Stop::NoRoom => 3,
            Stop::Overdue => 4,
        };
        // A second reason changes nothing, so the result does not matter.
        let _ = self.stop.compare_exchange(0, code, SeqCst, SeqCst);
    }

    /// The reason if the groups have been asked to end.
    pub fn stopped(&self) -> Option<Stop> {
        match self.stop.load(SeqCst) {
            0 => None,
            1 => Some(Stop::Interrupted),
            3 => Some(Stop::NoRoom),
            4 => Some(Stop::Overdue),
            _ => Some(Stop::Failed),
        }
    }

    /// Keeps up the load once the number of sessions is found, until [`Coordinator::release`] sets
    /// the start of the measurement, so that several machines start at the same instant.
    pub fn hold(&self) {
        self.begin.store(HELD, SeqCst);
    }

    /// Lets a held run measure from `at` on the clock of its groups, or immediately if that has
    /// passed.
    pub fn release(&self, at: Nanos) {
        self.begin.store(at.0.min(HELD - 1), SeqCst);
    }

    /// Whether every group is ready to measure and waits for the release.
    pub fn is_waiting(&self) -> bool {
        self.begin.load(SeqCst) == HELD
            && self.passed(Barrier::Tuned).is_some()
            && self.stopped().is_none()
    }

    /// When the measurement begins, `earliest` or later; `None` if the run is stopped before.
    pub(crate) async fn begin(&self, earliest: Nanos, runtime: &Runtime) -> Option<Nanos> {
        loop {
            let begin = self.begin.load(SeqCst);
            if begin != HELD {
                return Some(Nanos(begin).max(earliest));
            }
            if self.stopped().is_some() {
                return None;
            }
            runtime.sleep(LOOK).await;
        }
    }

    /// Records that one group has reached `barrier`; every group arrives exactly once, failed or
    /// not.
    fn arrive(&self, barrier: Barrier, now: Nanos) {
        let meeting = &self.barriers[barrier as usize];
        meeting.latest.fetch_max(now.0, SeqCst);
        let before = meeting.arrived.fetch_add(1, SeqCst);
        assert!(before < self.groups, "a group arrives once");
    }

    /// When the last group arrived, once all have.
    fn passed(&self, barrier: Barrier) -> Option<Nanos> {
        let meeting = &self.barriers[barrier as usize];
        let all = meeting.arrived.load(SeqCst) == self.groups;
        all.then(|| Nanos(meeting.latest.load(SeqCst)))
    }

    /// Waits until all groups have arrived, and returns the time at which the last one did.
    async fn wait(&self, barrier: Barrier, runtime: &Runtime) -> Nanos {
        loop {
            if let Some(at) = self.passed(barrier) {
                return at;
            }
            runtime.sleep(LOOK).await;
        }
    }

    /// Adds one group's results of step `number` of the search, for `span` under `sessions`
    /// sessions of each database, and waits for the others. `None` if the run must end.
    ///
    /// Every group gets the same step, to the last digit. Each decides independently how to
    /// continue; if they disagreed, they would wait for each other forever.
    pub(crate) async fn add_up(
        &self,
        number: usize,
        sessions: u32,
        (seen, span): (Sums, Nanos),
        runtime: &Runtime,
    ) -> Option<TuneStep> {
        let step = &self.steps[number];
        step.milli_iops.fetch_add(thousandths_per_second(seen.requests, span), SeqCst);
        let stalls = thousandths_per_second(seen.page_fault_stalls, span);
        step.milli_stalls.fetch_add(stalls, SeqCst);
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
        Some(TuneStep {
            sessions,
            iops: step.milli_iops.load(SeqCst) as f64 / 1e3,
            read_average: mean(&step.read_nanos, &step.reads),
            log_write_average: mean(&step.log_write_nanos, &step.log_writes),
            stalls_per_second: step.milli_stalls.load(SeqCst) as f64 / 1e3,
        })
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

fn mean(nanos: &AtomicU64, count: &AtomicU64) -> Nanos {
    Nanos(nanos.load(SeqCst) / count.load(SeqCst).max(1))
}

/// The rate of `count` within `span`, in thousandths per second.
fn thousandths_per_second(count: u64, span: Nanos) -> u64 {
    let rate = u128::from(count) * 1_000_000_000_000 / u128::from(span.0.max(1));
    u64::try_from(rate).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::sync::Arc;

    use device::{Executor, VirtualReactor};
    use units::Nanos;

    use super::{Barrier, Coordinator, Member, Stop, thousandths_per_second};
    use crate::sums::Sums;
    use crate::tune::TuneStep;

    /// 1,000 requests each, in spans that differ by the lateness of a thread.
    #[test]
    fn groups_that_looked_for_different_spans_get_the_same_step() {
        let executor = Executor::new(VirtualReactor::new());
        let coordinator = Rc::new(Coordinator::new(2));
        let look = |millis| {
            let (coordinator, runtime) = (Rc::clone(&coordinator), executor.runtime());
            let seen = Sums {
                requests: 1_000,
                reads: 100,
                read_nanos: 250,
                page_fault_stalls: 3,
                ..Sums::default()
            };
            let span = Nanos::from_millis(millis);
            async move { coordinator.add_up(0, 8, (seen, span), &runtime).await }
        };
        let other = executor.runtime().spawn(look(612));
        let leader = look(600);
        let (leader, other) = executor.block_on(async move { (leader.await, other.await) });
        let together = TuneStep {
            sessions: 8,
            iops: 3_300.652,
            read_average: Nanos(2),
            log_write_average: Nanos::ZERO,
            stalls_per_second: 9.901,
        };
        assert_eq!((leader, other), (Some(together), Some(together)));
    }

    #[test]
    fn a_rate_without_time_is_no_division_by_zero() {
        assert_eq!(thousandths_per_second(0, Nanos::ZERO), 0);
        assert_eq!(thousandths_per_second(u64::MAX, Nanos::ZERO), u64::MAX);
    }

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
    fn a_group_that_goes_away_ends_the_run_and_holds_nothing_up() {
        let coordinator = Arc::new(Coordinator::new(2));
        let (stays, goes) = (Member::new(&coordinator), Member::new(&coordinator));
        goes.arrive(Barrier::Opened, Nanos(3));
        drop(goes);
        assert_eq!(coordinator.stopped(), Some(Stop::Failed));
        for barrier in Barrier::ALL {
            assert_eq!(coordinator.passed(barrier), None);
            stays.arrive(barrier, Nanos(5));
            assert_eq!(coordinator.passed(barrier), Some(Nanos(5)));
        }
    }

    #[test]
    fn a_group_that_has_come_to_its_end_stops_nothing() {
        let coordinator = Arc::new(Coordinator::new(1));
        let member = Member::new(&coordinator);
        for barrier in Barrier::ALL {
            member.arrive(barrier, Nanos(1));
        }
        drop(member);
        assert_eq!(coordinator.stopped(), None);
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
