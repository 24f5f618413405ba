//! The live view of a run for people or programs, whether this program makes the run or `watch`
//! follows it.

mod display;
mod figures;
mod latency;
mod lines;
pub mod loads;
mod outlook;
mod spark;
mod told;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use host::PassWork;
use record::{Edge, Event, Interval, Phase, Settings};
use units::Nanos;

pub use display::Display;
pub use figures::Figures;
pub use outlook::SetOutlook;
pub(crate) use told::{RunTeller, tell_end};

/// Maximum rates kept for the bars, equal to the columns of a wide terminal.
const MOST_RATES: usize = 240;

/// A run, reconstructed from its events.
pub(crate) struct LiveRun {
    settings: Settings,
    /// Maximum duration of each phase.
    limits: BTreeMap<Phase, Nanos>,
    phase: Option<(Phase, u64)>,
    /// Start of the steps after the load.
    finish_ns: Option<u64>,
    sessions: Option<u32>,
    latest: Option<Figures>,
    worst: Worst,
    rates: VecDeque<f64>,
    /// Measured time since the run started, including the time before an interruption.
    measured_ns: u64,
    earlier_ns: u64,
    issues: u64,
    logged: Logged,
    work: Option<PassWork>,
    /// Outlook on the rest of the set, if this run is a test in one.
    outlook: Option<SetOutlook>,
}

/// Log written during the measurement.
#[derive(Clone, Copy, Debug, Default)]
struct Logged {
    bytes: u64,
    /// Number of databases that wrote this log.
    databases: u64,
}

/// The slowest mean latency of one database in one interval of the phase.
#[derive(Clone, Copy, Debug, Default)]
struct Worst {
    read_ns: Option<f64>,
    log_write_ns: Option<f64>,
}

impl LiveRun {
    /// A run with these settings and limits, before its first event.
    pub(crate) fn new(settings: Settings, limits: BTreeMap<Phase, Nanos>) -> Self {
        Self {
            settings,
            limits,
            phase: None,
            finish_ns: None,
            sessions: None,
            latest: None,
            worst: Worst::default(),
            rates: VecDeque::new(),
            measured_ns: 0,
            earlier_ns: 0,
            issues: 0,
            logged: Logged::default(),
            work: None,
            outlook: None,
        }
    }

    /// Processes an event.
    pub(crate) fn event(&mut self, event: &Event) {
        match event {
            Event::Phase(mark) if mark.edge == Edge::Begin => {
                self.phase = Some((mark.phase, mark.at_ns));
                if mark.phase == Phase::Drain {
                    self.finish_ns = Some(mark.at_ns);
                }
                (self.latest, self.work) = (None, None);
                if mark.phase == Phase::Measure {
                    // Next to those of a faster warm-up, all bars would be the lowest.
                    self.rates.clear();
                }
                self.worst = Worst::default();
            }
            Event::Interval(interval) => self.interval(interval),
            Event::Issue(_) => self.issues += 1,
            Event::FurtherErrors(errors) => self.issues += errors.count(),
            Event::Tuned(tuned) => {
                self.sessions = Some(tuned.sessions_per_database);
                let found = tuned.target_iops.map(f64::from);
                self.settings.target_iops = self.settings.target_iops.or(found);
            }
            Event::Resumed(_) => self.earlier_ns = self.measured_ns,
            _ => {}
        }
    }

    fn interval(&mut self, interval: &Interval) {
        let figures = Figures::of(interval);
        if interval.phase == Phase::Measure {
            self.measured_ns += interval.to_ns.saturating_sub(interval.from_ns);
            self.logged.add(interval);
        }
        if self.phase.is_some_and(|(phase, _)| phase == interval.phase) {
            self.worst.read_ns = higher(self.worst.read_ns, figures.read.slowest_ns);
            self.worst.log_write_ns = higher(self.worst.log_write_ns, figures.log_write.slowest_ns);
        }
        if is_load(interval.phase) {
            self.rates.push_back(figures.iops());
            if self.rates.len() > MOST_RATES {
                self.rates.pop_front();
            }
        }
        self.latest = Some(figures);
    }

    /// Records the progress of a phase that reads or writes files.
    pub(crate) fn set_work(&mut self, work: PassWork) {
        self.work = Some(work);
    }

    /// The current phase.
    pub(crate) fn phase(&self) -> Option<Phase> {
        self.phase.map(|(phase, _)| phase)
    }

    /// Whether a load is running.
    pub(crate) fn is_loaded(&self) -> bool {
        self.phase().is_some_and(is_load)
    }

    /// The planned length of the phase, if it has a fixed one.
    fn planned(&self) -> Option<Duration> {
        // The generation of logs has no time limit.
        let is_timed = self.phase()? == Phase::Measure && self.settings.replay_logs == 0;
        is_timed.then(|| {
            let left_ns = self.settings.measure_ns.saturating_sub(self.earlier_ns);
            Duration::from_nanos(left_ns)
        })
    }

    /// The limit of the phase and how much of it is used up, `now_ns` after the start of the run.
    /// Drain and check share one limit.
    fn limit(&self, now_ns: u64) -> Option<(Duration, Duration)> {
        let (phase, mut from_ns) = self.phase?;
        let limit = self.limits.get(&phase)?;
        if let Some(finish_ns) = self.finish_ns.filter(|_| phase == Phase::Check) {
            from_ns = finish_ns;
        }
        let gone = Duration::from_nanos(now_ns.saturating_sub(from_ns));
        Some((Duration::from_nanos(limit.0), gone))
    }

    /// Time spent in the phase, `now_ns` after the start of the run.
    fn elapsed(&self, now_ns: u64) -> Duration {
        let from_ns = self.phase.map_or(now_ns, |(_, from_ns)| from_ns);
        Duration::from_nanos(now_ns.saturating_sub(from_ns))
    }
}

impl Logged {
    fn add(&mut self, interval: &Interval) {
        self.databases = self.databases.max(interval.databases.len() as u64);
        let databases = interval.databases.iter();
        self.bytes += databases.map(|of| of.counters.log_volume_bytes).sum::<u64>();
    }
}

/// Whether sessions generate load in a phase.
fn is_load(phase: Phase) -> bool {
    matches!(phase, Phase::Warm | Phase::Tune | Phase::Measure)
}

fn higher(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::max)
}
