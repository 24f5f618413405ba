//! Disks: redundant groups by I/O and by capacity, or single ones (facts 5.10).

use plan::deployment::{Disk, Disks, Raid, RaidGroup};

use crate::architecture::Architecture;
use crate::database::raw_gb;
use crate::decision::{Build, Decision};
use crate::key::{Key, ServerKind};
use crate::number::Number;
use crate::work::Work;

/// Sequential requests per second that any disk can serve. Source: S-W76.
const SEQUENTIAL_IOPS: f64 = 300.0;

/// The cost of one RAID level. Source: S-W76.
pub(crate) struct Level {
    pub raid: Raid,
    /// Keys of a server's disk I/O at this level, and of the same with room for a rebuild.
    back_end_iops: Key,
    rebuild_safe_iops: Key,
    /// Keys of the disks needed for I/O, and for capacity.
    for_io: Key,
    for_capacity: Key,
    /// Disk writes for one database write.
    pub write_cost: f64,
    /// Share of the disks' I/O that a rebuild takes.
    pub rebuild: f64,
}

/// Every level, in order of preference when they tie.
pub(crate) const LEVELS: [Level; 3] = [
    Level {
        raid: Raid::Raid10,
        back_end_iops: Key::DiskBackendIopsRaid10,
        rebuild_safe_iops: Key::DiskRebuildSafeIopsRaid10,
        for_io: Key::DiskRaid10ForIo,
        for_capacity: Key::DiskRaid10ForCapacity,
        write_cost: 2.0,
        rebuild: 0.35,
    },
    Level {
        raid: Raid::Raid5,
        back_end_iops: Key::DiskBackendIopsRaid5,
        rebuild_safe_iops: Key::DiskRebuildSafeIopsRaid5,
        for_io: Key::DiskRaid5ForIo,
        for_capacity: Key::DiskRaid5ForCapacity,
        write_cost: 4.0,
        rebuild: 0.5,
    },
    Level {
        raid: Raid::Raid6,
        back_end_iops: Key::DiskBackendIopsRaid6,
        rebuild_safe_iops: Key::DiskRebuildSafeIopsRaid6,
        for_io: Key::DiskRaid6ForIo,
        for_capacity: Key::DiskRaid6ForCapacity,
        write_cost: 6.0,
        rebuild: 0.5,
    },
];

/// Disks of a server in each site.
pub(crate) fn disks(work: &mut Work<'_>, architecture: Architecture) {
    let first = &work.deployment.storage.first;
    let data = (work.get(Key::VolumeDbVolumesGbPerServer(ServerKind::First))
        / work.get(Key::DiskFormattedGb(ServerKind::First)))
    .up();
    work.put(Key::DiskDataDisksForCapacity, data);
    for level in &LEVELS {
        demand(work, level, &first.database);
    }
    let database = chosen(work, &first.database);
    let logs = log_disks(work, architecture, first);
    let restore = restore_disks(work, first);
    if architecture.first == Build::Raid {
        let all = database + logs + restore;
        work.put(Key::DiskRaidDisksPerServer, all);
    } else {
        single(work, ServerKind::First);
    }
    if work.deployment.second_site.is_some() && architecture.second == Build::Jbod {
        single(work, ServerKind::Second);
    }
}

/// Disks of one group of a level.
pub(crate) fn group_of(work: &Work<'_>, raid: Raid) -> RaidGroup {
    let groups = work.deployment.storage.groups;
    match raid {
        Raid::Raid10 => groups.raid10,
        Raid::Raid5 => groups.raid5,
        Raid::Raid6 => groups.raid6,
    }
}

/// Disks of one level, for I/O and for capacity.
fn demand(work: &mut Work<'_>, level: &Level, disk: &Disk) {
    let back_end =
        work.get(Key::IoDbReadsPerServer) + level.write_cost * work.get(Key::IoDbWritesPerServer);
    let back_end = work.put(level.back_end_iops, back_end);
    let safe = back_end / (1.0 - level.rebuild);
    let safe = work.put(level.rebuild_safe_iops, safe);
    let group = group_of(work, level.raid);
    if level.raid == Raid::Raid10 || !disk.slow {
        let needed = (safe / work.get(Key::DiskRandomIops(ServerKind::First))).up();
        let whole = needed.up_to(f64::from(group.data + group.redundancy));
        work.put(level.for_io, whole);
    }
    let data = work.get(Key::DiskDataDisksForCapacity);
    let with_parity = in_groups(data, group);
    work.put(level.for_capacity, with_parity);
}

