//! The whole array as a state machine: requests go in, moments and completions come out. It knows
//! no clock; who drives it says what time it is.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use units::{Prng, Seed};

use crate::cache::{FoundAhead, ReadAhead, WriteCache};
use crate::disk::{DiskArm, MediaRequest, VirtualMoment};
use crate::flash::Flash;
use crate::link::HostPath;
use crate::model::{ArrayModel, CacheMode, CacheParameters, Medium};
use crate::raid::{DrivePiece, RaidLayout};
use crate::slots::SlotTable;

/// Names a request of the host.
pub(crate) type HostToken = u64;

/// What the host asks for, in the address space of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostRequest {
    pub token: HostToken,
    pub is_write: bool,
    pub offset: u64,
    pub length: u64,
}

/// What happens at a moment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ArrayEvent {
    /// A request of the host, by its slot, has been understood.
    Arrived(u32),
    /// A drive is done with what it has begun.
    DriveDone(u32),
    /// The drive's part of an operation, by its slot, is done.
    PieceDone(u32),
    /// The host has its answer.
    Answered(HostToken),
}

/// Work on the disks for one purpose.
struct DriveOperation {
    pending: usize,
    /// What is to be written once everything is read.
    writes: Vec<DrivePiece>,
    purpose: OperationPurpose,
}

#[derive(Clone, Copy)]
enum OperationPurpose {
    /// The host waits for it.
    Host(u32),
    /// Bytes leave the write cache.
    Destage(u64),
    /// Bytes come ahead of a stream, up to this offset.
    ReadAhead { stream: usize, to: u64 },
}

enum Drive {
    Disk(DiskArm),
    Flash(Flash),
}

/// An array and everything under way in it.
pub(crate) struct ArrayState {
    layout: RaidLayout,
    cache: CacheParameters,
    capacity: u64,
    path: HostPath,
    drives: Vec<Drive>,
    writes: WriteCache,
    ahead: ReadAhead,
    /// Requests of the host by slot.
    hosts: SlotTable<HostRequest>,
    operations: SlotTable<DriveOperation>,
    /// Writes that wait for room in the cache.
    waiting_writes: VecDeque<u32>,
    /// Reads that wait for what is read ahead: stream, end, slot.
    waiting_reads: Vec<(usize, u64, u32)>,
    destaging: usize,
    events: BinaryHeap<Reverse<(VirtualMoment, u64, ArrayEvent)>>,
    sequence: u64,
    /// Events so far.
    pub(crate) handled: u64,
}

impl ArrayState {
    pub(crate) fn new(model: &ArrayModel, seed: Seed) -> Self {
        let mut prng = Prng::new(seed);
        let drives = (0..model.layout.disks).map(|_| match &model.medium {
            Medium::Disk(parameters) => {
                let phase = prng.below(1 << 20) as f64 / f64::from(1_u32 << 20);
                Drive::Disk(DiskArm::new(parameters.clone(), phase))
            }
            Medium::Flash(parameters) => Drive::Flash(Flash::new(*parameters)),
        });
        Self {
            layout: model.layout,
            cache: model.cache,
            capacity: model.capacity(),
            path: HostPath::new(model.path),
            drives: drives.collect(),
            writes: WriteCache::default(),
            ahead: ReadAhead::new(model.cache.read_ahead),
            hosts: SlotTable::default(),
            operations: SlotTable::default(),
            waiting_writes: VecDeque::new(),
            waiting_reads: Vec::new(),
            destaging: 0,
            events: BinaryHeap::new(),
            sequence: 0,
            handled: 0,
        }
    }

    /// Bytes that the set holds.
    pub(crate) const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Takes a request that the host sends now.
    pub(crate) fn submit(&mut self, now: VirtualMoment, request: HostRequest) {
        let arrives = self.path.arrives(now, request.is_write, request.length);
        let slot = self.hosts.put(request);
        self.at(arrives, ArrayEvent::Arrived(slot));
    }

