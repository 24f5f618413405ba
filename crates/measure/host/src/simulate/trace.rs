//! Traces the requests of the database engine under a few sessions of a plan's load: the input of
//! the operation model.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use device::{
    Asked, Executor, MemoryVolume, Observation, Observer, OpKind, Purpose, Runtime, TracedVolume,
    VirtualReactor,
};
use ese::Lgpos;
use plan::{Plan, Sessions};
use record::{Edge, Event, Phase};
use trial::commits::{CommitStage, CommitStep};
use trial::run::Group;
use trial::{Coordinator, Location, Stop};
use units::Nanos;

use super::memo::{images, nameless};
use super::pace::ArrayPace;
use crate::error::HostError;

/// Latency of every request to the database. It gives about the read rate per database of a disk
/// array, since some background work is driven by time.
pub(super) const READ_LATENCY: Nanos = Nanos::from_millis(5);

/// Latency of every request to the log: too short to be mistaken for a read.
const LOG_LATENCY: Nanos = Nanos::from_micros(1);

/// Batches of one session that are traced. Their reads scatter by a fifth, so that the mean is
/// known within 1 %.
const BATCHES: u64 = 600;

/// Batches of several sessions. Long bursts of writes are rare and decide the mean of writes, which
/// still differed by 6 % between two seeds after 600 batches.
const BATCHES_OF_BURSTS: u64 = 2_400;

/// The load has settled when its log is this many times the checkpoint's depth.
const SETTLED_DEPTHS: u64 = 2;

/// An observed step and its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Traced {
    pub at: Nanos,
    pub what: TracedStep,
}

/// A traced event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TracedStep {
    /// A request begins.
    Request { purpose: Purpose, kind: OpKind, file: LogFile, offset: u64, bytes: u64 },
    /// A transaction with this many changes is about to commit.
    Asked { updates: usize },
    /// It has committed; `place` is the end of its log.
    Committed { is_durable: bool, place: Lgpos },
}

/// Which log file a request goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogFile {
    /// The one that is written.
    Current,
    /// The one that comes next.
    Next,
    /// None: the checkpoint file.
    Checkpoint,
    /// A closed one, or no log.
    Other,
}

/// Records requests and commits while it is on.
struct Tracer {
    runtime: RefCell<Option<Runtime>>,
    log_base: String,
    is_on: Cell<bool>,
    steps: RefCell<Vec<Traced>>,
}

impl Tracer {
    fn note(&self, what: TracedStep) {
        let at = self.runtime.borrow().as_ref().map_or(Nanos::ZERO, Runtime::now);
        if self.is_on.get() {
            self.steps.borrow_mut().push(Traced { at, what });
        }
    }

    fn log_file(&self, path: &str) -> LogFile {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        match name.strip_prefix(&self.log_base) {
            Some(".plg") => LogFile::Current,
            Some("tmp.plg") => LogFile::Next,
            Some(".pck") => LogFile::Checkpoint,
            _ => LogFile::Other,
        }
    }
}

impl Observer for Tracer {
    fn asked(&self, asked: Asked) -> usize {
        if let Some((purpose, kind)) = asked.request {
            let file = self.log_file(&asked.file);
            let (offset, bytes) = (asked.offset, asked.length as u64);
            self.note(TracedStep::Request { purpose, kind, file, offset, bytes });
        }
        0
    }

    fn observe(&self, _: &Observation) {}
}

/// The sessions of one database that are traced.
pub(super) struct TracedLoad {
    pub(super) sessions: u32,
    /// Batches of all sessions together.
    batches: u64,
    pub(super) pace: ArrayPace,
    /// Whether the trace begins with the first batch instead of waiting for the load to settle.
    is_from_opening: bool,
}

impl TracedLoad {
    /// Session count for a plan that specifies none.
    const USUAL_SESSIONS: u32 = 4;

    /// The requests of one session and its waits for them. All requests take the same time, so the
    /// time in which nothing else happens shows how many reads the session waited for.
    pub(super) fn one() -> Self {
        let pace = ArrayPace::even(READ_LATENCY, LOG_LATENCY);
        Self { sessions: 1, batches: BATCHES, pace, is_from_opening: false }
    }

    /// As [`Self::one`], but with an initially empty cache.
    pub(super) fn from_opening() -> Self {
        Self { is_from_opening: true, ..Self::one() }
    }

    /// Traces as many sessions as `plan` has, at the pace of an array: several that need space at
    /// about the same moment cause longer bursts of writes than one does.
    pub(super) const fn at(plan: &Plan, pace: ArrayPace) -> Self {
        let sessions = match plan.workload.sessions {
            Sessions::Count(sessions) => sessions,
            Sessions::Auto => Self::USUAL_SESSIONS,
        };
        Self { sessions, batches: BATCHES_OF_BURSTS, pace, is_from_opening: false }
    }
}

