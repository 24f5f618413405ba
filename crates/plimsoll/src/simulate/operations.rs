//! Level 2: a plan's load on an array by the operation model, at the plan's own sizes.

use std::collections::BTreeMap;

use plan::Plan;
use record::{
    DatabaseInterval, Edge, Event, Finished, Interval, IntervalCounters, LogLine, Phase, PhaseMark,
    Series, SeriesInterval,
};
use simdisk::operations::{
    LoadedDatabase, OperationAnswer, OperationKind, OperationLoad, OperationPace, OperationPlace,
    OperationProfile, OperationRun, ScanShape,
};
use simdisk::{HostProcessors, room_of_database};
use units::{Bytes, Nanos};

use super::{SimulatedStorage, SimulationOrder};
use crate::error::CommandError;

/// What goes by before anything is counted: queues and the array's memory fill.
const WARM_UP: Nanos = Nanos::from_secs(30);

/// The room of a log, of which the oldest files are removed: the next ones take their place.
const LOG_ROOM: u64 = 16 << 30;

/// A read of the background scan.
const SCAN_BYTES: u64 = 256 << 10;

/// Plays the load of an order and tells its events, but for the first and the last.
pub(super) fn play(
    order: &SimulationOrder<'_>,
    profile: &OperationProfile,
    told: &mut dyn FnMut(Event) -> bool,
) -> Result<Finished, CommandError> {
    let plan = order.plan;
    let arrays = order.storage.arrays(plan);
    let load = OperationLoad {
        profile,
        databases: databases(order, arrays.len())?,
        rest_percent: order.rest_percent,
        scan: plan.test.maintenance_throttle.map(|pause| ScanShape { pause, bytes: SCAN_BYTES }),
        processors: HostProcessors::of(&order.storage.array),
    };
    let run = OperationRun::new(&arrays, load, order.seed)
        .map_err(|error| CommandError::new(error.to_string()))?;
    let mut playing = PlayedRun { run, plan, profile, told, now: Nanos::ZERO };
    let mut goes_on = playing.log(format!(
        "operation model: {} batches of the engine were measured; {:.1} reads, {:.1} page writes \
         and {:.0} bytes of log each",
        profile.batches.len(),
        profile.mean(|span| u64::from(span.reads + span.reads_beside)),
        profile.mean(|span| u64::from(span.reads + span.reads_beside)) * profile.writes_per_read(),
        profile.mean(|span| span.log_bytes),
    ));
    for (phase, span) in [(Phase::Warm, WARM_UP), (Phase::Measure, plan.test.duration)] {
        goes_on = goes_on && playing.phase(phase, span);
    }
    let reason = (!goes_on).then(|| "a person asked to stop".to_owned());
    let at_ns = playing.now.0;
    Ok(Finished { at_ns, interrupted: reason.is_some(), reason, is_for_room: false })
}

/// Where each database and its log lie: databases one behind the other in their folder's share of
/// an array, with room to grow, and their logs behind them.
fn databases<'a>(
    order: &SimulationOrder<'a>,
    arrays: usize,
) -> Result<Vec<LoadedDatabase<'a>>, CommandError> {
    let plan = order.plan;
    let folders = SimulatedStorage::folders(plan);
    let share = |folder: &str| {
        let index = folders.iter().position(|of| *of == folder).unwrap_or(0);
        let capacity = order.storage.array.capacity_bytes();
        if arrays > 1 {
            return OperationPlace { array: index, base: 0, bytes: capacity };
        }
        let each = capacity / folders.len() as u64;
        OperationPlace { array: 0, base: each * index as u64, bytes: each }
    };
    let mut taken: BTreeMap<&str, u64> = BTreeMap::new();
    let mut places = Vec::new();
    for database in &plan.databases {
        let folder = &*database.folder;
        let place = placed(share(folder), &mut taken, folder, plan.size.0)?;
        places.push(place);
        // As at level 1, where seeks are to be as long; room that is not there is left out.
        let in_folder = plan.databases.iter().filter(|of| of.folder == database.folder).count();
        let room = room_of_database(plan.size.0);
        if room * in_folder as u64 + LOG_ROOM * in_folder as u64 <= share(folder).bytes {
            *taken.entry(folder).or_default() += room - plan.size.0;
        }
    }
    let mut loaded = Vec::new();
    for (database, place) in plan.databases.iter().zip(places) {
        let log = placed(share(&database.log_folder), &mut taken, &database.log_folder, LOG_ROOM)?;
        loaded.push(LoadedDatabase {
            sessions: trial::sessions_of(plan, database),
            place,
            log,
            pace: trial::pace_of(plan, database).map(|pace| Box::new(pace) as OperationPace<'_>),
        });
    }
    Ok(loaded)
}