    /// When something happens next.
    pub(crate) fn next_event(&self) -> Option<VirtualMoment> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }

    /// Lets everything happen that is due, and tells which requests the host has answers to.
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
            }
        }
    }

    fn at(&mut self, moment: VirtualMoment, event: ArrayEvent) {
        self.sequence += 1;
        self.events.push(Reverse((moment, self.sequence, event)));
    }

    fn arrived(&mut self, now: VirtualMoment, slot: u32) {
        let HostRequest { is_write, offset, length, .. } = *self.hosts.get(slot);
        match (is_write, self.cache.mode) {
            (true, CacheMode::WriteBack) => {
                self.waiting_writes.push_back(slot);
                self.admit(now);
            }
            (true, CacheMode::WriteThrough | CacheMode::PassThrough) => {
                self.write(now, offset, length, OperationPurpose::Host(slot));
            }
            (false, _) => self.read(now, slot),
        }
    }

    fn read(&mut self, now: VirtualMoment, slot: u32) {
        let HostRequest { offset, length, .. } = *self.hosts.get(slot);
        if self.writes.holds(offset, length) {
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

    /// Begins to write what the cache holds, as far as it may.
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
        // Only writes of a set that needs no reads come without anything to be written later.
        let is_write = writes.is_empty()
            && match purpose {
                OperationPurpose::Host(slot) => self.hosts.get(slot).is_write,
                OperationPurpose::Destage(_) => true,
                OperationPurpose::ReadAhead { .. } => false,
            };
        let operation = DriveOperation { pending: first.len(), writes, purpose };
        let slot = self.operations.put(operation);
        self.issue(now, first, is_write, slot);
        if first.is_empty() {
            // Everything that it would touch has failed: the set has nothing to do.
            self.at(now, ArrayEvent::PieceDone(slot));
            self.operations.get_mut(slot).pending = 1;
        }
    }

    fn issue(&mut self, now: VirtualMoment, pieces: &[DrivePiece], is_write: bool, token: u32) {
        for piece in pieces {
            let chosen = self.nearer(piece);
            let DrivePiece { offset, length, .. } = *piece;
            match &mut self.drives[chosen] {
                Drive::Disk(disk) => {
                    let request = MediaRequest { token, is_write, offset, length, arrived: now };
                    if let Some(done) = disk.submit(now, request) {
                        self.at(done, ArrayEvent::DriveDone(drive_number(chosen)));
                    }
                }
                Drive::Flash(flash) => {
                    let done = flash.submit(now, is_write, offset, length);
                    self.at(done, ArrayEvent::PieceDone(token));
                }
            }
        }
    }

    /// The disk that holds a piece; of two, the one with less to do, then the nearer one.
    fn nearer(&self, piece: &DrivePiece) -> usize {
        let Some(mirror) = piece.mirror else {
            return piece.disk;
        };
        match (&self.drives[piece.disk], &self.drives[mirror]) {
            (Drive::Disk(one), Drive::Disk(other))
                if other.distance(piece.offset) < one.distance(piece.offset) =>
            {
                mirror
            }
            (Drive::Flash(_), _) if piece.offset / self.layout.stripe_unit % 2 == 1 => mirror,
            _ => piece.disk,
        }
    }

    fn drive_done(&mut self, now: VirtualMoment, number: u32) {
        let Drive::Disk(disk) = &mut self.drives[number as usize] else {
            return;
        };
        let (operation, next) = disk.done(now);
        if let Some(done) = next {
            self.at(done, ArrayEvent::DriveDone(number));
        }
        self.piece_done(now, operation);
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
            return self.issue(now, &writes, true, slot);
        }
        match self.operations.take(slot).purpose {
            OperationPurpose::Host(host) => self.answer(now, host),
            OperationPurpose::Destage(length) => {
                self.destaging -= 1;
                self.writes.left(length);
                self.admit(now);
            }
            OperationPurpose::ReadAhead { stream, to } => self.come(now, stream, to),
        }
    }

    /// Bytes of a stream have come; reads that waited for them are answered.
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
        let HostRequest { token, is_write, length, .. } = self.hosts.take(slot);
        let at = self.path.answers(now, is_write, length);
        self.at(at, ArrayEvent::Answered(token));
    }

    #[cfg(test)]
    /// Requests that each drive has served, and the nanoseconds that it was at work.
    pub(crate) fn drive_work(&self) -> Vec<(u64, u64)> {
        self.drives
            .iter()
            .map(|drive| match drive {
                Drive::Disk(disk) => (disk.served, disk.busy),
                Drive::Flash(flash) => (flash.served, 0),
            })
            .collect()
    }
}

fn drive_number(index: usize) -> u32 {
    u32::try_from(index).expect("invariant: a set has few drives")
}

#[cfg(test)]
mod tests;
