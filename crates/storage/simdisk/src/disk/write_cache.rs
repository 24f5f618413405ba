//! The disk's own write memory: its contents are acknowledged at once and lost on power failure,
//! until a flush.

use std::collections::VecDeque;

use super::{DiskArm, MediaRequest, VirtualMoment, moment};

/// A disk and its write memory.
pub(crate) struct CachedDisk {
    arm: DiskArm,
    parameters: WriteCacheParameters,
    /// Bytes in use.
    held: u64,
    /// Acknowledged, and not handed to the arm.
    buffered: VecDeque<MediaRequest>,
    /// Acknowledged and handed to the arm, not yet completed.
    handed: usize,
    /// Writes that wait for room, or for a flush to end.
    for_room: VecDeque<MediaRequest>,
    /// Flushes that wait for an empty memory.
    flushes: Vec<u32>,
}

/// The write memory of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WriteCacheParameters {
    /// Size in bytes; 0 if there is none, or if it is switched off.
    pub bytes: u64,
    /// Whether the disk lies: it acknowledges durable writes and flushes without doing them.
    pub lies: bool,
}

/// Result of a disk's step.
#[derive(Debug, Default)]
pub(crate) struct DiskStep {
    /// End of the arm's new request.
    pub busy_until: Option<VirtualMoment>,
    /// Requests that are done.
    pub answered: Vec<u32>,
    /// Writes that enter volatile memory, and when each is acknowledged.
    pub taken: Vec<(MediaRequest, VirtualMoment)>,
    /// Acknowledged writes that have reached the medium.
    pub settled: Vec<MediaRequest>,
}

/// Acknowledged writes among which the arm chooses while room is wanted.
const HANDED_AT_A_TIME: usize = 32;

impl CachedDisk {
    pub(crate) const fn new(arm: DiskArm, parameters: WriteCacheParameters) -> Self {
        Self {
            arm,
            parameters,
            held: 0,
            buffered: VecDeque::new(),
            handed: 0,
            for_room: VecDeque::new(),
            flushes: Vec::new(),
        }
    }

    /// The mechanics.
    pub(crate) const fn arm(&self) -> &DiskArm {
        &self.arm
    }

    /// Takes a request.
    pub(crate) fn submit(&mut self, now: VirtualMoment, request: MediaRequest) -> DiskStep {
        let mut step = DiskStep::default();
        let is_durable = request.is_durable && !self.parameters.lies;
        if request.is_write && !is_durable && self.parameters.bytes > 0 {
            self.for_room.push_back(request);
            self.take(now, &mut step);
            self.settle(now, &mut step);
        } else {
            step.busy_until = self.arm.submit(now, request);
        }
        step
    }

    /// Takes a flush: it is done once everything that was acknowledged is on the medium.
    pub(crate) fn flush(&mut self, now: VirtualMoment, token: u32) -> DiskStep {
        let mut step = DiskStep::default();
        if self.parameters.lies || self.is_clean() {
            step.answered.push(token);
        } else {
            self.flushes.push(token);
            self.settle(now, &mut step);
        }
        step
    }

    /// Handles the completion of the arm's request.
    pub(crate) fn done(&mut self, now: VirtualMoment) -> DiskStep {
        let (request, busy_until) = self.arm.done(now);
        let mut step = DiskStep { busy_until, ..DiskStep::default() };
        if request.is_acknowledged {
            self.handed -= 1;
            self.held -= request.length;
            step.settled.push(request);
        } else {
            step.answered.push(request.token);
        }
        if self.is_clean() {
            step.answered.append(&mut self.flushes);
        }
        self.take(now, &mut step);
        self.settle(now, &mut step);
        step
    }

    const fn is_clean(&self) -> bool {
        self.held == 0
    }

    /// Acknowledges writes that fit, but none until a pending flush has ended.
    fn take(&mut self, now: VirtualMoment, step: &mut DiskStep) {
        let acknowledged = now + moment(self.arm.parameters.overhead);
        while let Some(&request) = self.for_room.front() {
            let has_room = self.held == 0 || self.held + request.length <= self.parameters.bytes;
            if !has_room || !self.flushes.is_empty() {
                return;
            }
            self.for_room.pop_front();
            self.held += request.length;
            self.buffered.push_back(MediaRequest { is_acknowledged: true, ..request });
            step.taken.push((request, acknowledged));
        }
    }

    /// Hands acknowledged writes to the arm: one while it has nothing else to do, many while room
    /// or a flush is waited for.
    fn settle(&mut self, now: VirtualMoment, step: &mut DiskStep) {
        let is_wanted = !self.for_room.is_empty() || !self.flushes.is_empty();
        let at_a_time = if is_wanted { HANDED_AT_A_TIME } else { 1 };
        while self.handed < at_a_time && (is_wanted || self.arm.is_idle()) {
            let Some(request) = self.buffered.pop_front() else {
                return;
            };
            self.handed += 1;
            let busy_until = self.arm.submit(now, request);
            step.busy_until = step.busy_until.or(busy_until);
        }
    }
}

