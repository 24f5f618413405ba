//! The whole array as a state machine: requests go in, times and completions come out. It has no
//! clock; its driver supplies the time.

mod background;
mod change;
mod drives;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use device::Durability;
use units::Seed;

use crate::cache::{FoundAhead, ReadAhead, WriteCache};
use crate::disk::VirtualMoment;
use crate::guarantee::UnsafeWrites;
use crate::limit::RateLimit;
use crate::link::HostPath;
use crate::model::{ArrayModel, CacheMode, CacheParameters};
use crate::neighbours::Neighbours;
use crate::places::scattered;
use crate::raid::{DrivePiece, RaidLayout};
use crate::slots::{HostToken, SlotTable};
use background::RebuildPace;
use drives::Drive;

pub use change::ArrayUsage;

/// Unit of the read cache, which keeps some pages and not others.
const KEPT_BYTES: u64 = 32 << 10;

/// A request of the host, in the address space of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostRequest {
    pub token: HostToken,
    pub work: HostWork,
    pub offset: u64,
    pub length: u64,
}

/// Operation of a host request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostWork {
    Read,
    Write(Durability),
    /// Makes everything durable that was acknowledged.
    Flush,
}

impl HostRequest {
    const fn is_write(&self) -> bool {
        matches!(self.work, HostWork::Write(_))
    }
}

/// The token of all requests of neighbours, whose answers no host here waits for.
const NEIGHBOUR: HostToken = HostToken::MAX;

/// An event at a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ArrayEvent {
    /// The array has received and decoded a host request, given by its slot.
    Arrived(u32),
    /// A drive has finished its current request.
    DriveDone(u32),
    /// A drive's part of an operation, given by its slot, is done.
    PieceDone(u32),
    /// The host has its answer.
    Answered(HostToken),
    /// A part of a write is on stable storage.
    Safe(HostToken),
    /// The spare rebuilds the next part of the failed drive.
    Rebuild,
    /// A neighbour on the same array sends a request.
    Neighbour,
}

/// Work on the disks for one purpose.
struct DriveOperation {
    pending: usize,
    /// Writes to make once everything is read.
    writes: Vec<DrivePiece>,
    purpose: OperationPurpose,
}

#[derive(Clone, Copy)]
enum OperationPurpose {
    /// A request that the host waits for.
    Host(u32),
    /// Bytes being destaged from the write cache.
    Destage(u64),
    /// Bytes being read ahead of a stream, up to this offset.
    ReadAhead { stream: usize, to: u64 },
    /// The spare rebuilds the contents of the failed drive, up to this offset of the drive.
    Rebuild { begun: VirtualMoment, to: u64 },
}

/// Attributes of drive requests for one purpose, besides their place.
#[derive(Clone, Copy)]
struct PieceOrder {
    is_write: bool,
    is_durable: bool,
    /// The host's write that caused it.
    origin: Option<HostToken>,
}

/// An array and everything in progress in it.
pub(crate) struct ArrayState {
    layout: RaidLayout,
    cache: CacheParameters,
    capacity: u64,
    drive_bytes: u64,
    rebuild_percent: f64,
    rebuild_pace: RebuildPace,
    path: HostPath,
    limit: RateLimit,
    drives: Vec<Drive>,
    writes: WriteCache,
    ahead: ReadAhead,
    neighbours: Neighbours,
    at_risk: UnsafeWrites,
    /// Requests of the host by slot.
    hosts: SlotTable<HostRequest>,
    operations: SlotTable<DriveOperation>,
    /// Writes that wait for room in the cache.
    waiting_writes: VecDeque<u32>,
    /// Reads that wait for read-ahead: stream, end, slot.
    waiting_reads: Vec<(usize, u64, u32)>,
    destaging: usize,
    events: BinaryHeap<Reverse<(VirtualMoment, u64, ArrayEvent)>>,
    sequence: u64,
    /// Events so far.
    pub(crate) handled: u64,
}

impl ArrayState {
    pub(crate) fn new(model: &ArrayModel, seed: Seed) -> Self {
        let mut array = Self {
            layout: model.layout,
            cache: model.cache,
            capacity: model.capacity(),
            drive_bytes: model.drive_bytes,
            rebuild_percent: model.rebuild_percent,
            rebuild_pace: RebuildPace::of_percent(if model.has_spare {
                model.rebuild_percent
            } else {
                0.0
            }),
            path: HostPath::new(model.path),
            limit: RateLimit::new(model.limits),
            drives: drives::of(model, seed),
            writes: WriteCache::default(),
            ahead: ReadAhead::new(model.cache.read_ahead, model.cache.read_ahead_streams),
            neighbours: Neighbours::new(model.neighbours, seed.derive(1)),
            at_risk: UnsafeWrites::default(),
            hosts: SlotTable::default(),
            operations: SlotTable::default(),
            waiting_writes: VecDeque::new(),
            waiting_reads: Vec::new(),
            destaging: 0,
            events: BinaryHeap::new(),
            sequence: 0,
            handled: 0,
        };
        array.begin_background();
        array
    }

