//! Disturbances around healthy storage, none of which may be blamed on the storage.

use std::fmt;
use std::time::Duration;

use crate::busy::BusyProcessors;
use crate::loop_volume::TestFileSystem;
use crate::outcome::Observed;
use crate::table::TableRow;

/// What happens around a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disturbance {
    /// Nothing.
    Nothing,
    /// Every processor is busy with something else.
    BusyProcessors,
    /// The program is stopped for this long in the middle of the measurement.
    Stopped(Duration),
    /// Both: busy processors, and a stop of this length.
    BusyAndStopped(Duration),
    /// The database takes half of the volume's space.
    SmallVolume,
    /// The load grows the database until the volume is full.
    FullVolume,
}

/// Ten disturbances, each tried on three file systems.
pub(crate) const DISTURBANCES: [Disturbance; 10] = [
    Disturbance::Nothing,
    Disturbance::Nothing,
    Disturbance::BusyProcessors,
    Disturbance::BusyProcessors,
    Disturbance::Stopped(Duration::from_secs(3)),
    Disturbance::Stopped(Duration::from_secs(10)),
    Disturbance::BusyAndStopped(Duration::from_secs(5)),
    Disturbance::SmallVolume,
    Disturbance::SmallVolume,
    Disturbance::FullVolume,
];

impl Disturbance {
    /// Keeps every processor busy until it is dropped, if that is the disturbance.
    pub(crate) fn load(self) -> Option<BusyProcessors> {
        let is_busy = matches!(self, Self::BusyProcessors | Self::BusyAndStopped(_));
        is_busy.then(BusyProcessors::new)
    }

    /// How long the program is stopped, if that is the disturbance.
    pub(crate) fn stopped(self) -> Option<Duration> {
        match self {
            Self::Stopped(time) | Self::BusyAndStopped(time) => Some(time),
            _ => None,
        }
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing"),
            Self::BusyProcessors => f.write_str("busy processors"),
            Self::Stopped(time) => write!(f, "stopped for {time:?}"),
            Self::BusyAndStopped(time) => write!(f, "busy, stopped for {time:?}"),
            Self::SmallVolume => f.write_str("small volume"),
            Self::FullVolume => f.write_str("volume that fills up"),
        }
    }
}

/// One run on healthy storage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HealthyRow {
    /// The file system of its volume.
    pub system: TestFileSystem,
    /// What happens around it.
    pub disturbance: Disturbance,
}

impl fmt::Display for HealthyRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.system, self.disturbance)
    }
}

impl TableRow for HealthyRow {
    fn wanted(&self) -> &'static str {
        "no failure"
    }

    fn is_empty(&self, _: &Observed) -> bool {
        false
    }

    fn is_right(&self, outcome: &Observed) -> bool {
        matches!(outcome.code, Some(0 | 2))
    }
}
