//! Changes of an array under load (a drive fails, a spare takes its place), and how busy its parts
//! have been.

use super::ArrayState;
use super::background::RebuildPace;
use super::drives::Drive;
use crate::disk::VirtualMoment;
use crate::raid::FailedDisk;

/// Cumulative busy time of the parts of an array; the difference of two readings shows how busy
/// each was in between.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ArrayUsage {
    /// Busy time of the busiest drive, in nanoseconds.
    pub drive_ns: u64,
    /// Busy time of the busiest direction of one link, in nanoseconds.
    pub link_ns: u64,
    /// Busy time of one front-end processor, in nanoseconds.
    pub front_end_ns: u64,
    /// Current fill level of the write memory, 0 to 1; `None` if writes do not wait there.
    pub memory_filled: Option<f64>,
}

impl ArrayState {
    /// Fails the first drive. Requests that it has accepted are still answered.
    pub(crate) fn fail_drive(&mut self) {
        self.layout.failed = Some(FailedDisk { disk: 0, rebuilt: 0 });
    }

    /// Starts to rebuild the failed drive onto a spare, at `rate` bytes per second; without a rate,
    /// in the share of the time that the array's description allots.
    pub(crate) fn rebuild_from(&mut self, now: VirtualMoment, rate: Option<f64>) {
        self.rebuild_pace = match rate {
            Some(rate) => RebuildPace::BytesPerSecond { rate, due: now },
            None => RebuildPace::of_percent(self.rebuild_percent),
        };
        self.begin_rebuild(now);
    }

    /// Rebuilt bytes of the failed drive, and its size; `None` if no drive has failed.
    pub(crate) fn rebuild_state(&self) -> Option<(u64, u64)> {
        let end = self.drive_bytes / self.layout.stripe_unit * self.layout.stripe_unit;
        self.layout.failed.map(|failed| (failed.rebuilt, end))
    }

    /// Counts `bytes` more as rebuilt: time passes that is not simulated.
    pub(crate) fn skip_rebuild(&mut self, bytes: u64) {
        let unit = self.layout.stripe_unit;
        let end = self.drive_bytes / unit * unit;
        if let Some(failed) = &mut self.layout.failed {
            failed.rebuilt = (failed.rebuilt + bytes / unit * unit).min(end);
        }
    }

    /// Busy time of its parts.
    pub(crate) fn usage(&self) -> ArrayUsage {
        let (link_ns, front_end_ns) = self.path.busy_ns();
        let busy = self.drives.iter().map(|drive| match drive {
            Drive::Disk(disk) => disk.arm().busy,
            Drive::Flash(flash) => flash.busy_ns(),
        });
        ArrayUsage {
            drive_ns: busy.max().unwrap_or(0),
            link_ns,
            front_end_ns,
            memory_filled: self.filled_memory(),
        }
    }
}
