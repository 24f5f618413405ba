//! Level 2: a plan's load on an array by the operation model, at the plan's own sizes.

mod paced;
mod search;
mod shares;

use std::cell::Cell;
use std::rc::Rc;

use plan::{Database, Plan};
use record::{
    DatabaseInterval, Edge, Event, Finished, FlashCacheInterval, Interval, IntervalCounters,
    LogLine, Phase, PhaseMark, Series,
};
use simdisk::operations::{
    LoadedDatabase, OperationLoad, OperationPace, OperationProfile, OperationRun,
};
use simdisk::{HostProcessors, MemorySettling, room_of_database};
use units::Nanos;

use super::alike::Alike;
use super::scan::scan;
use super::series::OperationSeries;
use super::storage::{LOG_ROOM, SimulatedStorage};
use super::{SimulationOrder, flash_cache};
use crate::error::HostError;
use shares::ArrayShares;

/// Minimum warm-up before anything is counted, so that queues fill. The array's memory may take
/// longer.
const WARM_UP: Nanos = Nanos::from_secs(30);

/// Extension of the warm-up, repeated until the array's memory has settled.
const WARM_UP_STEP: Nanos = Nanos::from_secs(10);

/// Plays the load of an order and reports its events, except for the first and the last.
pub(super) fn play(
    order: &SimulationOrder<'_>,
    profile: &OperationProfile,
    told: &mut dyn FnMut(Event) -> bool,
) -> Result<Finished, HostError> {
    let alike = Alike::of(order.storage, order.plan);
    let words = alike.words();
    let now = Nanos::ZERO;
    let share_now = Rc::new(Cell::new(1.0));
    let cached = FlashCacheInterval::default();
    let is_stopped = false;
    let mut playback = Playback { order, profile, alike, share_now, told, now, is_stopped, cached };
    if let Some(words) = words {
        playback.log(words);
    }
    playback.log(format!(
        "operation model: {} batches of the engine were measured; {:.1} reads, {:.1} page writes \
         and {:.0} bytes of log each",
        profile.batches.len(),
        profile.mean(|span| u64::from(span.reads + span.reads_beside)),
        profile.mean(|span| u64::from(span.reads + span.reads_beside)) * profile.writes_per_read(),
        profile.mean(|span| span.log_bytes),
    ));
    if let Some(target) = trial::held_from_start(order.plan) {
        playback.log(format!("held at {target} IOPS in all from the first request"));
    }
    let plan = search::settled(&mut playback)?;
    let paced = paced::profile(&playback, &plan)?;
    let mut playback = Playback { profile: &paced, ..playback };
    let begun = playback.now;
    playback.cached = FlashCacheInterval::default();
    let mut run = playback.operation_run(&plan)?;
    playback.phase((&mut run, begun), Phase::Warm, WARM_UP);
    playback.phase((&mut run, begun), Phase::Measure, plan.test.duration);
    let reason = playback.is_stopped.then(|| "stopped by the user".to_owned());
    let at_ns = playback.now.0;
    Ok(Finished {
        at_ns,
        interrupted: reason.is_some(),
        reason,
        is_for_room: false,
        is_overdue: false,
        was_stopped: false,
    })
}

/// The profile with bursts of page writes at the pace of the order's array.
pub(super) fn at_pace(
    order: &SimulationOrder<'_>,
    profile: &OperationProfile,
) -> Result<OperationProfile, HostError> {
    let alike = Alike::of(order.storage, order.plan);
    let told = &mut |_| true;
    let cached = FlashCacheInterval::default();
    let now = Nanos::ZERO;
    let share_now = Rc::new(Cell::new(1.0));
    let is_stopped = false;
    let playback = Playback { order, profile, alike, share_now, told, now, is_stopped, cached };
    paced::profile(&playback, order.plan)
}

