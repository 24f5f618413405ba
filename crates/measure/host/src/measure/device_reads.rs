//! Compares the reads of the load with the counters of the block devices: reads that no device has
//! seen were answered by a cache. Reads that the plan's own flash cache answers are no part of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use device_os::probe;
use plan::{Plan, TestKind};
use record::{Edge, Event, Interval, Phase, Series, VolumeReads};
use units::Nanos;

use super::questions::Questions;
use crate::error::HostError;
use crate::target;

/// Longest wait for the last counts, requested when the measurement ended. Without them a cache
/// that answered goes unnoticed, so a busy machine gets time to read them.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Reads of every volume of a run.
pub(super) struct DeviceReads {
    volumes: BTreeMap<String, ReadCounts>,
    /// Volumes of the database and of the log, by the database's index.
    of_database: BTreeMap<u32, [String; 2]>,
    /// Bytes that the plan's flash cache answered.
    spared_bytes: u64,
    questions: Questions<DeviceCount>,
    /// The first and the last phase that counts.
    counted: (Phase, Phase),
}

/// A count: the volume, the index of its bound, and the bytes.
type DeviceCount = (String, usize, ReadCount);

/// Bytes read so far, if known.
#[derive(Clone, Copy, Default)]
struct ReadCount {
    by_devices: Option<u64>,
    by_system: Option<u64>,
}

impl ReadCount {
    fn of(folder: &Path) -> Self {
        Self {
            by_devices: probe::device_read_bytes(folder),
            by_system: probe::accounted_read_bytes(folder),
        }
    }
}

struct ReadCounts {
    /// The system's name of the volume; `None` if the volume belongs to another system.
    folder: Option<PathBuf>,
    /// `true` if the plan has a flash cache in front of it.
    is_cached: bool,
    requested_bytes: u64,
    /// Bytes read at the start of the first phase that counts, and at the end of the last.
    bounds: [ReadCount; 2],
}

impl DeviceReads {
    /// Starts with nothing read.
    pub(super) fn new(plan: &Plan) -> Result<Self, HostError> {
        let mut reads = Self {
            volumes: BTreeMap::new(),
            of_database: BTreeMap::new(),
            spared_bytes: 0,
            questions: Questions::start()?,
            counted: match plan.test.kind {
                TestKind::Performance | TestKind::Stress => (Phase::Warm, Phase::Measure),
                TestKind::Backup => (Phase::Backup, Phase::Backup),
                TestKind::Checksum => (Phase::Check, Phase::Check),
                TestKind::Recovery => (Phase::Recover, Phase::Recover),
            },
        };
        for database in &plan.databases {
            let database_volume = reads.add(Path::new(&database.folder))?;
            let log_volume = reads.add(Path::new(&database.log_folder))?;
            let volumes = [database_volume, log_volume];
            reads.of_database.insert(database.index, volumes);
        }
        for folder in plan.flash_cache.iter().flat_map(|cache| &cache.folders) {
            let name = reads.add(Path::new(folder))?;
            if let Some(counted) = reads.volumes.get_mut(&name) {
                counted.is_cached = true;
            }
        }
        Ok(reads)
    }

    fn add(&mut self, folder: &Path) -> Result<String, HostError> {
        let name = target::mount_point(folder)?;
        self.volumes.entry(name.clone()).or_insert_with(|| ReadCounts {
            folder: target::of_system(folder),
            is_cached: false,
            requested_bytes: 0,
            bounds: [ReadCount::default(); 2],
        });
        Ok(name)
    }

