//! Sums over all servers of all groups: what is bought, and what designs are ranked by.

use crate::number::Number;
use crate::sheet::OWN;
use crate::work::Work;

/// Servers, disks, databases and memory in all.
pub fn totals(work: &mut Work<'_>) {
    let groups = if work.deployment.has_copies() {
        work.get("srv.dags")
    } else {
        Number::plain(1.0)
    };
    let here = work.get("srv.active_dc1") * &groups;
    let there = (work.get("srv.per_dag") - work.get("srv.active_dc1")) * &groups;
    let servers = work.sheet.put("srv.all", "", OWN, &here + &there);
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
    let second = single("_dc2").unwrap_or(mirrored);
    let disks = if there.value() > 0.0 {
        here * first + there * second
    } else {
        here * first
    };
    work.sheet.put("disk.all", "", OWN, disks.up());
    let memory = servers * work.get("mem.ram_gb_dc1");
    work.sheet.put("mem.all_gb", "GB", OWN, memory);
    let databases = if work.deployment.has_copies() {
        work.get("db.count") * groups
    } else {
        work.get("db.count") * work.get("srv.active_dc1")
    };
    work.sheet.put("db.all", "", OWN, databases);
}
