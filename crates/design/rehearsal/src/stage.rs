//! One group of hosts on its arrays: every copy is two loads on the same bytes, one from users and
//! one from replay, at most one of which runs.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use simdisk::operations::{
    LoadedDatabase, OperationFlow, OperationLoad, OperationPace, OperationPlace, OperationProfile,
    OperationRun, ScanShape,
};
use simdisk::{ArrayDescription, HostProcessors};
use units::{Nanos, Seed};

use crate::replay::READS_AHEAD;
use crate::{Duty, HostGroup, PlayedCopy, PlayedDeployment, ShapeError, Stretch};

/// Bytes of one request of a reseed.
const SEED_REQUEST_BYTES: u64 = 1 << 20;

/// Maximum time by which a load may fall behind its pace and still catch up.
const MOST_BEHIND_NS: f64 = 1e9;

/// Factor by which loads aim above their target, so that they reach it.
const MARGIN: f64 = 1.01;

/// A copy of the group.
pub(crate) struct StagedCopy {
    /// Numbers of its database and of the copy.
    pub of: (usize, usize),
    /// Its duty in the current stretch.
    pub duty: Duty,
    /// Replay speed: that of the load, or faster.
    speed: Rc<Cell<f64>>,
    place: OperationPlace,
    /// Number of the flow that seeds it.
    seeding: Option<usize>,
    /// Flows that read it for other copies, with those copies.
    sources: Vec<((usize, usize), usize)>,
}

/// A group that is being played.
pub(crate) struct GroupStage<'a> {
    deployment: &'a PlayedDeployment,
    /// Numbers of its arrays in the deployment.
    pub arrays: Vec<usize>,
    pub run: OperationRun<'a>,
    pub copies: Vec<StagedCopy>,
    /// Whether its load has begun: a copy that becomes active later has a cold cache.
    is_begun: bool,
}

impl<'a> GroupStage<'a> {
    /// The group with every load idle. `replays` are the profiles of replay, one for each profile.
    pub(crate) fn new(
        deployment: &'a PlayedDeployment,
        replays: &'a [OperationProfile],
        group: &HostGroup,
        (scan, rest_percent, seed): (Option<ScanShape>, u32, Seed),
    ) -> Result<Self, ShapeError> {
        let mut copies = Vec::new();
        let mut databases = Vec::new();
        for &of in &group.copies {
            let copy = &deployment.databases[of.0].copies[of.1];
            let speed = Rc::new(Cell::new(1.0));
            let staged = Staging { deployment, group, of, copy };
            databases.push(staged.active(&deployment.profiles));
            databases.push(staged.replay(replays, &speed));
            let (duty, place) = (Duty::Idle, staged.here(copy.place));
            let (seeding, sources) = (None, Vec::new());
            copies.push(StagedCopy { of, duty, speed, place, seeding, sources });
        }
        let arrays: Vec<ArrayDescription> =
            group.arrays.iter().map(|&array| deployment.arrays[array].clone()).collect();
        let load = OperationLoad {
            profile: &deployment.profiles[0],
            databases,
            rest_percent,
            scan,
            processors: arrays.first().and_then(HostProcessors::of),
        };
        let mut run = OperationRun::new(&arrays, load, seed)
            .map_err(|error| ShapeError::Array { why: error.to_string() })?;
        for load in 0..copies.len() * 2 {
            run.set_running(load, false);
        }
        Ok(Self { deployment, arrays: group.arrays.clone(), run, copies, is_begun: false })
    }

    /// Assigns every copy its duty in `stretch`, and fails the drives due to fail.
    pub(crate) fn enter(&mut self, stretch: &Stretch) {
        for at in 0..self.copies.len() {
            let (database, copy) = self.copies[at].of;
            let duties = &stretch.duties[database];
            let duty = duties[copy];
            self.set_duty(at, duty);
            self.feed(at, duties);
        }
        self.is_begun = true;
        for &array in &stretch.failed_drives {
            if let Some(own) = self.arrays.iter().position(|of| *of == array) {
                self.run.fail_drive(own);
                self.run.rebuild_from_now(own, self.deployment.rules.rebuild_rate);
            }
        }
    }

    fn set_duty(&mut self, at: usize, duty: Duty) {
        let state = &mut self.copies[at];
        let replays = matches!(duty, Duty::Replaying | Duty::CatchingUp);
        let rules = self.deployment.rules;
        state.speed.set(if duty == Duty::CatchingUp { rules.catch_up } else { 1.0 });
        if duty == Duty::Active && state.duty != Duty::Active && self.is_begun {
            self.run.cool(2 * at);
        }
        self.run.set_running(2 * at, duty == Duty::Active);
        self.run.set_running(2 * at + 1, replays && rules.replay_share > 0.0);
        let rate = duty.seeding().map(|(_, rate)| rate);
        match (state.seeding, rate) {
            (None, Some(rate)) => {
                state.seeding = Some(self.run.begin_flow(flow(state.place, rate, true)));
            }
            (Some(flow), None) => {
                self.run.end_flow(flow);
                state.seeding = None;
            }
            _ => {}
        }
        state.duty = duty;
    }

