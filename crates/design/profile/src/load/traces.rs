//! Block traces as load: requests and bytes by hour, and latencies if completions were traced too.

use std::collections::BTreeMap;

use iotrace::{IoDirection, Trace, TraceError, TraceFormat, TraceRequest};

use super::clock::{ClockHour, HOUR_SECONDS, TraceStart};
use super::hours::{RequestLoad, StorageOperation};
use super::places::{LoadPlace, PlaceKind};
use super::{LoadFile, PlaceHours};

/// Nanoseconds of a second, and of a millisecond.
const SECOND: u64 = 1_000_000_000;
const MILLISECOND: f64 = 1e6;

/// Bytes at the start of a file that decide its format.
const HEAD: usize = 64 << 10;

/// Whether [`Trace`] knows the format.
pub(super) fn is_trace(text: &str) -> bool {
    let head = text.get(..text.floor_char_boundary(HEAD)).unwrap_or(text);
    !matches!(Trace::read(head), Err(TraceError::Unknown))
}

/// How the times of a trace become hours.
#[derive(Clone, Copy)]
pub(super) struct TraceClock {
    /// Seconds since 1970-01-01 at the trace's zero.
    zero: i64,
    /// First and last second of the trace.
    first: i64,
    last: i64,
}

impl TraceClock {
    /// The clock of `trace`, whose zero was at `start`, or the reason why it gives no rates.
    pub(super) fn of(trace: &Trace, start: Option<TraceStart>) -> Result<Self, &'static str> {
        if trace.format == TraceFormat::FioLog2 {
            return Err("an iolog of version 2 has no times, so no rates; record version 3");
        }
        let zero = start.map_or(0, |start| start.seconds);
        let times = trace.requests.iter().map(|request| second(request.time));
        let (first, last) =
            times.fold((i64::MAX, 0), |(first, last), time| (first.min(time), last.max(time)));
        Ok(Self { zero, first: zero + first, last: zero + last })
    }

    /// Seconds of `hour` that the trace covers; at least one.
    fn covered(self, hour: ClockHour) -> i64 {
        let from = self.first.max(hour.start());
        let to = (self.last + 1).min(hour.start() + HOUR_SECONDS);
        (to - from).max(1)
    }
}

/// Whole seconds.
fn second(time: u64) -> i64 {
    i64::try_from(time / SECOND).unwrap_or(i64::MAX / 2)
}

/// Requests of one kind in one hour.
#[derive(Default)]
struct CountedRequests {
    requests: u64,
    bytes: u64,
    timed: u64,
    nanoseconds: u64,
}

/// Adds the requests of `trace`.
pub(super) fn read(trace: &Trace, clock: TraceClock, file: &mut LoadFile, places: &mut PlaceHours) {
    file.used = trace.requests.len() as u64;
    file.rows = file.used + trace.skipped.values().sum::<u64>();
    for (reason, count) in &trace.skipped {
        file.skip(reason, *count);
    }
    let mut latencies: BTreeMap<usize, u64> = trace.answers.iter().copied().collect();
    let mut counted = BTreeMap::<_, CountedRequests>::new();
    for (at, request) in trace.requests.iter().enumerate() {
        let hour = ClockHour::of(clock.zero + second(request.time));
        let of = counted.entry((request.volume, hour, operation(request))).or_default();
        of.requests += 1;
        of.bytes = of.bytes.saturating_add(request.length);
        if let Some(latency) = latencies.remove(&at) {
            of.timed += 1;
            of.nanoseconds = of.nanoseconds.saturating_add(latency);
        }
    }
    for ((volume, hour, operation), of) in counted {
        let hours = places.entry(place(trace, volume)).or_default();
        let seconds = clock.covered(hour) as f64;
        hours.entry(hour).or_default().add(operation, seconds, of.load(seconds));
    }
}

impl CountedRequests {
    fn load(&self, seconds: f64) -> RequestLoad {
        let mean = self.nanoseconds as f64 / self.timed.max(1) as f64;
        RequestLoad {
            iops: self.requests as f64 / seconds,
            latency_ms: (self.timed > 0).then_some(mean / MILLISECOND),
            bytes_per_second: Some(self.bytes as f64 / seconds),
        }
    }
}

const fn operation(request: &TraceRequest) -> StorageOperation {
    match request.direction {
        IoDirection::Read => StorageOperation::Read,
        IoDirection::Write => StorageOperation::Write,
    }
}

fn place(trace: &Trace, volume: u16) -> LoadPlace {
    let name = trace.volumes.get(usize::from(volume)).cloned();
    let name = name.unwrap_or_else(|| "device".to_owned());
    LoadPlace { host: String::new(), kind: PlaceKind::Device, name, is_total: false }
}
