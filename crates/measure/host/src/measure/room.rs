//! Monitors the free space of every volume of a run: before and during it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use device_os::probe;
use plan::Plan;
use record::{Edge, Event, Interval, Phase};
use trial::room::{self, Growth, Room, Shortage, Tenants};
use units::{Bytes, Nanos};

use super::questions::Questions;
use crate::error::HostError;
use crate::target::{self, RawTarget};
use crate::wire;

/// The volumes of a run, until one is about to be full.
pub(super) struct RoomWatch {
    volumes: BTreeMap<String, VolumeRoom>,
    duration: Nanos,
    /// Whether the load ends by time; otherwise it ends when enough work is done.
    has_end: bool,
    /// Whether files grow. The files of a backup get their full length at once.
    has_growth: bool,
    /// When the measurement began.
    measured_from: Option<Nanos>,
    shortage: Option<Shortage>,
    questions: Questions<FreeSpace>,
    /// Reports of the threads that own raw devices since the last check.
    heard: Vec<FreeSpace>,
}

/// Answer of a volume: its name, the time of the question, and its free space if reported. A volume
/// that cannot answer is reported elsewhere.
pub(super) type FreeSpace = (String, Nanos, Option<Bytes>);

/// One volume and what the run keeps on it.
struct VolumeRoom {
    /// A folder on it.
    folder: PathBuf,
    /// Whether the system is queried for its free space; a raw device's is known to the thread that
    /// owns it.
    is_asked: bool,
    tenants: Tenants,
    /// Indexes of its databases.
    databases: Vec<u32>,
    reserve: Bytes,
    room: Room,
    growth: Growth,
}

impl RoomWatch {
    /// Refuses a run if some volume lacks space for it.
    pub(super) fn start(plan: &Plan) -> Result<Self, HostError> {
        let mut volumes = BTreeMap::new();
        for database in &plan.databases {
            let (folder, logs) = (Path::new(&database.folder), Path::new(&database.log_folder));
            let volume = volume_of(&mut volumes, folder)?;
            volume.tenants.databases += 1;
            volume.databases.push(database.index);
            let volume = volume_of(&mut volumes, logs)?;
            volume.tenants.logs += 1;
            volume.tenants.log_bytes += log_bytes(logs, &database.log_base)?;
        }
        for (name, volume) in &mut volumes {
            // A test that only reads needs space for its copies alone.
            if !plan.test.kind.is_load() {
                continue;
            }
            let free = Bytes(target::free_bytes(&volume.folder)?);
            room::before(plan, name, &volume.tenants, free)?;
            volume.reserve = room::reserve(plan, &volume.tenants);
        }
        refuse_copies(plan)?;
        Ok(Self {
            volumes,
            duration: plan.test.duration,
            has_end: !plan.test.is_recovery(),
            has_growth: plan.test.kind.is_load(),
            measured_from: None,
            shortage: None,
            questions: Questions::start()?,
            heard: Vec::new(),
        })
    }

    /// Records the free space of a raw device.
    pub(super) fn hear(&mut self, free: FreeSpace) {
        self.heard.push(free);
    }

