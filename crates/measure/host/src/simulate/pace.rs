//! Request latencies on an array, for a trace of the engine at the pace of that array: the engine
//! searches for old changes a hundred times a second and keeps writing while writes are in flight,
//! so the bursts of page writes depend on the speed of the storage.

use std::cell::RefCell;
use std::rc::Rc;

use device::{OpKind, Service, ServiceWork, VirtualReactor};
use simdisk::operations::{OperationAnswer, OperationKind};
use units::{Nanos, Prng, Seed};

/// Latencies kept per kind, sampled evenly: enough for their tail.
const MOST_KEPT: u64 = 4_096;

/// Latencies of one kind of requests.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NotedLatencies {
    kept: Vec<Nanos>,
    seen: u64,
    sum: Nanos,
    prng: Prng,
}

impl NotedLatencies {
    const fn new() -> Self {
        Self { kept: Vec::new(), seen: 0, sum: Nanos::ZERO, prng: Prng::new(Seed(0)) }
    }

    /// Latencies that are always `span`.
    pub(super) fn fixed(span: Nanos) -> Self {
        Self { kept: vec![span], seen: 1, sum: span, ..Self::new() }
    }

    fn add(&mut self, latency: Nanos) {
        self.seen += 1;
        self.sum += latency;
        if self.seen <= MOST_KEPT {
            self.kept.push(latency);
            return;
        }
        let place = usize::try_from(self.prng.below(self.seen)).unwrap_or(usize::MAX);
        if let Some(kept) = self.kept.get_mut(place) {
            *kept = latency;
        }
    }

    pub(super) fn mean(&self) -> Nanos {
        Nanos(self.sum.0 / self.seen.max(1))
    }

    /// One of the latencies kept; zero if there are none.
    fn draw(&mut self) -> Nanos {
        let place = self.prng.below(self.kept.len().max(1) as u64);
        usize::try_from(place)
            .ok()
            .and_then(|place| self.kept.get(place))
            .copied()
            .unwrap_or_default()
    }
}

/// Latencies of a database's requests.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ArrayPace {
    pub reads: NotedLatencies,
    pub writes: NotedLatencies,
    pub log: NotedLatencies,
    /// Rest of a session after a batch, in percent of the batch: as ordered, or as the held load
    /// imposes.
    pub rest_percent: u32,
}

impl ArrayPace {
    /// Nothing has been seen yet.
    pub(super) fn new() -> Self {
        let (reads, writes) = (NotedLatencies::new(), NotedLatencies::new());
        Self { reads, writes, log: NotedLatencies::new(), rest_percent: 0 }
    }

    /// Creates a pace at which every request to the database has the same latency, and every
    /// request to the log another.
    pub(super) fn even(database: Nanos, log: Nanos) -> Self {
        let database = NotedLatencies::fixed(database);
        let reads = database.clone();
        let log = NotedLatencies::fixed(log);
        Self { reads, writes: database, log, rest_percent: 0 }
    }

    /// Notes an answer.
    pub(super) fn note(&mut self, answer: &OperationAnswer) {
        match answer.kind {
            OperationKind::DatabaseRead => self.reads.add(answer.latency),
            OperationKind::DatabaseWrite => self.writes.add(answer.latency),
            OperationKind::LogWrite => self.log.add(answer.latency),
            _ => {}
        }
    }

    /// Returns the number of reads seen.
    pub(super) const fn reads_seen(&self) -> u64 {
        self.reads.seen
    }

    /// Storage of that pace for the files of a database.
    pub(super) fn of_database(&self, reactor: &Rc<VirtualReactor>) -> Rc<dyn Service> {
        let (reads, writes) = (self.reads.clone(), self.writes.clone());
        PacedService::shared(reactor, (reads, writes))
    }

    /// Storage of that pace for its log.
    pub(super) fn of_log(&self, reactor: &Rc<VirtualReactor>) -> Rc<dyn Service> {
        PacedService::shared(reactor, (self.log.clone(), self.log.clone()))
    }
}

/// Answers each request after one of the latencies of its kind.
struct PacedService {
    reactor: Rc<VirtualReactor>,
    reads: RefCell<NotedLatencies>,
    writes: RefCell<NotedLatencies>,
}

impl PacedService {
    fn shared(
        reactor: &Rc<VirtualReactor>,
        (reads, writes): (NotedLatencies, NotedLatencies),
    ) -> Rc<dyn Service> {
        let (reads, writes) = (RefCell::new(reads), RefCell::new(writes));
        Rc::new(Self { reactor: Rc::clone(reactor), reads, writes })
    }
}

impl Service for PacedService {
    fn serve(&self, work: &ServiceWork, done: Box<dyn FnOnce()>) {
        let span = match work.kind {
            OpKind::Read => self.reads.borrow_mut().draw(),
            OpKind::Write | OpKind::Flush | OpKind::SetLength => self.writes.borrow_mut().draw(),
        };
        self.reactor.after(span, done);
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::{MOST_KEPT, NotedLatencies};

    #[test]
    fn latencies_keep_their_mean_and_their_tail() {
        let mut latencies = NotedLatencies::new();
        for number in 0..10 * MOST_KEPT {
            latencies.add(Nanos(if number % 100 == 0 { 50_000 } else { 1_000 }));
        }
        let drawn: Vec<u64> = (0..10_000).map(|_| latencies.draw().0).collect();
        let mean = drawn.iter().sum::<u64>() / 10_000;
        assert!(mean.abs_diff(latencies.mean().0) < 200, "{mean}, {}", latencies.mean().0);
        let slow = drawn.iter().filter(|latency| **latency == 50_000).count();
        assert!((50..200).contains(&slow), "{slow}");
    }
}
