//! Requests of a server, and the disks that serve them (facts 5.2 and 5.10).

use super::databases::{Databases, formatted};
use super::failures::FailureLoads;
use super::given::GivenInputs;
use super::space::StoredSpace;
use super::tiers::Tiers;
use super::{Values, multiple, round, up};
use plan::deployment::{Raid, RaidGroup};

/// RAID levels: name in keys, disk requests per write, and the share of I/O that a rebuild takes.
const LEVELS: [(&str, f64, f64); 3] =
    [("raid10", 2.0, 0.35), ("raid5", 4.0, 0.5), ("raid6", 6.0, 0.5)];

/// Requests of a server.
struct ServerRequests {
    each: f64,
    reads: f64,
    writes: f64,
    log_reads: f64,
    log_writes: f64,
}

/// All values on requests and disks.
pub(super) fn disks(
    given: &GivenInputs<'_>,
    tiers: &Tiers,
    databases: &Databases,
    (failures, space): (&FailureLoads, &StoredSpace),
    values: &mut Values,
) {
    let load = load(given, tiers, databases, failures, values);
    let disk = &given.deployment.storage.first.database;
    let usable = disk.random_iops * given.deployment.storage.usable_disk_io;
    values.put("disk.rated_iops", disk.random_iops);
    values.put("disk.formatted_gb", formatted(given, 0));
    let data = up(space.databases_gb / formatted(given, 0));
    values.put("disk.data_disks_for_capacity", data);
    let groups = given.deployment.storage.groups;
    let groups = [groups.raid10, groups.raid5, groups.raid6];
    let mut needed = [0.0; 3];
    for (at, ((name, cost, rebuild), group)) in LEVELS.into_iter().zip(groups).enumerate() {
        let back_end = load.reads + cost * load.writes;
        values.put(format!("disk.backend_iops_{name}"), back_end);
        let safe = back_end / (1.0 - rebuild);
        values.put(format!("disk.rebuild_safe_iops_{name}"), safe);
        let capacity = in_groups(data, group);
        values.put(format!("disk.{name}_for_capacity"), capacity);
        needed[at] = capacity;
        if at == 0 || !disk.slow {
            let io = multiple(up(safe / usable), f64::from(group.data + group.redundancy));
            values.put(format!("disk.{name}_for_io"), io);
            needed[at] = io.max(capacity);
        }
    }
    let raid = raid_disks(given, needed, disk.slow, values);
    let logs = log_disks(given, &load, space.logs_gb);
    let restores = restore_disks(given, space);
    values.put("disk.raid_disks_log", logs);
    values.put("disk.raid_disks_restore", restores);
    if given.jbod[0] {
        single(given, databases, (&load, space), values);
    } else {
        values.put("disk.raid_disks_per_server", raid + logs + restores);
    }
}

fn load(
    given: &GivenInputs<'_>,
    tiers: &Tiers,
    databases: &Databases,
    failures: &FailureLoads,
    values: &mut Values,
) -> ServerRequests {
    let each = tiers.iops / databases.count;
    let server = each * databases.held;
    let (reads, writes) = (server * tiers.reads, server * (1.0 - tiers.reads));
    let ratio = if given.copies { 0.5 } else { 0.4 };
    let one = each * (1.0 - tiers.reads) * ratio;
    let sent = if given.copies { 0.1 * one } else { 0.0 };
    let log_reads = sent * failures.worst[0];
    for (key, value) in [
        ("io.db_iops_per_db", each),
        ("io.db_iops_per_server", server),
        ("io.db_reads_per_server", reads),
        ("io.db_writes_per_server", writes),
        ("io.log_writes_per_server", writes * ratio),
        ("io.log_reads_per_server", log_reads),
        ("io.log_iops_per_db", one + sent),
        ("io.maintenance_mb_per_server", databases.held),
    ] {
        values.put(key, value);
    }
    ServerRequests { each, reads, writes, log_reads, log_writes: writes * ratio }
}

/// Number of disks, including redundant ones, for `data` data disks in whole groups.
fn in_groups(data: f64, group: RaidGroup) -> f64 {
    let size = f64::from(group.data);
    multiple(data, size) / size * f64::from(group.data + group.redundancy)
}

/// The RAID level of the databases and its number of disks.
fn raid_disks(given: &GivenInputs<'_>, needed: [f64; 3], slow: bool, values: &mut Values) -> f64 {
    let chosen = match given.deployment.storage.raid {
        Some(Raid::Raid10) => 0,
        Some(Raid::Raid6) => 2,
        None if slow || needed[0] <= needed[1] => 0,
        Some(Raid::Raid5) | None => 1,
    };
    values.word("disk.raid_choice_db", ["RAID-1/0", "RAID-5", "RAID-6"][chosen]);
    values.put("disk.raid_disks_db", needed[chosen]);
    needed[chosen]
}

/// Number of mirrored disks for logs on separate volumes.
fn log_disks(given: &GivenInputs<'_>, load: &ServerRequests, gb: f64) -> f64 {
    if !given.isolated {
        return 0.0;
    }
    let disk = &given.deployment.storage.first.log;
    let group = given.deployment.storage.groups.raid10;
    let capacity = in_groups(up(gb / (disk.capacity.0 as f64 / 1_073_741_824.0)), group);
    let back_end = load.log_reads + 2.0 * load.log_writes;
    let answered = 300.0 * given.deployment.storage.usable_disk_io;
    let io = up(back_end / 0.65 / answered);
    multiple(io, f64::from(group.data + group.redundancy)).max(capacity)
}

fn restore_disks(given: &GivenInputs<'_>, space: &StoredSpace) -> f64 {
    let disk = given.deployment.storage.first.restore.capacity.0 as f64 / 1_073_741_824.0;
    let group = given.deployment.storage.groups.restore;
    space.restore_gb.map_or(0.0, |gb| in_groups(up(gb / disk), group))
}

/// One disk per volume; the workbook has no result if a volume does not fit on a disk.
fn single(
    given: &GivenInputs<'_>,
    databases: &Databases,
    (load, space): (&ServerRequests, &StoredSpace),
    values: &mut Values,
) {
    let rate = given.deployment.storage.first.database.random_iops;
    let passes =
        space.volume_gb <= formatted(given, 0) && round(load.each * databases.per_volume) <= rate;
    if passes {
        let restores = if space.restore_gb.is_some() { 1.0 } else { 0.0 };
        values.put("disk.jbod_db_disks", databases.volumes);
        values.put("disk.jbod_disks_per_server_dc1", databases.volumes + restores + space.spares);
    }
}