/// Returns where each database and its log are: databases in sequence in their place's share of an
/// array, with space to grow, followed by their logs.
fn databases<'a>(
    order: &SimulationOrder<'_>,
    plan: &'a Plan,
    (simulated, share_now): (&[&'a Database], &Rc<Cell<f64>>),
) -> Result<Vec<LoadedDatabase<'a>>, HostError> {
    let mut shares = ArrayShares::of(order.storage, plan.size.0, simulated);
    let mut places = Vec::new();
    for database in simulated {
        let [own, _] = SimulatedStorage::places_of(database);
        places.push(shares.placed(own, plan.size.0)?);
        // Space to grow as at level 1, so that seeks are equally long; left out if the share is too
        // small.
        let beside =
            simulated.iter().filter(|of| SimulatedStorage::places_of(of)[0] == own).count();
        let room = room_of_database(plan.size.0);
        if (room + LOG_ROOM) * beside as u64 <= shares.length(own) {
            shares.take(own, room - plan.size.0);
        }
    }
    let mut loaded = Vec::new();
    for (database, place) in simulated.iter().zip(places) {
        let log = shares.placed(SimulatedStorage::places_of(database)[1], LOG_ROOM)?;
        let share_now = Rc::clone(share_now);
        let held = trial::pace_of(plan, database, move || share_now.get());
        loaded.push(LoadedDatabase {
            sessions: trial::sessions_of(plan, database),
            place,
            log,
            pace: held.map(|pace| Box::new(pace) as OperationPace<'_>),
            profile: None,
        });
    }
    Ok(loaded)
}

/// A load that is played, sample by sample, until its listener asks to stop.
pub(super) struct Playback<'a, 'b> {
    pub order: &'b SimulationOrder<'b>,
    pub profile: &'a OperationProfile,
    alike: Alike,
    /// Currently held share of the target.
    share_now: Rc<Cell<f64>>,
    told: &'b mut dyn FnMut(Event) -> bool,
    pub now: Nanos,
    pub is_stopped: bool,
    /// The last reading of the caches of the host.
    cached: FlashCacheInterval,
}

impl<'a> Playback<'a, '_> {
    /// The load of `plan`, at its start. `plan` is the order's plan, with the load that a search
    /// has chosen.
    pub(super) fn operation_run<'p>(&self, plan: &'p Plan) -> Result<OperationRun<'p>, HostError>
    where
        'a: 'p,
    {
        let storage = self.order.storage;
        let simulated: Vec<&Database> =
            self.alike.simulated.iter().map(|&at| &plan.databases[at]).collect();
        let arrays = storage.arrays(simulated.iter().copied());
        let load = OperationLoad {
            profile: self.profile,
            databases: databases(self.order, plan, (&simulated, &self.share_now))?,
            rest_percent: self.order.rest_percent,
            scan: scan(plan),
            processors: HostProcessors::of(&storage.array),
        };
        OperationRun::new(&arrays, load, self.order.seed)
            .map_err(|error| HostError::new(error.to_string()))
    }

    pub(super) fn tell(&mut self, event: Event) {
        self.is_stopped |= !(self.told)(event);
    }

    pub(super) fn log(&mut self, text: String) {
        self.tell(Event::Log(LogLine { at_ns: self.now.0, text }));
    }

    pub(super) fn mark(&mut self, phase: Phase, edge: Edge) {
        self.tell(Event::Phase(PhaseMark { at_ns: self.now.0, phase, edge }));
    }

    /// Plays a phase of a run that began at `begun`, unless it is stopped.
    fn phase(&mut self, (run, begun): (&mut OperationRun<'_>, Nanos), phase: Phase, span: Nanos) {
        if self.is_stopped {
            return;
        }
        let order = self.order;
        let test = &order.plan.test;
        let mut settling = MemorySettling::default();
        let (began, mut end) = (self.now, self.now + span);
        let hours = order.plan.workload.day.map(|day| day.measured_percent(test.duration));
        self.mark(phase, Edge::Begin);
        while !self.is_stopped && self.now < end {
            let to = (self.now + test.interval).min(end);
            if let Some(hours) = hours {
                let measured = if phase == Phase::Measure { self.now.since(began).0 } else { 0 };
                self.share_now.set(record::hourly_share(&hours, measured));
            }
            let mut sampled = vec![OperationSeries::default(); self.alike.simulated.len()];
            run.advance(Nanos(to.since(begun).0), &mut |answer| {
                sampled[answer.database].note(&answer, false);
            });
            let cache = self.cache_activity(run);
            self.sampled((phase, to), &sampled, cache);
            let filled = run.filled_memory().filter(|_| phase == Phase::Warm);
            if filled.is_some_and(|filled| !settling.is_settled(to, filled)) && to == end {
                end += WARM_UP_STEP;
            }
        }
        self.mark(phase, Edge::End);
    }

    /// Returns the activity of the host's caches since the last call.
    fn cache_activity(&mut self, run: &OperationRun<'_>) -> Option<FlashCacheInterval> {
        let now = flash_cache::joined(run.host_caches())?;
        let activity = now.since(&self.cached);
        self.cached = now;
        Some(activity)
    }

    /// Reports everything that came up to a moment of a phase.
    fn sampled(
        &mut self,
        (phase, to): (Phase, Nanos),
        all: &[OperationSeries],
        cache: Option<FlashCacheInterval>,
    ) {
        let like = (0..).zip(&self.alike.like);
        let databases = like.map(|(index, &place)| self.interval(index, &all[place]));
        let interval = Interval {
            phase,
            from_ns: self.now.0,
            to_ns: to.0,
            databases: databases.collect(),
            host: None,
            processors: None,
            flash_cache: cache.map(Box::new),
        };
        self.now = to;
        self.tell(Event::Interval(interval));
    }

    fn interval(&self, index: u32, series: &OperationSeries) -> DatabaseInterval {
        let batches = series.count(Series::Transaction);
        let counters = IntervalCounters {
            transactions_durable: of_batches(batches, self.profile.mean(|of| of.is_durable.into())),
            transactions_lazy: of_batches(batches, self.profile.mean(|of| (!of.is_durable).into())),
            pages_written: series.bytes(Series::DatabaseWrite) / self.order.plan.page_size.0,
            log_volume_bytes: series.bytes(Series::LogWrite),
            ..IntervalCounters::default()
        };
        let series = series.all();
        DatabaseInterval { index, series, counters, ..DatabaseInterval::default() }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of one interval"
)]
fn of_batches(batches: u64, each: f64) -> u64 {
    (batches as f64 * each).round() as u64
}
