//! Events of work in progress on this machine. The listener decides whether and how to show them:
//! this crate prints nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use record::{Event, Phase, Settings};
use units::Nanos;

/// An event for an observer.
pub enum HostEvent<'a> {
    /// For users who follow the work.
    Remark(&'a str),
    /// Must reach every user, even in quiet mode.
    Warning(&'a str),
    /// Progress of work that goes through files.
    Bytes {
        /// The operation, such as `filling`.
        work: &'a str,
        /// Bytes done.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// Progress of other work.
    State {
        /// The work.
        work: &'a str,
        /// Its progress, in words.
        text: &'a str,
    },
    /// A load of a search begins.
    Load(&'a NextLoad<'a>),
    /// A run begins.
    Begun(&'a RunOutline),
    /// An event of the run, as its journal holds it.
    Event(&'a Event),
    /// The phase reads or writes files; its progress.
    Pass(PassWork),
    /// The run is still in progress; sent periodically.
    Now {
        /// Nanoseconds since the zero of the run's clock.
        at_ns: u64,
    },
    /// The work is over; later events are not part of it.
    Ended,
}

/// The facts of a run that are known before its first event.
#[derive(Clone, Debug)]
pub struct RunOutline {
    /// Its settings.
    pub settings: Settings,
    /// The longest time of each phase that has a limit.
    pub limits: BTreeMap<Phase, Nanos>,
    /// Its start, in nanoseconds since 1970.
    pub started_epoch_ns: u64,
}

/// A load of a search for the load line that begins now.
#[derive(Clone, Debug)]
pub struct NextLoad<'a> {
    /// Its number, counted from 1.
    pub number: usize,
    /// Target of database reads and writes per second; `None` if the load is not held.
    pub asked_iops: Option<u32>,
    /// Minimum and maximum number of loads left, including this one.
    pub left: (usize, usize),
    /// Total time of each earlier load, including warm-up.
    pub took: &'a [Duration],
    /// Measurement time of each.
    pub measured: Duration,
}

/// Progress of a phase that reads or writes whole files.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassWork {
    /// Bytes done.
    pub done_bytes: u64,
    /// Total bytes, if known.
    pub total_bytes: u64,
}

/// Receives the events of work; clones share one receiver. Threads may send events concurrently.
#[derive(Clone)]
pub struct HostObserver(Arc<dyn Fn(HostEvent<'_>) + Send + Sync>);

impl HostObserver {
    /// Calls `heard` with every event.
    pub fn new(heard: impl Fn(HostEvent<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(heard))
    }

    /// Discards every event.
    pub fn none() -> Self {
        Self::new(|_| ())
    }

    /// Sends an event.
    pub(crate) fn tell(&self, event: HostEvent<'_>) {
        (self.0)(event);
    }

    /// Sends a remark to users who follow the work.
    pub(crate) fn remark(&self, text: &dyn fmt::Display) {
        self.tell(HostEvent::Remark(&text.to_string()));
    }

    /// Warns every user, even in quiet mode.
    pub(crate) fn warn(&self, text: &dyn fmt::Display) {
        self.tell(HostEvent::Warning(&text.to_string()));
    }
}

impl fmt::Debug for HostObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostObserver")
    }
}