    /// Records the growth in an interval.
    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::Phase(mark) if (mark.phase, mark.edge) == (Phase::Measure, Edge::Begin) => {
                self.measured_from = Some(Nanos(mark.at_ns));
            }
            Event::Interval(interval) if interval.phase == Phase::Measure && self.has_end => {
                self.note(interval);
            }
            _ => {}
        }
    }

    fn note(&mut self, interval: &Interval) {
        for volume in self.volumes.values_mut() {
            let databases = interval.databases.iter();
            let own = databases.filter(|database| volume.databases.contains(&database.index));
            let bytes = own.map(|database| database.gauges.file_bytes).sum();
            volume.growth.note(Nanos(interval.to_ns), Bytes(bytes));
        }
    }

    /// Evaluates the volumes' answers and queries them again at time `at` since the start of the
    /// run; whether the run has to end.
    pub(super) fn must_stop(&mut self, at: Nanos) -> bool {
        let told = std::mem::take(&mut self.heard);
        for (name, asked, free) in self.questions.answers().into_iter().chain(told) {
            let remaining = self.remaining(asked);
            if let (Some(volume), Some(free)) = (self.volumes.get_mut(&name), free)
                && self.shortage.is_none()
                && self.has_growth
            {
                self.shortage = volume.shortage(&name, asked, free, remaining);
            }
        }
        if self.questions.waiting().is_none() {
            for (name, volume) in self.volumes.iter().filter(|(_, volume)| volume.is_asked) {
                let (name, folder) = (name.clone(), volume.folder.clone());
                self.questions.ask(&volume.folder, move || {
                    (name, at, probe::free_bytes(&folder).ok().map(Bytes))
                });
            }
        }
        self.shortage.is_some()
    }

    /// Returns the folder whose volume does not report its free space, and since when.
    pub(super) fn waiting(&mut self) -> Option<&(PathBuf, Nanos)> {
        self.questions.waiting()
    }

    /// Whether an unanswered query may keep the process in the kernel.
    pub(super) fn is_stuck(&mut self) -> bool {
        self.questions.is_stuck()
    }

    /// Why the run had to end, if it did.
    pub(super) fn shortage(&self) -> Option<&Shortage> {
        self.shortage.as_ref()
    }

    fn remaining(&self, at: Nanos) -> Nanos {
        let measured = self.measured_from.map_or(Nanos::ZERO, |from| at.since(from));
        self.duration.since(measured)
    }
}

impl VolumeRoom {
    fn shortage(
        &mut self,
        name: &str,
        at: Nanos,
        free: Bytes,
        remaining: Nanos,
    ) -> Option<Shortage> {
        let volume = name.to_owned();
        if let Some(per_second) = self.room.look(at, free, self.reserve) {
            return Some(Shortage::Imminent {
                volume,
                at,
                free,
                reserve: self.reserve,
                per_second,
                remaining,
            });
        }
        let room = Bytes(free.0.saturating_sub(self.reserve.0));
        let per_second = self.growth.foresees_lack(remaining, room)?;
        Some(Shortage::Foreseen { volume, at, free, per_second, remaining })
    }
}

/// Refuses the copies of a backup if some volume lacks space for them.
fn refuse_copies(plan: &Plan) -> Result<(), HostError> {
    let mut volumes: BTreeMap<String, (PathBuf, u64)> = BTreeMap::new();
    for database in &plan.databases {
        let Some(folder) = plan.backup_folder(database).map(Path::new) else {
            continue;
        };
        let mount_point = probe::volume(folder)?.mount_point;
        let (_, needed) = volumes.entry(mount_point).or_insert_with(|| (folder.to_owned(), 0));
        // The new copy reuses the space of an earlier one.
        let [new, old] = [Path::new(&database.folder), folder].map(|folder| {
            folder.join(&database.file).metadata().map_or(0, |metadata| metadata.len())
        });
        *needed += new.saturating_sub(old);
    }
    for (volume, (folder, needed)) in volumes {
        room::for_copies(&volume, Bytes(needed), Bytes(probe::free_bytes(&folder)?))?;
    }
    Ok(())
}

fn volume_of<'a>(
    volumes: &'a mut BTreeMap<String, VolumeRoom>,
    folder: &Path,
) -> Result<&'a mut VolumeRoom, HostError> {
    let mount_point = target::mount_point(folder)?;
    Ok(volumes.entry(mount_point).or_insert_with(|| VolumeRoom {
        folder: folder.to_owned(),
        is_asked: RawTarget::of(folder).is_none(),
        tenants: Tenants::default(),
        databases: Vec::new(),
        reserve: Bytes::default(),
        room: Room::default(),
        growth: Growth::default(),
    }))
}

/// Returns the bytes that the files of a log already take.
fn log_bytes(folder: &Path, base: &str) -> Result<u64, HostError> {
    let files = wire::list(folder)?.into_iter();
    let own = files.filter(|file| {
        file.name.starts_with(base) && Path::new(&file.name).extension() == Some("plg".as_ref())
    });
    Ok(own.map(|file| file.length).sum())
}