    /// Bytes that the set holds.
    pub(crate) const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Takes a request that the host sends now.
    pub(crate) fn submit(&mut self, now: VirtualMoment, request: HostRequest) {
        if request.is_write() {
            self.at_risk.add(request.token);
        }
        let arrives = self.path.arrives(now, request.is_write(), request.length);
        let arrives = self.limit.passes(arrives, request.length);
        let slot = self.hosts.put(request);
        self.at(arrives, ArrayEvent::Arrived(slot));
    }

    /// Whether a write would survive a loss of power now, in full.
    pub(crate) fn spares(&self, write: HostToken) -> bool {
        self.at_risk.spares(write)
    }

    /// Time of the next event.
    pub(crate) fn next_event(&self) -> Option<VirtualMoment> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }

    /// Processes every event that is due, and reports the host requests that are answered.
    pub(crate) fn advance(&mut self, now: VirtualMoment, mut answered: impl FnMut(HostToken)) {
        while self.next_event().is_some_and(|at| at <= now) {
            let Some(Reverse((at, _, event))) = self.events.pop() else {
                return;
            };
            self.handled += 1;
            match event {
                ArrayEvent::Arrived(slot) => self.arrived(at, slot),
                ArrayEvent::DriveDone(drive) => self.drive_done(at, drive),
                ArrayEvent::PieceDone(operation) => self.piece_done(at, operation),
                ArrayEvent::Answered(token) => answered(token),
                ArrayEvent::Safe(token) => self.at_risk.remove(token),
                ArrayEvent::Rebuild => self.rebuild(at),
                ArrayEvent::Neighbour => self.neighbour(at),
            }
        }
    }

    fn at(&mut self, moment: VirtualMoment, event: ArrayEvent) {
        self.sequence += 1;
        self.events.push(Reverse((moment, self.sequence, event)));
    }

    fn arrived(&mut self, now: VirtualMoment, slot: u32) {
        let HostRequest { work, offset, length, .. } = *self.hosts.get(slot);
        match (work, self.cache.mode) {
            // A write-back cache preserves everything: no flush is needed.
            (HostWork::Flush, CacheMode::WriteBack) => self.answer(now, slot),
            (HostWork::Flush, _) => self.flush(now, slot),
            (HostWork::Write(_), CacheMode::WriteBack) => {
                self.waiting_writes.push_back(slot);
                self.admit(now);
            }
            (HostWork::Write(_), CacheMode::WriteThrough | CacheMode::PassThrough) => {
                self.write(now, offset, length, OperationPurpose::Host(slot));
            }
            (HostWork::Read, _) => self.read(now, slot),
        }
    }

    fn read(&mut self, now: VirtualMoment, slot: u32) {
        let HostRequest { offset, length, .. } = *self.hosts.get(slot);
        let is_kept = scattered(offset / KEPT_BYTES) % 100 < self.cache.read_hit_percent;
        if is_kept || self.writes.holds(offset, length) {
            return self.answer(now, slot);
        }
        let (found, wanted) = self.ahead.read(now, offset, length);
        match found {
            FoundAhead::Hit => self.answer(now, slot),
            FoundAhead::Coming(stream) => self.waiting_reads.push((stream, offset + length, slot)),
            FoundAhead::Miss => {
                let pieces = self.layout.read(offset, length);
                self.begin(now, &pieces, Vec::new(), OperationPurpose::Host(slot));
            }
        }
        if let Some((stream, from, bytes)) = wanted {
            let bytes = bytes.min(self.capacity.saturating_sub(from));
            if bytes > 0 {
                let pieces = self.layout.read(from, bytes);
                let purpose = OperationPurpose::ReadAhead { stream, to: from + bytes };
                self.begin(now, &pieces, Vec::new(), purpose);
            }
        }
    }

    fn write(&mut self, now: VirtualMoment, offset: u64, length: u64, purpose: OperationPurpose) {
        let steps = self.layout.write(offset, length);
        if steps.reads.is_empty() {
            self.begin(now, &steps.writes, Vec::new(), purpose);
        } else {
            self.begin(now, &steps.reads, steps.writes, purpose);
        }
    }

    /// How full the memory for writes is, as a fraction; `None` if the array keeps no writes in
    /// memory.
    pub(crate) fn filled_memory(&self) -> Option<f64> {
        let keeps_writes = self.cache.mode == CacheMode::WriteBack && self.cache.write_bytes > 0;
        keeps_writes.then(|| self.writes.held_bytes() as f64 / self.cache.write_bytes as f64)
    }

    /// Acknowledges writes for which there is room, in the order of their arrival.
    fn admit(&mut self, now: VirtualMoment) {
        while let Some(&slot) = self.waiting_writes.front() {
            let HostRequest { offset, length, .. } = *self.hosts.get(slot);
            let held = self.writes.held_bytes();
            if held > 0 && held + length > self.cache.write_bytes {
                break;
            }
            self.waiting_writes.pop_front();
            self.writes.insert(offset, length);
            self.answer(now + self.cache.mirror, slot);
        }
        self.destage(now);
    }

    /// Starts destaging the cache, as far as permitted.
    fn destage(&mut self, now: VirtualMoment) {
        while self.destaging < self.cache.destage_concurrency
            && (self.writes.dirty_bytes() > self.cache.low_mark || !self.waiting_writes.is_empty())
        {
            let Some((offset, length)) = self.writes.leave(self.cache.destage_bytes) else {
                return;
            };
            self.destaging += 1;
            self.write(now, offset, length, OperationPurpose::Destage(length));
        }
    }

    fn begin(
        &mut self,
        now: VirtualMoment,
        first: &[DrivePiece],
        writes: Vec<DrivePiece>,
        purpose: OperationPurpose,
    ) {
        // A write that needs no reads has its writes in `first` and none in `writes`.
        let is_write = writes.is_empty()
            && match purpose {
                OperationPurpose::Host(slot) => self.hosts.get(slot).is_write(),
                OperationPurpose::Destage(_) => true,
                OperationPurpose::ReadAhead { .. } | OperationPurpose::Rebuild { .. } => false,
            };
        let order = self.order(purpose, is_write);
        let operation = DriveOperation { pending: first.len(), writes, purpose };
        let slot = self.operations.put(operation);
        if first.is_empty() {
            // All drives that the operation would touch have failed: it has nothing to do.
            self.operations.get_mut(slot).pending = 1;
            self.at(now, ArrayEvent::PieceDone(slot));
        }
        self.issue(now, first, order, slot);
    }

    /// Attributes of drive requests: only data that the host may lose may stay in a drive's
    /// volatile memory.
    fn order(&self, purpose: OperationPurpose, is_write: bool) -> PieceOrder {
        let OperationPurpose::Host(slot) = purpose else {
            return PieceOrder { is_write, is_durable: true, origin: None };
        };
        let HostRequest { token, work, .. } = *self.hosts.get(slot);
        let is_durable = work != HostWork::Write(Durability::Volatile);
        PieceOrder { is_write, is_durable, origin: is_write.then_some(token) }
    }

    fn piece_done(&mut self, now: VirtualMoment, slot: u32) {
        let operation = self.operations.get_mut(slot);
        operation.pending -= 1;
        if operation.pending > 0 {
            return;
        }
        let writes = std::mem::take(&mut operation.writes);
        if !writes.is_empty() {
            operation.pending = writes.len();
            let purpose = operation.purpose;
            let order = self.order(purpose, true);
            return self.issue(now, &writes, order, slot);
        }
        match self.operations.take(slot).purpose {
            OperationPurpose::Host(host) => self.answer(now, host),
            OperationPurpose::Destage(length) => {
                self.destaging -= 1;
                self.writes.left(length);
                self.admit(now);
            }
            OperationPurpose::ReadAhead { stream, to } => self.come(now, stream, to),
            OperationPurpose::Rebuild { begun, to } => self.rebuilt(now, begun, to),
        }
    }

    /// Records that read-ahead bytes have arrived; answers the reads that waited for them.
    fn come(&mut self, now: VirtualMoment, stream: usize, to: u64) {
        self.ahead.come(stream, to);
        let waiting = std::mem::take(&mut self.waiting_reads);
        for (of, end, slot) in waiting {
            if of == stream && end <= to {
                self.answer(now, slot);
            } else {
                self.waiting_reads.push((of, end, slot));
            }
        }
    }

    fn answer(&mut self, now: VirtualMoment, slot: u32) {
        let request = self.hosts.take(slot);
        if request.token == NEIGHBOUR {
            return self.neighbours.answered();
        }
        if request.is_write() {
            self.at_risk.remove(request.token);
        }
        let at = self.path.answers(now, request.is_write(), request.length);
        self.at(at, ArrayEvent::Answered(request.token));
    }
}

#[cfg(test)]
mod tests;