/// A plan of the same load for `sessions` of one database, without a target rate, background scan
/// or checksum pass.
fn lonely(plan: &Plan, sessions: u32) -> Plan {
    let mut lonely = plan.clone();
    lonely.databases.truncate(1);
    lonely.workload.sessions = Sessions::Count(sessions);
    lonely.workload.target_iops = None;
    lonely.workload.throughput_percent = None;
    lonely.test.maintenance_throttle = None;
    lonely.test.checksum = false;
    lonely.test.duration = Nanos::from_secs(30 * 24 * 3600);
    lonely.test.interval = Nanos::from_secs(3600);
    lonely
}

/// The part of `plan` that a trace with this many sessions depends on.
pub(super) fn key(plan: &Plan, sessions: u32) -> Plan {
    nameless(&lonely(plan, sessions))
}

/// The trace of a load of `plan`, which must fit in memory. It begins once the load has settled, or
/// at opening if `load` says so.
pub(super) fn trace(plan: &Plan, load: &TracedLoad) -> Result<Vec<Traced>, HostError> {
    // Sessions do not change the prepared databases.
    let images = images(&lonely(plan, 1))?;
    let plan = lonely(plan, load.sessions);
    let reactor = VirtualReactor::new();
    let executor = Executor::new(Rc::clone(&reactor) as _);
    let runtime = executor.runtime();
    let database = plan.databases[0].clone();
    let tracer = Rc::new(Tracer {
        runtime: RefCell::new(Some(runtime.clone())),
        log_base: database.log_base.clone(),
        is_on: Cell::new(false),
        steps: RefCell::default(),
    });
    let (data_pace, log_pace) = (load.pace.of_database(&reactor), load.pace.of_log(&reactor));
    let data = MemoryVolume::served("data", &reactor, data_pace, &images[&database.folder]);
    let log = MemoryVolume::served("log", &reactor, log_pace, &images[&database.log_folder]);
    let location = Location {
        database: Rc::new(TracedVolume::new(Rc::new(data), Rc::clone(&tracer) as _)),
        log: Rc::new(TracedVolume::new(Rc::new(log), Rc::clone(&tracer) as _)),
        storage: String::new(),
        log_storage: String::new(),
        copies: None,
        plan: database,
    };
    let coordinator = Arc::new(Coordinator::new(1));
    let is_measuring = Rc::new(Cell::new(false));
    let measuring = Rc::clone(&is_measuring);
    let events = Rc::new(move |event| {
        if let Event::Phase(mark) = event {
            measuring.set(mark.phase == Phase::Measure && mark.edge == Edge::Begin);
        }
    });
    let mut group = Group::alone(&runtime, &plan, vec![location], &coordinator, events);
    group.is_storage_trusted = true;
    group.rest_percent = load.pace.rest_percent;
    let watch = CommitWatch {
        tracer: Rc::clone(&tracer),
        coordinator: Arc::clone(&coordinator),
        is_measuring,
        settles_at: (SETTLED_DEPTHS * plan.checkpoint_depth.0) >> 20,
        commits_per_batch: u64::from(plan.workload.commits_per_batch),
        batches: load.batches,
        is_from_opening: load.is_from_opening,
        commits: Cell::new(0),
    };
    group.commits = Some(Rc::new(move |step| watch.note(&step)));
    let summary = executor.block_on(trial::run::run(group));
    if let Some(failure) = summary.failure {
        return Err(HostError::new(failure.text));
    }
    *tracer.runtime.borrow_mut() = None;
    Ok(tracer.steps.take())
}

/// Starts the trace, at opening or once the load has settled, and ends it after its batches.
struct CommitWatch {
    tracer: Rc<Tracer>,
    coordinator: Arc<Coordinator>,
    is_measuring: Rc<Cell<bool>>,
    /// Log files to be written before tracing starts.
    settles_at: u64,
    commits_per_batch: u64,
    /// Batches to trace.
    batches: u64,
    is_from_opening: bool,
    /// Commits so far.
    commits: Cell<u64>,
}

impl CommitWatch {
    fn has_settled(&self, place: Lgpos) -> bool {
        self.is_measuring.get() && u64::from(place.generation.0) > self.settles_at + 1
    }

    fn note(&self, step: &CommitStep) {
        let (is_durable, place) = match &step.stage {
            CommitStage::Asked(changes) => {
                return self.tracer.note(TracedStep::Asked { updates: changes.len() });
            }
            CommitStage::Lazy(place) => (false, *place),
            CommitStage::Durable(place) => (true, *place),
        };
        self.tracer.note(TracedStep::Committed { is_durable, place });
        self.commits.set(self.commits.get() + 1);
        let ends_batch = self.commits.get().is_multiple_of(self.commits_per_batch);
        if self.tracer.is_on.get() {
            let commits = self.batches * self.commits_per_batch;
            if self.commits.get() > commits {
                self.coordinator.stop(Stop::Interrupted);
                self.tracer.is_on.set(false);
            }
        } else if self.is_from_opening || ends_batch && self.has_settled(place) {
            self.tracer.is_on.set(true);
            // The first step marks the start of the first batch.
            self.tracer.note(TracedStep::Committed { is_durable, place });
            self.commits.set(0);
        }
    }
}