/// Data disks in whole groups, including the redundant disks.
pub(crate) fn in_groups(data: Number, group: RaidGroup) -> Number {
    let size = f64::from(group.data);
    data.up_to(size) * (f64::from(group.data + group.redundancy) / size)
}

/// Disks at the given level; otherwise at the level with fewer disks, mirrors on a tie, and never
/// parity on slow disks.
fn chosen(work: &mut Work<'_>, disk: &Disk) -> Number {
    let [mirrored, parity, double_parity] = LEVELS.each_ref().map(|level| needed(work, level));
    let (raid, because) = match work.deployment.storage.raid {
        Some(raid) => (raid, "given"),
        None if disk.slow => (Raid::Raid10, "parity is refused on disks of 7.2K and slower"),
        None if mirrored.value() <= parity.value() => (Raid::Raid10, "no more disks than RAID-5"),
        None => (Raid::Raid5, "fewer disks than RAID-1/0"),
    };
    let disks = match raid {
        Raid::Raid10 => mirrored,
        Raid::Raid5 => parity,
        Raid::Raid6 => double_parity,
    };
    let key = Key::DiskRaidChoiceDb(ServerKind::First);
    work.sheet.decide(key, Decision::Raid(raid), because);
    work.put(Key::DiskRaidDisksDb(ServerKind::First), disks)
}

fn needed(work: &Work<'_>, level: &Level) -> Number {
    let capacity = work.get(level.for_capacity);
    match work.sheet.find(level.for_io) {
        Some(io) => io.max(capacity),
        None => capacity,
    }
}

/// Logs on separate volumes are mirrored.
fn log_disks(work: &mut Work<'_>, architecture: Architecture, disks: &Disks) -> Number {
    if !architecture.logs_apart {
        return work.put(Key::DiskRaidDisksLog, 0.0);
    }
    let group = group_of(work, Raid::Raid10);
    let formatted = formatted(work, Key::DiskLogRawGb, &disks.log);
    let data = (work.get(Key::VolumeLogVolumesGbPerServer) / formatted).up();
    let capacity = in_groups(data, group);
    let [mirrored, ..] = &LEVELS;
    let back_end = work.get(Key::IoLogReadsPerServer)
        + mirrored.write_cost * work.get(Key::IoLogWritesPerServer);
    let rated = disks.log.random_iops.max(SEQUENTIAL_IOPS);
    let rated = work.sheet.input(Key::DiskLogIops, rated);
    let share = work.deployment.storage.usable_disk_io;
    let share = work.sheet.share(Key::StorageUsableDiskIoPercent, share);
    let io = (back_end / (1.0 - mirrored.rebuild) / (rated * share)).up();
    let io = io.up_to(f64::from(group.data + group.redundancy));
    let because = "logs are written one behind the other and are mirrored";
    let mirrors = Decision::Raid(Raid::Raid10);
    work.sheet.decide(Key::DiskRaidChoiceLog, mirrors, because);
    work.put(Key::DiskRaidDisksLog, io.max(capacity))
}

fn formatted(work: &mut Work<'_>, key: Key, disk: &Disk) -> Number {
    work.sheet.input(key, raw_gb(disk)) * 1e9 / 1_073_741_824.0
}

fn restore_disks(work: &mut Work<'_>, disks: &Disks) -> Number {
    let Some(size) = work.sheet.find(Key::VolumeRestoreGb) else {
        return work.put(Key::DiskRaidDisksRestore, 0.0);
    };
    let formatted = formatted(work, Key::DiskRestoreRawGb, &disks.restore);
    let group = work.deployment.storage.groups.restore;
    let disks = in_groups((size / formatted).up(), group);
    let mirrored = group.redundancy >= group.data;
    let raid = if mirrored { Raid::Raid10 } else { Raid::Raid5 };
    let because = "the group that is given for restores";
    let key = Key::DiskRaidChoiceRestore;
    work.sheet.decide(key, Decision::Raid(raid), because);
    work.put(Key::DiskRaidDisksRestore, disks)
}

/// One disk per volume.
fn single(work: &mut Work<'_>, site: ServerKind) {
    let data = work.get(Key::VolumeDbVolumes(ServerKind::First));
    if site == ServerKind::First {
        work.put(Key::DiskJbodDbDisks, &data);
    }
    let all = data + work.get(Key::VolumeRestoreVolumes) + work.get(Key::VolumeAutoreseed);
    let all =
        if work.deployment.is_compatible() { all } else { all + work.get(Key::VolumeLogVolumes) };
    work.put(Key::DiskJbodDisksPerServer(site), all);
}
