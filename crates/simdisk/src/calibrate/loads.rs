//! The loads that a volume is asked with, and where their requests go.

use std::fmt;

use device::Durability;
use units::{Nanos, Prng};

use crate::array::HostWork;

/// What the requests of a load are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeLoadKind {
    /// Reads of random pages.
    RandomReads,
    /// Reads that follow each other.
    SequentialReads,
    /// Writes of random pages, which may be lost with power until a flush, as those of a database.
    RandomWrites,
    /// Small durable writes behind each other, as those of a log.
    DurableWrites,
}

/// A load: a number of requests in flight at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeLoad {
    /// What they are.
    pub kind: ProbeLoadKind,
    /// How many are in flight.
    pub in_flight: u32,
    /// Bytes of each; all loads ask for multiples of it.
    pub bytes: u32,
}

const PAGE_BYTES: u32 = 32 << 10;

const fn load(kind: ProbeLoadKind, in_flight: u32, bytes: u32) -> ProbeLoad {
    ProbeLoad { kind, in_flight, bytes }
}

/// Every load, reads first: writes fill caches and wake garbage collection.
pub(super) const PROBE_LOADS: [ProbeLoad; 10] = [
    load(ProbeLoadKind::RandomReads, 1, PAGE_BYTES),
    load(ProbeLoadKind::RandomReads, 4, PAGE_BYTES),
    load(ProbeLoadKind::RandomReads, 16, PAGE_BYTES),
    load(ProbeLoadKind::RandomReads, 32, PAGE_BYTES),
    load(ProbeLoadKind::SequentialReads, 2, 8 * PAGE_BYTES),
    load(ProbeLoadKind::RandomWrites, 1, PAGE_BYTES),
    load(ProbeLoadKind::RandomWrites, 4, PAGE_BYTES),
    load(ProbeLoadKind::RandomWrites, 16, PAGE_BYTES),
    load(ProbeLoadKind::RandomWrites, 32, PAGE_BYTES),
    load(ProbeLoadKind::DurableWrites, 1, 4 << 10),
];

impl ProbeLoad {
    /// What each of its requests does.
    pub(super) const fn work(&self) -> HostWork {
        match self.kind {
            ProbeLoadKind::RandomReads | ProbeLoadKind::SequentialReads => HostWork::Read,
            ProbeLoadKind::RandomWrites => HostWork::Write(Durability::Volatile),
            ProbeLoadKind::DurableWrites => HostWork::Write(Durability::Durable),
        }
    }

    /// Where request `number` goes, in a file of `span` bytes. Each of the senders in flight has a
    /// part of the file of its own for random requests, so that writes never overlap.
    pub(super) fn offset(&self, (sender, number): (u32, u64), span: u64, prng: &mut Prng) -> u64 {
        let places = span / u64::from(self.bytes);
        let part = places / u64::from(self.in_flight);
        let place = match self.kind {
            ProbeLoadKind::RandomReads | ProbeLoadKind::RandomWrites => {
                u64::from(sender) * part + prng.below(part)
            }
            ProbeLoadKind::SequentialReads | ProbeLoadKind::DurableWrites => number % places,
        };
        place * u64::from(self.bytes)
    }
}

impl fmt::Display for ProbeLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind {
            ProbeLoadKind::RandomReads => "random reads",
            ProbeLoadKind::SequentialReads => "sequential reads",
            ProbeLoadKind::RandomWrites => "random writes",
            ProbeLoadKind::DurableWrites => "durable writes",
        };
        write!(f, "{name} of {} KiB, {} in flight", self.bytes >> 10, self.in_flight)
    }
}

/// What a load met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredLoad {
    /// The load.
    pub load: ProbeLoad,
    /// Requests that were answered.
    pub requests: u64,
    /// Their mean latency.
    pub mean: Nanos,
}
