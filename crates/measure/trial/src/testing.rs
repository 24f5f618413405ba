//! A small world in virtual time for the tests of this crate.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use device::{Executor, Latency, MemoryVolume, VirtualReactor};
use plan::Plan;
use units::{Nanos, Seed};

use crate::Sink;
use crate::location::Location;

/// Volumes in memory and an executor whose time is virtual.
pub(crate) struct World {
    pub executor: Executor,
    pub plan: Plan,
    pub locations: Vec<Location>,
    pub volumes: Vec<MemoryVolume>,
    /// Clock of further volumes.
    pub reactor: Rc<VirtualReactor>,
}

impl World {
    /// A world for the plan in `text`, its `[databases]` section without folders.
    pub(crate) fn new(text: &str) -> Self {
        Self::with_latency(text, Nanos::from_micros(500)..Nanos::from_millis(4))
    }

    /// The same, on storage with these request times.
    pub(crate) fn with_latency(text: &str, span: Range<Nanos>) -> Self {
        let plan = Plan::parse("test", text).expect("a valid plan");
        let reactor = VirtualReactor::new();
        let mut volumes = Vec::new();
        let mut locations = Vec::new();
        for database in &plan.databases {
            let part = u64::from(database.index);
            let latency = Latency::spread(span.start, span.end, Seed(9).derive(part));
            let volume = MemoryVolume::new(&database.folder, &reactor, latency);
            // A property that holds with persistent open files holds everywhere.
            volume.keep_open_files();
            locations.push(Location {
                plan: database.clone(),
                database: Rc::new(volume.clone()),
                log: Rc::new(volume.clone()),
                storage: database.folder.clone(),
                log_storage: database.log_folder.clone(),
                copies: None,
            });
            volumes.push(volume);
        }
        let executor = Executor::new(Rc::<VirtualReactor>::clone(&reactor));
        Self { executor, plan, locations, volumes, reactor }
    }
}

/// A sink that stores its input, and the stored values.
pub(crate) fn collector<T: 'static>() -> (Sink<T>, Rc<RefCell<Vec<T>>>) {
    let kept = Rc::new(RefCell::new(Vec::new()));
    let twin = Rc::clone(&kept);
    (Rc::new(move |item| twin.borrow_mut().push(item)), kept)
}