#[cfg(test)]
mod tests {
    use units::{Prng, Seed};

    use super::super::tests::{parameters, random_read};
    use super::super::{DiskArm, MediaRequest, QueuePolicy};
    use super::{CachedDisk, DiskStep, WriteCacheParameters};

    const CACHE: WriteCacheParameters = WriteCacheParameters { bytes: 1 << 20, lies: false };

    /// A disk, and its results, in order of time.
    struct Bench {
        disk: CachedDisk,
        now: u64,
        due: Option<u64>,
        answered: Vec<u32>,
        settled: Vec<u32>,
    }

    impl Bench {
        fn new(cache: WriteCacheParameters) -> Self {
            let arm = DiskArm::new(parameters(QueuePolicy::Satf), 0.0);
            let disk = CachedDisk::new(arm, cache);
            Self { disk, now: 0, due: None, answered: Vec::new(), settled: Vec::new() }
        }

        fn note(&mut self, step: DiskStep) {
            self.due = self.due.or(step.busy_until);
            self.answered.extend(step.answered);
            self.answered.extend(step.taken.iter().map(|(request, _)| request.token));
            self.settled.extend(step.settled.iter().map(|request| request.token));
        }

        fn write(&mut self, prng: &mut Prng, token: u32, is_durable: bool) {
            let read = random_read(prng, token, self.now);
            let request = MediaRequest { is_write: true, is_durable, ..read };
            let step = self.disk.submit(self.now, request);
            self.note(step);
        }

        /// Advances to the next end of a request; false if the arm is idle.
        fn turn(&mut self) -> bool {
            let Some(due) = self.due.take() else {
                return false;
            };
            self.now = due;
            let step = self.disk.done(due);
            self.note(step);
            true
        }
    }

    #[test]
    fn volatile_writes_are_acknowledged_at_once_and_settle_while_the_disk_rests() {
        let (mut bench, mut prng) = (Bench::new(CACHE), Prng::new(Seed(1)));
        for token in 0..20 {
            bench.write(&mut prng, token, false);
        }
        assert_eq!((bench.answered.len(), bench.settled.len(), bench.now), (20, 0, 0));
        while bench.turn() {}
        assert_eq!((bench.answered.len(), bench.settled.len()), (20, 20));
    }

    #[test]
    fn a_full_memory_is_as_fast_as_a_disk_that_chooses() {
        let (mut bench, mut prng) = (Bench::new(CACHE), Prng::new(Seed(2)));
        for token in 0..1_000 {
            bench.write(&mut prng, token, false);
        }
        assert_eq!(bench.answered.len(), 32);
        while bench.answered.len() < 1_000 {
            assert!(bench.turn());
        }
        let milliseconds = bench.now as f64 / 1e6 / 968.0;
        assert!((2.0..4.0).contains(&milliseconds), "{milliseconds}");
    }

    #[test]
    fn a_flush_ends_when_the_memory_is_empty_and_a_durable_write_goes_past_it() {
        let (mut bench, mut prng) = (Bench::new(CACHE), Prng::new(Seed(3)));
        for token in 0..10 {
            bench.write(&mut prng, token, false);
        }
        let step = bench.disk.flush(bench.now, 100);
        bench.note(step);
        bench.write(&mut prng, 101, false);
        bench.write(&mut prng, 102, true);
        assert_eq!(bench.answered.len(), 10, "nothing is taken while a flush is under way");
        while !bench.answered.contains(&100) {
            assert!(bench.turn());
        }
        assert_eq!(bench.settled.iter().filter(|token| **token < 10).count(), 10);
        while bench.turn() {}
        assert!(bench.answered.contains(&101) && bench.answered.contains(&102));
        assert!(!bench.settled.contains(&102), "it never lay in volatile memory");
        let step = bench.disk.flush(bench.now, 103);
        bench.note(step);
        assert!(bench.answered.contains(&103), "an empty memory is flushed at once");
    }

    #[test]
    fn a_disk_that_lies_keeps_durable_writes_in_volatile_memory() {
        let lying = WriteCacheParameters { lies: true, ..CACHE };
        let (mut bench, mut prng) = (Bench::new(lying), Prng::new(Seed(4)));
        bench.write(&mut prng, 1, true);
        let step = bench.disk.flush(bench.now, 2);
        bench.note(step);
        assert_eq!((bench.answered.as_slice(), bench.settled.len()), ([1, 2].as_slice(), 0));
    }
}
