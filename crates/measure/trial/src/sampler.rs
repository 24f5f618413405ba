//! Turns meters and counters into the intervals of the record.

use std::rc::Rc;
use std::sync::Arc;

use device::Runtime;
use engine::{Counters, Database};
use ese::Lgpos;
use record::{
    DatabaseInterval, Event, FlashCacheInterval, Gauges, HostSample, Interval, LogPlace, Phase,
};
use units::Nanos;

use crate::Sink;
use crate::coordinator::Coordinator;
use crate::host_sampler::HostSampler;
use crate::meter::Meter;
use crate::sums::Sums;

/// Reads the counters of a flash cache since it was opened, and its levels.
pub type FlashCacheReading = Rc<dyn Fn() -> FlashCacheInterval>;

/// One database that is sampled.
pub(crate) struct Sampled {
    /// Its index in the plan.
    pub index: u32,
    /// Source of its counters, if it is open.
    pub database: Option<Database>,
    /// Meter of its requests.
    pub meter: Rc<Meter>,
}

/// Samples the databases of one group.
pub(crate) struct Sampler {
    runtime: Runtime,
    coordinator: Arc<Coordinator>,
    events: Sink<Event>,
    origin: Nanos,
    /// Only the leading group has one.
    host: Option<Rc<dyn HostSampler>>,
    flash_cache: Option<FlashCacheReading>,
    cached_before: FlashCacheInterval,
    databases: Vec<Sampled>,
    before: Vec<Counters>,
    from: Nanos,
    /// The phase of the last sample.
    phase: Phase,
}

impl Sampler {
    /// A sampler without databases.
    pub(crate) fn new(
        runtime: &Runtime,
        coordinator: &Arc<Coordinator>,
        events: &Sink<Event>,
        origin: Nanos,
        host: Option<Rc<dyn HostSampler>>,
        flash_cache: Option<FlashCacheReading>,
    ) -> Self {
        Self {
            runtime: runtime.clone(),
            coordinator: Arc::clone(coordinator),
            events: Rc::clone(events),
            origin,
            host,
            flash_cache,
            cached_before: FlashCacheInterval::default(),
            before: Vec::new(),
            databases: Vec::new(),
            from: runtime.now(),
            phase: Phase::Open,
        }
    }

    /// Starts sampling `databases` now, in `phase`.
    pub(crate) fn begin(&mut self, databases: Vec<Sampled>, phase: Phase) {
        self.databases = databases;
        self.phase = phase;
        self.skip();
    }

    /// Records the activity since the last sample if nothing more will come: the measured load has
    /// ended, any other phase was cut off.
    pub(crate) fn end(&mut self) {
        if !self.databases.is_empty() {
            let is_measured = matches!(self.phase, Phase::Measure | Phase::Drain);
            self.sample(if is_measured { Phase::Drain } else { self.phase });
        }
    }

    /// Forgets the activity since the last sample.
    pub(crate) fn skip(&mut self) {
        for sampled in &self.databases {
            drop(sampled.meter.take());
        }
        self.before = self.counters();
        self.from = self.runtime.now();
        let _ = self.runtime.take_longest_poll();
        let _ = self.coordinator.take_lag();
        if let Some(host) = &self.host {
            let _ = host.sample();
        }
        self.cached_before = self.cached();
    }

    fn cached(&self) -> FlashCacheInterval {
        self.flash_cache.as_ref().map(|read| read()).unwrap_or_default()
    }

    /// Activity of the cache since the last sample; `None` if there is no cache.
    fn cache_activity(&mut self) -> Option<Box<FlashCacheInterval>> {
        self.flash_cache.as_ref()?;
        let now = self.cached();
        let activity = now.since(&self.cached_before);
        self.cached_before = now;
        Some(Box::new(activity))
    }

    /// Records the activity since the last sample; returns its sums over all databases.
    pub(crate) fn sample(&mut self, phase: Phase) -> Sums {
        let now = self.runtime.now();
        let after = self.counters();
        let mut databases = Vec::new();
        for (sampled, (before, after)) in self.databases.iter().zip(self.before.iter().zip(&after))
        {
            databases.push(DatabaseInterval {
                index: sampled.index,
                series: sampled.meter.take(),
                counters: difference(before, after),
                gauges: gauges(after),
            });
        }
        let sums = Sums::of(&databases);
        self.phase = phase;
        self.coordinator.note_lag(self.runtime.take_longest_poll());
        let host = self.host.as_ref().map(|host| HostSample {
            reactor_lag_maximum_ns: self.coordinator.take_lag().0,
            ..host.sample()
        });
        let flash_cache = self.cache_activity();
        (self.events)(Event::Interval(Interval {
            phase,
            from_ns: self.from.since(self.origin).0,
            to_ns: now.since(self.origin).0,
            databases,
            host,
            processors: None,
            flash_cache,
        }));
        self.before = after;
        self.from = now;
        sums
    }

    fn counters(&self) -> Vec<Counters> {
        self.databases
            .iter()
            .map(|sampled| sampled.database.as_ref().map(Database::counters).unwrap_or_default())
            .collect()
    }
}

/// Counts between two readings.
fn difference(before: &Counters, after: &Counters) -> record::IntervalCounters {
    record::IntervalCounters {
        transactions_lazy: after.lazy_commits - before.lazy_commits,
        transactions_durable: after.durable_commits - before.durable_commits,
        transactions_rolled_back: after.rollbacks - before.rollbacks,
        conflicts: after.conflicts - before.conflicts,
        inserts: after.inserts - before.inserts,
        deletes: after.deletes - before.deletes,
        replaces: after.replaces - before.replaces,
        reads: after.reads - before.reads,
        pages_written: after.pages_written - before.pages_written,
        log_volume_bytes: after.log_volume.0 - before.log_volume.0,
        page_fault_stalls: after.page_fault_stalls - before.page_fault_stalls,
        late_starts: 0,
    }
}

/// A log position in the form used by records.
pub(crate) const fn log_place(place: Lgpos) -> LogPlace {
    LogPlace { generation: place.generation.0, segment: place.segment, byte: place.byte }
}

fn gauges(now: &Counters) -> Gauges {
    Gauges {
        cache_bytes: now.cache_bytes.0,
        dirty_pages: now.dirty_pages,
        file_bytes: now.file_bytes.0,
        checkpoint_depth_bytes: now.checkpoint_depth.0,
        log_segment_bytes: now.log_segment.0,
        log_durable_to: Some(log_place(now.log_durable_to)).filter(|_| now.log_segment.0 > 0),
    }
}
