//! Background activity of an array beside this host's requests: rebuilding a failed drive on a
//! spare, and the requests of neighbours.

use device::Durability;

use super::{
    ArrayEvent, ArrayState, DriveOperation, HostRequest, HostWork, NEIGHBOUR, OperationPurpose,
};
use crate::disk::{VirtualMoment, micros};
use crate::neighbours::NeighbourRequest;
use crate::raid::FailedDisk;

/// How a rebuild shares the drives with the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RebuildPace {
    /// There is no spare.
    NoSpare,
    /// The rebuild takes this percent of the time; controllers call it priority.
    Percent(f64),
    /// Rebuilds `rate` bytes per second, if the drives keep up: after a late part the next one
    /// starts early.
    BytesPerSecond {
        rate: f64,
        /// When the next part should begin.
        due: VirtualMoment,
    },
}

impl RebuildPace {
    /// The pace of a percentage; 0 means that there is no spare.
    pub(super) const fn of_percent(percent: f64) -> Self {
        if percent > 0.0 { Self::Percent(percent) } else { Self::NoSpare }
    }

    /// When the next part begins, after one of `bytes` that took from `begun` to `now`.
    fn next(&mut self, (begun, now): (VirtualMoment, VirtualMoment), bytes: u64) -> VirtualMoment {
        match self {
            Self::NoSpare => VirtualMoment::MAX,
            Self::Percent(percent) => {
                let milliseconds = (now - begun) as f64 / 1e6;
                now + crate::disk::moment(milliseconds * (100.0 - *percent) / *percent)
            }
            Self::BytesPerSecond { rate, due } => {
                let since = (*due).max(now.saturating_sub(MOST_BEHIND));
                *due = since + micros(bytes as f64 / *rate * 1e6);
                now.max(*due)
            }
        }
    }
}

/// How far a rebuild may fall behind its rate and still catch up: a second.
const MOST_BEHIND: VirtualMoment = 1_000_000_000;

/// Bytes that a spare rebuilds per step, in whole stripe units.
const REBUILT_AT_A_TIME: u64 = 1 << 20;

impl ArrayState {
    /// Starts the activity that runs from the beginning.
    pub(super) fn begin_background(&mut self) {
        self.begin_rebuild(0);
        self.expect_neighbour(0);
    }

    /// Starts rebuilding if a drive has failed and there is a spare.
    pub(super) fn begin_rebuild(&mut self, now: VirtualMoment) {
        if self.rebuild_pace != RebuildPace::NoSpare && self.layout.failed.is_some() {
            self.at(now, ArrayEvent::Rebuild);
        }
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

    /// Completes a part of the rebuild; the next one follows after a pause that leaves the drives
    /// to the load for the rest of the time.
    pub(super) fn rebuilt(&mut self, now: VirtualMoment, begun: VirtualMoment, to: u64) {
        let mut bytes = 0;
        if let Some(failed) = &mut self.layout.failed {
            bytes = to.saturating_sub(failed.rebuilt);
            failed.rebuilt = failed.rebuilt.max(to);
        }
        let next = self.rebuild_pace.next((begun, now), bytes);
        self.at(next, ArrayEvent::Rebuild);
    }

    /// Sends a neighbour's request now; the neighbour has its own links.
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

    /// Makes the drives write out their volatile memory, for a flush of the host.
    pub(super) fn flush(&mut self, now: VirtualMoment, host: u32) {
        let slot = self.operations.put(DriveOperation {
            pending: self.drives.len(),
            writes: Vec::new(),
            purpose: OperationPurpose::Host(host),
        });
        self.issue_flush(now, slot);
    }
}