    /// Records the phases and the bytes read in them.
    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::Phase(mark) => match mark.edge {
                Edge::Begin if mark.phase == self.counted.0 => self.look(0),
                Edge::End if mark.phase == self.counted.1 => self.look(1),
                _ => {}
            },
            Event::Interval(interval) if self.counts(interval.phase) => self.note(interval),
            _ => {}
        }
    }

    fn counts(&self, phase: Phase) -> bool {
        let (first, last) = self.counted;
        (first..=last).contains(&phase)
    }

    fn look(&mut self, bound: usize) {
        for (name, counted) in &self.volumes {
            if let Some(folder) = counted.folder.clone() {
                let name = name.clone();
                self.questions.ask(&folder.clone(), move || (name, bound, ReadCount::of(&folder)));
            }
        }
    }

    /// The folder whose volume does not report the bytes read from it, and since when.
    pub(super) fn waiting(&mut self) -> Option<&(PathBuf, Nanos)> {
        self.questions.waiting()
    }

    /// Whether an unanswered query may keep the process in the kernel.
    pub(super) fn is_stuck(&mut self) -> bool {
        self.questions.is_stuck()
    }

    fn note(&mut self, interval: &Interval) {
        if let Some(cache) = &interval.flash_cache {
            self.spared_bytes += cache.all().hit_bytes;
        }
        for database in &interval.databases {
            let Some([database_volume, log_volume]) = self.of_database.get(&database.index) else {
                continue;
            };
            for series in &database.series {
                let volume = match series.series {
                    Series::DatabaseRead
                    | Series::MaintenanceRead
                    | Series::ChecksumRead
                    | Series::BackupRead => database_volume,
                    Series::LogRead | Series::ReplicationRead => log_volume,
                    _ => continue,
                };
                if let Some(counted) = self.volumes.get_mut(volume) {
                    counted.requested_bytes += series.bytes;
                }
            }
        }
    }

    /// Returns the results for the volumes whose devices have counters.
    pub(super) fn events(&mut self) -> Vec<Event> {
        for (name, bound, bytes) in self.questions.answers_within(LAST_WAIT) {
            if let Some(counted) = self.volumes.get_mut(&name) {
                counted.bounds[bound] = bytes;
            }
        }
        self.volumes
            .iter()
            .filter_map(|(volume, counted)| {
                let [before, after] = counted.bounds;
                Some(Event::VolumeReads(VolumeReads {
                    volume: volume.clone(),
                    requested_bytes: self.passed_bytes(counted),
                    device_bytes: since(before.by_devices, after.by_devices)?,
                    accounted_bytes: since(before.by_system, after.by_system),
                }))
            })
            .collect()
    }
}

impl DeviceReads {
    /// Returns the bytes read from a volume rather than from flash. Hits are counted for all cached
    /// volumes together and shared out in proportion.
    fn passed_bytes(&self, volume: &ReadCounts) -> u64 {
        if !volume.is_cached {
            return volume.requested_bytes;
        }
        let cached = self.volumes.values().filter(|of| of.is_cached);
        let all: u64 = cached.map(|of| of.requested_bytes).sum();
        let passed = u128::from(all - self.spared_bytes.min(all));
        let share = passed * u128::from(volume.requested_bytes) / u128::from(all.max(1));
        u64::try_from(share).expect("invariant: a part of what was requested")
    }
}

fn since(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    Some(after?.saturating_sub(before?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use record::Phase;

    use super::{DeviceReads, ReadCount, ReadCounts};
    use crate::measure::questions::Questions;

    fn volume(is_cached: bool, requested_bytes: u64) -> ReadCounts {
        ReadCounts { folder: None, is_cached, requested_bytes, bounds: [ReadCount::default(); 2] }
    }

    #[test]
    fn reads_that_flash_answered_are_not_expected_of_the_devices() {
        let volumes =
            [("a", volume(true, 300)), ("b", volume(true, 100)), ("c", volume(false, 50))];
        let mut reads = DeviceReads {
            volumes: volumes.map(|(name, counts)| (name.to_owned(), counts)).into(),
            of_database: BTreeMap::new(),
            spared_bytes: 200,
            questions: Questions::start().unwrap(),
            counted: (Phase::Warm, Phase::Measure),
        };
        let passed = |reads: &DeviceReads| {
            ["a", "b", "c"].map(|name| reads.passed_bytes(&reads.volumes[name]))
        };
        assert_eq!(passed(&reads), [150, 50, 50]);
        reads.spared_bytes = 1_000;
        assert_eq!(passed(&reads), [0, 0, 50]);
    }
}
