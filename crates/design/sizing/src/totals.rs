//! Totals over all servers of all groups: the purchase, and the numbers that rank designs.

use crate::key::{Key, ServerKind};
use crate::number::Number;
use crate::work::Work;

/// System disks of a server, a mirrored pair. Source: S-PA19.
const IN_A_PAIR: f64 = 2.0;

/// Total servers, disks, databases and memory.
pub(crate) fn totals(work: &mut Work<'_>) {
    let groups =
        if work.deployment.has_copies() { work.get(Key::ServerDags) } else { Number::plain(1.0) };
    let here = work.get(Key::ServerActiveDc1) * &groups;
    let there = (work.get(Key::ServerPerDag) - work.get(Key::ServerActiveDc1)) * &groups;
    let late = work.sheet.find_or_0(Key::ServerLaggedPerDag) * &groups;
    let servers = work.sheet.put(Key::ServerAll, &here + &there + &late);
    work.sheet.put(Key::DiskSystemAll, servers * IN_A_PAIR);
    let raid = work.sheet.find(Key::DiskRaidDisksPerServer);
    let single = work.sheet.find(Key::DiskJbodDisksPerServer(ServerKind::First));
    let mirrored = work.get(Key::DiskRaidDisksDb(ServerKind::First))
        + work.get(Key::DiskRaidDisksLog)
        + work.get(Key::DiskRaidDisksRestore);
    let first = raid.or(single).unwrap_or_else(|| mirrored.clone());
    let second = disks_of(work, ServerKind::Second).unwrap_or_else(|| mirrored.clone());
    let mut disks = &here * first;
    if there.value() > 0.0 {
        disks = disks + &there * second;
    }
    if late.value() > 0.0 {
        disks = disks + &late * disks_of(work, ServerKind::Lagged).unwrap_or(mirrored);
    }
    work.sheet.put(Key::DiskAll, disks.up());
    let mut memory = here * bought(work, ServerKind::First);
    if work.sheet.find(Key::MemoryRamGb(ServerKind::Second)).is_some() {
        memory = memory + there * bought(work, ServerKind::Second);
    }
    if work.sheet.find(Key::MemoryRamGb(ServerKind::Lagged)).is_some() {
        memory = memory + late * bought(work, ServerKind::Lagged);
    }
    work.sheet.put(Key::MemoryAllGb, memory);
    let databases = if work.deployment.has_copies() {
        work.get(Key::DatabaseCount) * groups
    } else {
        work.get(Key::DatabaseCount) * work.get(Key::ServerActiveDc1)
    };
    work.sheet.put(Key::DatabaseAll, databases);
}

/// Memory of a server to buy: what the load needs, and no less than the vendor supports.
fn bought(work: &mut Work<'_>, kind: ServerKind) -> Number {
    let least = figure!(work, memory_minimum_gb);
    let bought = work.get(Key::MemoryRamGb(kind)).max(least);
    work.put(Key::MemoryBoughtGb(kind), bought)
}

/// Disks of a server: single ones, or those in redundant groups; `None` if neither is known.
fn disks_of(work: &Work<'_>, kind: ServerKind) -> Option<Number> {
    if let Some(single) = work.sheet.find(Key::DiskJbodDisksPerServer(kind)) {
        return Some(single);
    }
    let databases = work.sheet.find(Key::DiskRaidDisksDb(kind))?;
    Some(databases + work.get(Key::DiskRaidDisksLog) + work.get(Key::DiskRaidDisksRestore))
}
