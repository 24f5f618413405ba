//! Storage load that production has measured, over the day: performance-counter logs as CSV, Linux
//! block traces, fio iologs.
//!
//! A [`LoadCollector`] takes files one by one. Anything it does not understand is counted and
//! named; an hour without enough samples is unknown, never idle.

mod clock;
mod counters;
mod error;
mod files;
mod hours;
mod pdh;
mod places;
mod report;
mod text;
mod totals;
mod traces;
mod workload;

#[cfg(test)]
mod tests;

pub use clock::{ClockHour, TraceStart};
pub use error::LoadProfileError;
pub use files::LoadFile;
pub use hours::{HourLoad, RequestLoad, StorageOperation};
pub use places::{LoadPlace, PlaceKind};
pub use report::{BusiestHour, DayHour, LoadProfile, PlaceLoad};

use std::collections::{BTreeMap, BTreeSet};

use iotrace::Trace;

use crate::tracking::mark;
use hours::HourSum;
use traces::TraceClock;

/// How files are read and combined.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Whether Saturdays and Sundays count in the average day, too.
    pub all_days: bool,
    /// The clock at the start of block traces; if `None`, their hours count from their start.
    pub trace_start: Option<TraceStart>,
    /// Databases, volumes or devices to include; empty for all.
    pub only: Vec<String>,
}

/// Sums by place and hour.
type PlaceHours = BTreeMap<LoadPlace, BTreeMap<ClockHour, HourSum>>;

/// Reads files and sums their load by place and hour.
#[derive(Debug, Default)]
pub struct LoadCollector {
    options: LoadOptions,
    files: Vec<LoadFile>,
    places: PlaceHours,
    known_files: BTreeSet<[u64; 2]>,
    /// Minutes by which UTC is ahead of the clock of the hours; `None` until a file gives it.
    bias_minutes: Option<i64>,
    /// Whether hours count from the start of a trace whose clock is unknown.
    is_relative: bool,
}

impl LoadCollector {
    /// Returns an empty collector.
    pub fn new(options: LoadOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Whether `text` looks like a file that a collector can read.
    pub fn knows(text: &str) -> bool {
        pdh::is_log(text) || traces::is_trace(text)
    }

    /// Whether no file was added.
    pub const fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Reads one whole file. A file already read under another name adds nothing.
    pub fn add(&mut self, name: &str, text: &str) -> Result<&LoadFile, LoadProfileError> {
        let is_new = self.known_files.insert(mark(text));
        let file = if !is_new {
            LoadFile::repeated(name)
        } else if pdh::is_log(text) {
            self.add_counters(name, text)?
        } else {
            self.add_trace(name, text)?
        };
        self.files.push(file);
        let last = self.files.len() - 1;
        Ok(&self.files[last])
    }

    fn add_counters(&mut self, name: &str, text: &str) -> Result<LoadFile, LoadProfileError> {
        let bias = *self.bias_minutes.get_or_insert_with(|| pdh::bias_minutes(text));
        let mut file = LoadFile::new(name, "performance counters");
        pdh::read(text, &mut file, (&mut self.places, bias))?;
        Ok(file)
    }

    fn add_trace(&mut self, name: &str, text: &str) -> Result<LoadFile, LoadProfileError> {
        let trace = Trace::read(text).map_err(|error| no_trace(name, &error.to_string()))?;
        let clock =
            TraceClock::of(&trace, self.options.trace_start).map_err(|why| no_trace(name, why))?;
        self.is_relative |= self.options.trace_start.is_none();
        let mut file = LoadFile::new(name, trace.format.name());
        traces::read(&trace, clock, &mut file, &mut self.places);
        Ok(file)
    }

    /// Derives the load profile from all files.
    pub fn finish(self) -> Result<LoadProfile, LoadProfileError> {
        report::combine(self)
    }
}

fn no_trace(file: &str, why: &str) -> LoadProfileError {
    LoadProfileError::NoTrace { file: file.to_owned(), why: why.to_owned() }
}
