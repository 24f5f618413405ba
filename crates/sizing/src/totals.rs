//! Sums over all servers of all groups: what is bought, and what designs are ranked by.

use crate::number::Number;
use crate::sheet::OWN;
use crate::work::Work;

/// Servers, disks, databases and memory in all.
pub(crate) fn totals(work: &mut Work<'_>) {
    let groups = if work.deployment.has_copies() {
        work.get("srv.dags")
    } else {
        Number::plain(1.0)
    };
    let here = work.get("srv.active_dc1") * &groups;
    let there = (work.get("srv.per_dag") - work.get("srv.active_dc1")) * &groups;
    let late = work.sheet.find("srv.lagged_per_dag");
    let late = late.unwrap_or_else(|| Number::plain(0.0)) * &groups;
    let others = &here + &there;
    work.sheet.put("srv.all", "", OWN, &others + &late);
    let raid = work.sheet.find("disk.raid_disks_per_server");
    let single = |site: &str| {
        work.sheet
            .find(&format!("disk.jbod_disks_per_server{site}"))
    };
    let mirrored = work.get("disk.raid_disks_db")
        + work.get("disk.raid_disks_log")
        + work.get("disk.raid_disks_restore");
    let first = raid
        .or_else(|| single("_dc1"))
        .unwrap_or_else(|| mirrored.clone());
    let raid_of = |kind: &str| {
        let databases = work.sheet.find(&format!("disk.raid_disks_db{kind}"))?;
        Some(databases + work.get("disk.raid_disks_log") + work.get("disk.raid_disks_restore"))
    };
    let of = |kind: &str| single(kind).or_else(|| raid_of(kind));
    let second = of("_dc2").unwrap_or_else(|| mirrored.clone());
    let mut disks = here * first;
    if there.value() > 0.0 {
        disks = disks + there * second;
    }
    if late.value() > 0.0 {
        disks = disks + &late * of("_lagged").unwrap_or(mirrored);
    }
    work.sheet.put("disk.all", "", OWN, disks.up());
    let mut memory = others * work.get("mem.ram_gb_dc1");
    if let Some(each) = work.sheet.find("mem.ram_gb_lagged") {
        memory = memory + late * each;
    }
    work.sheet.put("mem.all_gb", "GB", OWN, memory);
    let databases = if work.deployment.has_copies() {
        work.get("db.count") * groups
    } else {
        work.get("db.count") * work.get("srv.active_dc1")
    };
    work.sheet.put("db.all", "", OWN, databases);
}
