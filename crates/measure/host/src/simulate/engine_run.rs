//! One plan played by the engine itself on its arrays, and the journals that receive its events.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use plan::Plan;
use record::{Event, Finished, LogLine};
use simdisk::HostProcessors;
use trial::run::Group;
use trial::{Coordinator, ProcessorTime, Stop};
use units::Nanos;

use super::SimulationOrder;
use super::alike::Alike;
use super::scale::scaled_to;
use super::storage::SimulatedWorld;
use crate::error::HostError;
use crate::measure::{Measured, RunFolder, conclude, finished};
use crate::stop::StopFlag;

/// A plan whose databases are prepared on their arrays.
pub(super) struct EngineRun {
    /// The plan of the order, scaled down to fit in memory.
    pub plan: Plan,
    /// Number of real bytes per byte of the plan.
    pub stretch: f64,
    alike: Alike,
    world: SimulatedWorld,
}

impl EngineRun {
    pub(super) fn prepared(order: &SimulationOrder<'_>) -> Result<Self, HostError> {
        let alike = Alike::of_engine(order.storage, order.plan);
        let (plan, stretch) = scaled_to(order.plan, alike.simulated.len());
        let world = order
            .storage
            .world(&plan, &alike.simulated, stretch, order.seed)
            .map_err(HostError::of_design)?;
        Ok(Self { plan, stretch, alike, world })
    }

    /// When it begins.
    pub(super) fn epoch(&self) -> Nanos {
        let runtime = self.world.executor.runtime();
        runtime.clock().epoch() + runtime.now()
    }

    /// Plays it, reports every event but the first, and returns the last.
    pub(super) fn play(
        self,
        order: &SimulationOrder<'_>,
        stop: &StopFlag,
        told: impl Fn(&Event) + 'static,
    ) -> Result<Finished, HostError> {
        let Self { plan, alike, world, .. } = self;
        let runtime = world.executor.runtime();
        let coordinator = Arc::new(Coordinator::new(1));
        let (origin, locations) = (runtime.now(), world.locations.clone());
        if let Some(text) = alike.words() {
            told(&Event::Log(LogLine { at_ns: 0, text }));
        }
        let noted = {
            let (coordinator, stop) = (Arc::clone(&coordinator), stop.clone());
            let plan = plan.clone();
            move |event: Event| {
                alike.of_all(&plan, event).iter().for_each(&told);
                if stop.is_set() {
                    coordinator.stop(Stop::Interrupted);
                }
            }
        };
        let mut group = Group::alone(&runtime, &plan, locations, &coordinator, Rc::new(noted));
        group.rest_percent = order.rest_percent;
        group.is_storage_trusted = true;
        group.settled = world.settled();
        group.flash_cache = world.flash_cache();
        group.processors = HostProcessors::of(&order.storage.array).map(|of| {
            let of = RefCell::new(of);
            Rc::new(move |now, updates| of.borrow_mut().done(now, updates)) as ProcessorTime
        });
        let summary = world.executor.block_on(trial::run::run(group));
        if let Some(failure) = summary.failure.filter(|failure| failure.at_open) {
            return Err(HostError::Design(failure.text));
        }
        Ok(finished(&coordinator, None, runtime.now().since(origin)))
    }
}

/// A journal, shared with the tasks that write it, until it cannot be written any more.
#[derive(Clone)]
pub(super) struct SimulatedJournal(Rc<RefCell<(RunFolder, Result<(), HostError>)>>);

impl SimulatedJournal {
    pub(super) fn create(path: &Path, start: &Event) -> Result<Self, HostError> {
        let mut folder = RunFolder::create(path)?;
        folder.write(start)?;
        Ok(Self(Rc::new(RefCell::new((folder, Ok(()))))))
    }

    pub(super) fn add(&self, event: &Event) {
        let (folder, written) = &mut *self.0.borrow_mut();
        if written.is_ok() {
            *written = folder.write(event);
        }
    }

    /// Ends the journal with the last event and judges the run in the folder `path`; discards it if
    /// the run could not begin.
    pub(super) fn end(
        self,
        path: &Path,
        ended: Result<Finished, HostError>,
    ) -> Result<Measured, HostError> {
        let inner = Rc::into_inner(self.0);
        let (folder, written) = inner.expect("invariant: all tasks have ended").into_inner();
        written?;
        match ended {
            Err(refused) => {
                folder.discard();
                Err(refused)
            }
            Ok(last) => {
                let last = Event::Finished(last);
                let (record, verdict) = conclude(path, folder, [&last].into_iter())?;
                Ok(Measured { record, verdict, storage_owes: false })
            }
        }
    }
}