/// Takes `bytes` of a folder's share.
fn placed<'a>(
    share: OperationPlace,
    taken: &mut BTreeMap<&'a str, u64>,
    folder: &'a str,
    bytes: u64,
) -> Result<OperationPlace, CommandError> {
    let before = taken.entry(folder).or_default();
    let base = share.base + *before;
    *before += bytes;
    if *before > share.bytes {
        let room = Bytes(share.bytes);
        return Err(CommandError::new(format!(
            "{folder}: databases and logs of the plan take more than its share of the array, \
             which is {room}; simulate more or larger disks, or smaller databases"
        )));
    }
    Ok(OperationPlace { base, bytes, ..share })
}

/// A load that is played.
struct PlayedRun<'a, 'b> {
    run: OperationRun<'a>,
    plan: &'a Plan,
    profile: &'a OperationProfile,
    told: &'b mut dyn FnMut(Event) -> bool,
    now: Nanos,
}

impl PlayedRun<'_, '_> {
    fn log(&mut self, text: String) -> bool {
        (self.told)(Event::Log(LogLine { at_ns: self.now.0, text }))
    }

    fn mark(&mut self, phase: Phase, edge: Edge) -> bool {
        (self.told)(Event::Phase(PhaseMark { at_ns: self.now.0, phase, edge }))
    }

    /// Plays a phase, sample by sample; whether the run is to go on.
    fn phase(&mut self, phase: Phase, span: Nanos) -> bool {
        let end = self.now + span;
        let mut goes_on = self.mark(phase, Edge::Begin);
        while goes_on && self.now < end {
            let to = (self.now + self.plan.test.interval).min(end);
            goes_on = self.sample(phase, to);
        }
        self.mark(phase, Edge::End) && goes_on
    }

    fn sample(&mut self, phase: Phase, to: Nanos) -> bool {
        let mut sampled = vec![BTreeMap::new(); self.plan.databases.len()];
        self.run.advance(to, |answer| note(&mut sampled, &answer));
        let databases = (0..).zip(sampled).map(|(index, series)| self.interval(index, series));
        let interval = Interval {
            phase,
            from_ns: self.now.0,
            to_ns: to.0,
            databases: databases.collect(),
            host: None,
            processors: None,
        };
        self.now = to;
        (self.told)(Event::Interval(interval))
    }

    fn interval(&self, index: u32, series: BTreeMap<Series, SeriesInterval>) -> DatabaseInterval {
        let bytes = |of| series.get(&of).map_or(0, |interval: &SeriesInterval| interval.bytes);
        let batches = series.get(&Series::Transaction).map_or(0, |of| of.latency.count());
        let counters = IntervalCounters {
            transactions_durable: of_batches(batches, self.profile.mean(|of| of.is_durable.into())),
            transactions_lazy: of_batches(batches, self.profile.mean(|of| (!of.is_durable).into())),
            pages_written: bytes(Series::DatabaseWrite) / self.plan.page_size.0,
            log_volume_bytes: bytes(Series::LogWrite),
            ..IntervalCounters::default()
        };
        let series = series.into_values().collect();
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

fn note(sampled: &mut [BTreeMap<Series, SeriesInterval>], answer: &OperationAnswer) {
    let series = match answer.kind {
        OperationKind::DatabaseRead => Series::DatabaseRead,
        OperationKind::DatabaseWrite => Series::DatabaseWrite,
        OperationKind::LogWrite => Series::LogWrite,
        OperationKind::LogFormat => Series::LogFormat,
        OperationKind::LogRead => Series::LogRead,
        OperationKind::ReplicationRead => Series::ReplicationRead,
        OperationKind::MaintenanceRead => Series::MaintenanceRead,
        OperationKind::HeaderWrite => Series::HeaderWrite,
        OperationKind::Flush => Series::Flush,
        OperationKind::Batch => Series::Transaction,
    };
    sampled[answer.database]
        .entry(series)
        .or_insert_with(|| SeriesInterval::new(series))
        .record(answer.bytes, answer.latency.0);
}
