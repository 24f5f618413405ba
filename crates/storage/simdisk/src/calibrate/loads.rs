//! The loads put on a volume, and the addresses of their requests.

use std::fmt;

use device::Durability;
use units::{Nanos, Prng};

use crate::array::HostWork;

/// Kind of a load's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbeLoadKind {
    /// Reads of random pages.
    RandomReads,
    /// Reads that follow each other.
    SequentialReads,
    /// Writes of random pages, like those of a database; a power failure may lose them until a
    /// flush.
    RandomWrites,
    /// Small durable writes one after the other, like those of a log.
    DurableWrites,
    /// Reads of random pages, every twelfth of them with a burst of eight writes, as a cache writes
    /// pages to make room for reads. Only the reads count.
    ReadsBesideBursts,
}

/// Reads until the next burst of writes, and writes per burst. The engine seals eight pages before
/// it polls for completions, and writes two pages for every three that it reads.
pub(super) const READS_OF_A_BURST: u64 = 12;
pub(super) const WRITES_OF_A_BURST: u32 = 8;

/// The longest rest before a request that comes alone; half of it on average. A rate-limited load
/// leaves its thread asleep between requests, and a sleeping processor sees completions late:
/// back-to-back reads take less time than those of any run.
const LONGEST_REST: Nanos = Nanos::from_micros(800);

/// A load: a number of requests in flight at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeLoad {
    /// Their kind.
    pub(crate) kind: ProbeLoadKind,
    /// Number of requests in flight.
    pub in_flight: u32,
    /// Bytes of each request; all loads use multiples of it.
    pub bytes: u32,
}

const PAGE_BYTES: u32 = 32 << 10;

const fn load(kind: ProbeLoadKind, in_flight: u32, bytes: u32) -> ProbeLoad {
    ProbeLoad { kind, in_flight, bytes }
}

/// Every load, reads first: writes fill caches and wake garbage collection.
pub(super) const PROBE_LOADS: [ProbeLoad; 11] = [
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
    load(ProbeLoadKind::ReadsBesideBursts, 1, PAGE_BYTES),
];

impl ProbeLoad {
    /// The operation of a sender; burst senders are numbered after the reading ones.
    pub(super) const fn work(&self, sender: u32) -> HostWork {
        match self.kind {
            ProbeLoadKind::ReadsBesideBursts if sender < self.in_flight => HostWork::Read,
            ProbeLoadKind::RandomReads | ProbeLoadKind::SequentialReads => HostWork::Read,
            ProbeLoadKind::RandomWrites | ProbeLoadKind::ReadsBesideBursts => {
                HostWork::Write(Durability::Volatile)
            }
            ProbeLoadKind::DurableWrites => HostWork::Write(Durability::Durable),
        }
    }

    /// How long a sender rests before a request: not at all with others in flight, nor before a
    /// page write, which never comes alone.
    pub(super) fn rest(&self, prng: &mut Prng) -> Nanos {
        if self.in_flight > 1 || self.kind == ProbeLoadKind::RandomWrites {
            return Nanos::ZERO;
        }
        Nanos(prng.below(LONGEST_REST.0))
    }

    /// Offset of request `number`, in a file of `span` bytes. Each of the senders in flight has a
    /// separate part of the file for random requests, so that writes never overlap.
    pub(super) fn offset(&self, (sender, number): (u32, u64), span: u64, prng: &mut Prng) -> u64 {
        let places = span / u64::from(self.bytes);
        let bursts = self.kind == ProbeLoadKind::ReadsBesideBursts;
        let senders = self.in_flight + if bursts { WRITES_OF_A_BURST } else { 0 };
        let part = places / u64::from(senders);
        let place = match self.kind {
            ProbeLoadKind::RandomReads
            | ProbeLoadKind::RandomWrites
            | ProbeLoadKind::ReadsBesideBursts => u64::from(sender) * part + prng.below(part),
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
            ProbeLoadKind::ReadsBesideBursts => "reads beside bursts",
        };
        write!(f, "{name} of {} KiB, {} in flight", self.bytes >> 10, self.in_flight)
    }
}

/// Measurement of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredLoad {
    /// The load.
    pub load: ProbeLoad,
    /// Requests that were answered.
    pub requests: u64,
    /// Their mean latency without [stalls](super::STALL_MEDIANS).
    pub mean: Nanos,
}

#[cfg(test)]
mod tests {
    use units::{Nanos, Prng, Seed};

    use super::{LONGEST_REST, PROBE_LOADS, ProbeLoadKind};

    #[test]
    fn what_comes_alone_in_a_run_rests_and_nothing_else_does() {
        let mut prng = Prng::new(Seed(1));
        for load in PROBE_LOADS {
            let rests: Vec<u64> = (0..1_000).map(|_| load.rest(&mut prng).0).collect();
            let mean = Nanos(rests.iter().sum::<u64>() / 1_000);
            let is_alone = load.in_flight == 1 && load.kind != ProbeLoadKind::RandomWrites;
            let expected = if is_alone { LONGEST_REST.0 / 2 } else { 0 };
            assert!(mean.0.abs_diff(expected) <= expected / 10, "{load}: {mean:?}");
        }
    }
}
