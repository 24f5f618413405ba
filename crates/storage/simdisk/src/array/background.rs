//! Background activity of an array beside this host's requests: rebuilding a failed drive on a
//! spare, and the requests of neighbours.

use device::Durability;

use super::{
    ArrayEvent, ArrayState, DriveOperation, HostRequest, HostWork, NEIGHBOUR, OperationPurpose,
};
use crate::disk::VirtualMoment;
use crate::neighbours::NeighbourRequest;
use crate::raid::FailedDisk;

/// Bytes that a spare rebuilds at a time, in whole stripe units.
const REBUILT_AT_A_TIME: u64 = 1 << 20;

impl ArrayState {
    /// Starts the activity that runs from the beginning.
    pub(super) fn begin_background(&mut self) {
        if self.rebuild_percent > 0.0 && self.layout.failed.is_some() {
            self.at(0, ArrayEvent::Rebuild);
        }
        self.expect_neighbour(0);
    }

    /// The spare rebuilds the next part; the set is whole again after the last one.
    pub(super) fn rebuild(&mut self, now: VirtualMoment) {
        let Some(FailedDisk { rebuilt, .. }) = self.layout.failed else {
            return;
        };
        let unit = self.layout.stripe_unit;
        let end = self.drive_bytes / unit * unit;
        let length = (REBUILT_AT_A_TIME / unit).max(1) * unit;
        let length = length.min(end.saturating_sub(rebuilt));
        match self.layout.rebuild(length) {
            Some(steps) if length > 0 => {
                let purpose = OperationPurpose::Rebuild { begun: now, to: rebuilt + length };
                self.begin(now, &steps.reads, steps.writes, purpose);
            }
            _ => self.layout.failed = None,
        }
    }

    /// A part has been rebuilt; the next one follows after a pause that leaves the drives to the
    /// load for the rest of the time.
    pub(super) fn rebuilt(&mut self, now: VirtualMoment, begun: VirtualMoment, to: u64) {
        if let Some(failed) = &mut self.layout.failed {
            failed.rebuilt = to;
        }
        let milliseconds = (now - begun) as f64 / 1e6;
        let pause = milliseconds * (100.0 - self.rebuild_percent) / self.rebuild_percent;
        self.at(now + crate::disk::moment(pause), ArrayEvent::Rebuild);
    }

    /// A neighbour sends a request now; it has its own links.
    pub(super) fn neighbour(&mut self, now: VirtualMoment) {
        if let Some(NeighbourRequest { is_write, offset, length }) =
            self.neighbours.request(self.capacity)
        {
            let write = HostWork::Write(Durability::Volatile);
            let work = if is_write { write } else { HostWork::Read };
            let slot = self.hosts.put(HostRequest { token: NEIGHBOUR, work, offset, length });
            self.arrived(now, slot);
        }
        self.expect_neighbour(now);
    }

    fn expect_neighbour(&mut self, now: VirtualMoment) {
        if let Some(pause) = self.neighbours.pause() {
            self.at(now + pause, ArrayEvent::Neighbour);
        }
    }

    /// Makes the drives settle their volatile contents, for a flush of the host.
    pub(super) fn flush(&mut self, now: VirtualMoment, host: u32) {
        let slot = self.operations.put(DriveOperation {
            pending: self.drives.len(),
            writes: Vec::new(),
            purpose: OperationPurpose::Host(host),
        });
        self.issue_flush(now, slot);
    }
}