    /// Reads a copy only for the copies now being seeded from it.
    fn feed(&mut self, at: usize, duties: &[Duty]) {
        let state = &mut self.copies[at];
        let (database, copy) = state.of;
        let wanted: BTreeMap<(usize, usize), f64> = (0..duties.len())
            .filter_map(|of| Some((of, duties[of].seeding()?)))
            .filter(|(_, (source, _))| *source == copy)
            .map(|(of, (_, rate))| ((database, of), rate))
            .collect();
        for (_, flow) in state.sources.extract_if(.., |(of, _)| !wanted.contains_key(of)) {
            self.run.end_flow(flow);
        }
        for (target, rate) in wanted {
            if !state.sources.iter().any(|(of, _)| *of == target) {
                let flow = flow(state.place, rate, false);
                state.sources.push((target, self.run.begin_flow(flow)));
            }
        }
    }

    /// Bytes moved by each of the [`Self::flows`].
    pub(crate) fn seeded(&self) -> Vec<u64> {
        self.flows().into_iter().map(|flow| self.run.flow_bytes(flow)).collect()
    }

    /// Flows in progress, by copy: the one that seeds it, then those that read it for others.
    pub(crate) fn flows(&self) -> Vec<usize> {
        self.copies
            .iter()
            .flat_map(|of| of.seeding.into_iter().chain(of.sources.iter().map(|of| of.1)))
            .collect()
    }

    /// Active copies with cold caches, and the reads left until they are warm.
    pub(crate) fn cold(&self) -> Vec<(usize, u64)> {
        (0..self.copies.len())
            .filter(|&at| self.copies[at].duty == Duty::Active)
            .map(|at| (at, self.run.cold_reads_left(2 * at)))
            .filter(|(_, left)| *left > 0)
            .collect()
    }

    /// Skips `reads` of a copy with a cold cache.
    pub(crate) fn skip_cold_reads(&mut self, at: usize, reads: u64) {
        self.run.skip_cold_reads(2 * at, reads);
    }

    /// Bytes rebuilt and length of each failed drive, by array number in the group.
    pub(crate) fn rebuilding(&self) -> Vec<(usize, (u64, u64))> {
        (0..self.arrays.len())
            .filter_map(|array| Some((array, self.run.rebuild_state(array)?)))
            .collect()
    }

    /// Returns the copy that a load of the run belongs to, and whether it is replay.
    pub(crate) const fn owner(load: usize) -> (usize, bool) {
        (load / 2, load % 2 == 1)
    }
}

fn flow(place: OperationPlace, rate: f64, is_write: bool) -> OperationFlow {
    OperationFlow { place, request_bytes: SEED_REQUEST_BYTES, rate, is_write }
}

/// One copy that becomes two loads.
struct Staging<'a, 'b> {
    deployment: &'a PlayedDeployment,
    group: &'b HostGroup,
    of: (usize, usize),
    copy: &'b PlayedCopy,
}

impl<'a> Staging<'a, '_> {
    /// `place` with its array renumbered within the group.
    fn here(&self, place: OperationPlace) -> OperationPlace {
        let array = self.group.arrays.iter().position(|of| *of == place.array).unwrap_or(0);
        OperationPlace { array, ..place }
    }

    fn active(&self, profiles: &'a [OperationProfile]) -> LoadedDatabase<'a> {
        let database = &self.deployment.databases[self.of.0];
        let profile = &profiles[database.profile];
        let pace = database
            .iops
            .map(|iops| pace(iops * MARGIN, (profile, database.sessions), Rc::new(Cell::new(1.0))));
        self.loaded(profile, database.sessions, pace)
    }

    /// Replay uses as many sessions as there are reads ahead. A database without a target replays
    /// as fast as its disks allow.
    fn replay(&self, replays: &'a [OperationProfile], speed: &Rc<Cell<f64>>) -> LoadedDatabase<'a> {
        let database = &self.deployment.databases[self.of.0];
        let profile = &replays[database.profile];
        let share = self.deployment.rules.replay_share;
        let iops = database.iops.filter(|_| share > 0.0);
        let pace =
            iops.map(|iops| pace(iops * share * MARGIN, (profile, READS_AHEAD), Rc::clone(speed)));
        self.loaded(profile, READS_AHEAD, pace)
    }

    fn loaded(
        &self,
        profile: &'a OperationProfile,
        sessions: u32,
        pace: Option<OperationPace<'a>>,
    ) -> LoadedDatabase<'a> {
        let (place, log) = (self.here(self.copy.place), self.here(self.copy.log));
        LoadedDatabase { sessions, place, log, pace, profile: Some(profile) }
    }
}

/// Paces a load at `iops` times `speed`: decides when its next batch may start. A batch in flight
/// counts as its unanswered requests.
fn pace<'a>(
    iops: f64,
    (profile, sessions): (&OperationProfile, u32),
    speed: Rc<Cell<f64>>,
) -> OperationPace<'a> {
    let reads = profile.mean(|span| u64::from(span.reads + span.reads_beside));
    let batch = reads * (1.0 + profile.writes_per_read());
    let (mut due, mut seen) = (0.0_f64, 0_u64);
    Box::new(move |requests, under_way, now| {
        let gap = 1e9 / (iops * speed.get());
        let new = (requests - seen) as f64 * gap;
        seen = requests;
        due = (due + new).max(now.0 as f64 - MOST_BEHIND_NS);
        let each = (batch / 2.0 * gap).min(MOST_BEHIND_NS / f64::from(sessions));
        moment(due + each * f64::from(under_way))
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "played time is positive and far below 2^53 ns"
)]
fn moment(nanoseconds: f64) -> Nanos {
    Nanos(nanoseconds.max(0.0) as u64)
}
