//! Holds what the load reads against what the block devices count: a cache that answers in their
//! place shows as reads that no device has seen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use device_os::probe;
use plan::Plan;
use record::{Edge, Event, Interval, Phase, Series, VolumeReads};

use crate::error::CommandError;

/// Reads of every volume of a run.
pub(super) struct DeviceReads {
    volumes: BTreeMap<String, Counted>,
    /// Volumes of the database and of the log, by the database's index.
    of_database: BTreeMap<u32, [String; 2]>,
}

struct Counted {
    /// A folder on the volume.
    folder: PathBuf,
    requested_bytes: u64,
    /// What the devices had read at the begin of the warm-up, and at the end of the measurement.
    bounds: [Option<u64>; 2],
}

impl DeviceReads {
    /// Nothing has been read yet.
    pub(super) fn new(plan: &Plan) -> Result<Self, CommandError> {
        let mut reads = Self {
            volumes: BTreeMap::new(),
            of_database: BTreeMap::new(),
        };
        for database in &plan.databases {
            let database_volume = reads.add(Path::new(&database.folder))?;
            let log_volume = reads.add(Path::new(&database.log_folder))?;
            let volumes = [database_volume, log_volume];
            reads.of_database.insert(database.index, volumes);
        }
        Ok(reads)
    }

    fn add(&mut self, folder: &Path) -> Result<String, CommandError> {
        let name = probe::volume(folder)?.mount_point;
        self.volumes.entry(name.clone()).or_insert_with(|| Counted {
            folder: folder.to_owned(),
            requested_bytes: 0,
            bounds: [None, None],
        });
        Ok(name)
    }

    /// Takes note of the phases and of what was read in them.
    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::Phase(mark) => match (mark.phase, mark.edge) {
                (Phase::Warm, Edge::Begin) => self.look(0),
                (Phase::Measure, Edge::End) => self.look(1),
                _ => {}
            },
            Event::Interval(interval) if is_load(interval.phase) => self.note(interval),
            _ => {}
        }
    }

    fn look(&mut self, bound: usize) {
        for counted in self.volumes.values_mut() {
            counted.bounds[bound] = probe::device_read_bytes(&counted.folder);
        }
    }

    fn note(&mut self, interval: &Interval) {
        for database in &interval.databases {
            let Some([database_volume, log_volume]) = self.of_database.get(&database.index) else {
                continue;
            };
            for series in &database.series {
                let volume = match series.series {
                    Series::DatabaseRead | Series::MaintenanceRead => database_volume,
                    Series::LogRead => log_volume,
                    _ => continue,
                };
                if let Some(counted) = self.volumes.get_mut(volume) {
                    counted.requested_bytes += series.bytes;
                }
            }
        }
    }

    /// What came of it, for the volumes whose devices count.
    pub(super) fn events(&self) -> Vec<Event> {
        let reads = |(volume, counted): (&String, &Counted)| {
            let [before, after] = counted.bounds;
            Some(Event::VolumeReads(VolumeReads {
                volume: volume.clone(),
                requested_bytes: counted.requested_bytes,
                device_bytes: after?.saturating_sub(before?),
            }))
        };
        self.volumes.iter().filter_map(reads).collect()
    }
}

fn is_load(phase: Phase) -> bool {
    matches!(phase, Phase::Warm | Phase::Tune | Phase::Measure)
}
