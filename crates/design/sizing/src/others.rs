//! Servers other than those of the first site: the second site's, by their own disks, and those
//! reserved for lagged copies, by the same formulas (facts 5.4, 5.7, 5.10 and 5.12).
//!
//! The facts say that lagged copies on separate servers do not count for the others (5.7). The
//! number of such servers is this program's choice: each holds no more copies than the others do,
//! so that all can have the same disks, and there are as many as a database has lagged copies in
//! their site.

use plan::deployment::{Disk, SiteModel};

use crate::architecture::Architecture;
use crate::decision::{Build, Decision};
use crate::disks::{LEVELS, group_of, in_groups};
use crate::key::{Key, ServerKind};
use crate::number::Number;
use crate::volumes::database_volume;
use crate::work::Work;

/// Counts, volumes and disks of each kind of server.
pub(crate) fn others(work: &mut Work<'_>, architecture: Architecture) {
    let deployment = work.deployment;
    if let Some(model) = deployment.site_model() {
        let copies = match model {
            SiteModel::ActiveActive => work.get(Key::ServerDbCopies(ServerKind::First)),
            _ => {
                (work.get(Key::DatabasePassiveDc2) / work.get(Key::ServerPassiveDc2).max(1.0)).up()
            }
        };
        work.put(Key::ServerDbCopies(ServerKind::Second), copies);
        let disk = &deployment.storage.second.database;
        storage(work, architecture, ServerKind::Second, architecture.second, disk);
    }
    if !architecture.late_apart {
        return;
    }
    let disk = &deployment.storage.first.database;
    storage(work, architecture, ServerKind::Lagged, architecture.first, disk);
}

/// I/O, volumes and disks of a server that holds `srv.db_copies` of its kind.
fn storage(
    work: &mut Work<'_>,
    architecture: Architecture,
    kind: ServerKind,
    build: Build,
    disk: &Disk,
) {
    let copies = work.get(Key::ServerDbCopies(kind));
    let iops = work.get(Key::IoDbIopsPerDb) * &copies;
    let iops = work.put(Key::IoDbIopsPerServer(kind), iops);
    let volumes = (&copies / work.get(Key::VolumeDbsPerVolume)).up();
    let volumes = work.put(Key::VolumeDbVolumes(kind), volumes);
    let on_one = copies / volumes.clone().max(1.0);
    let size = database_volume(work, architecture, &on_one) * &volumes;
    let size = work.put(Key::VolumeDbVolumesGbPerServer(kind), size);
    if build == Build::Jbod {
        // The second site's single disks follow the workbook and are counted with the first's.
        if kind == ServerKind::Lagged {
            let mut all = volumes.clone() + work.get(Key::VolumeRestoreVolumes);
            all = all + work.get(Key::VolumeAutoreseed);
            if architecture.logs_apart {
                all = all + volumes;
            }
            work.put(Key::DiskJbodDisksPerServer(ServerKind::Lagged), all);
        }
        return;
    }
    redundant(work, kind, disk, &iops, size);
}

/// Disks in redundant groups: the level with fewer disks, as in the first site.
fn redundant(work: &mut Work<'_>, kind: ServerKind, disk: &Disk, iops: &Number, size: Number) {
    let disks_of = kind.with_disks();
    let formatted = work.get(Key::DiskFormattedGb(disks_of));
    let data = (size / formatted).up();
    let reads = work.get(Key::IoReadFraction);
    let demand = (iops, &reads, &data);
    let given = work.deployment.storage.raid;
    let (mirrored, parity) = (needed(work, disks_of, 0, demand), needed(work, disks_of, 1, demand));
    let chosen = match given {
        Some(raid) => LEVELS.iter().position(|level| level.raid == raid).unwrap_or(0),
        None if disk.slow || mirrored.value() <= parity.value() => 0,
        None => 1,
    };
    let disks = needed(work, disks_of, chosen, demand);
    let raid = Decision::Raid(LEVELS[chosen].raid);
    let because = "given, or the level with fewer disks; no parity on slow ones";
    work.sheet.decide(Key::DiskRaidChoiceDb(kind), raid, because);
    work.put(Key::DiskRaidDisksDb(kind), disks);
}

/// Disks at index `level` of [`LEVELS`] that carry `iops`, of which the share `reads` are reads,
/// and hold the data of `data` disks.
fn needed(
    work: &Work<'_>,
    disks_of: ServerKind,
    level: usize,
    (iops, reads, data): (&Number, &Number, &Number),
) -> Number {
    let level = &LEVELS[level];
    let group = group_of(work, level.raid);
    let back_end = iops * (reads + level.write_cost * (1.0 - reads));
    let safe = back_end / (1.0 - level.rebuild);
    let io = (safe / work.get(Key::DiskRandomIops(disks_of))).up();
    let io = io.up_to(f64::from(group.data + group.redundancy));
    io.max(in_groups(data.clone(), group))
}

/// Processors and memory of servers reserved for lagged copies. In corrected mode, if lagged copies
/// catch up by themselves, at worst as many are active as on a server of the first site; otherwise
/// none is.
pub(crate) fn late_servers(work: &mut Work<'_>, architecture: Architecture) {
    let deployment = work.deployment;
    if !architecture.late_apart {
        return;
    }
    let copies = work.get(Key::ServerDbCopies(ServerKind::Lagged));
    let catches_up = deployment.availability.replay_lag_manager && !deployment.is_compatible();
    let active = if catches_up {
        copies.min(work.get(Key::ServerWorstActiveDbs(ServerKind::First)))
    } else {
        Number::plain(0.0)
    };
    work.put(Key::ServerWorstActiveDbs(ServerKind::Lagged), active);
    crate::processor::late(work);
    crate::memory::late(work);
}
