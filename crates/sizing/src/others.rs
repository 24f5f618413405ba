//! Servers that are not those of the first site: the second site's, by their own disks, and those
//! that are kept for late copies (facts 5.4, 5.7, 5.10 and 5.12, by the formulas of the others).
//!
//! The facts say that late copies on servers of their own do not count for the others (5.7). How
//! many such servers there are is ours: each holds no more copies than the others do, so that all
//! can have the same disks, and there are as many as a database has late copies in their site.

use plan::deployment::{Disk, SiteModel};

use crate::architecture::{Architecture, Build};
use crate::disks::{LEVELS, group_of, in_groups};
use crate::number::Number;
use crate::sheet::OWN;
use crate::volumes::database_volume;
use crate::work::Work;

/// Counts, volumes and disks of each kind of server.
pub(crate) fn others(work: &mut Work<'_>, architecture: Architecture) {
    let deployment = work.deployment;
    if let Some(model) = deployment.site_model() {
        let copies = match model {
            SiteModel::ActiveActive => work.get("srv.db_copies"),
            _ => (work.get("db.passive_dc2") / work.get("srv.passive_dc2").max(1.0)).up(),
        };
        put(work, "srv.db_copies_dc2", "", copies);
        let disk = &deployment.storage.second.database;
        storage(work, architecture, "_dc2", architecture.second, disk);
    }
    if !architecture.late_apart {
        return;
    }
    let disk = &deployment.storage.first.database;
    storage(work, architecture, "_lagged", architecture.first, disk);
}

fn put(work: &mut Work<'_>, key: &str, unit: &'static str, number: Number) -> Number {
    work.sheet.put(key, unit, OWN, number)
}

/// I/O, volumes and disks of a server that holds `srv.db_copies` of its kind.
fn storage(work: &mut Work<'_>, architecture: Architecture, kind: &str, build: Build, disk: &Disk) {
    let copies = work.get(&format!("srv.db_copies{kind}"));
    let iops = work.get("io.db_iops_per_db") * &copies;
    let iops = put(work, &format!("io.db_iops_per_server{kind}"), "1/s", iops);
    let volumes = (&copies / work.get("vol.dbs_per_volume")).up();
    let volumes = put(work, &format!("vol.db_volumes{kind}"), "", volumes);
    let on_one = copies / volumes.clone().max(1.0);
    let size = database_volume(work, architecture, &on_one) * &volumes;
    let key = format!("vol.db_volumes_gb_per_server{kind}");
    let size = put(work, &key, "GB", size);
    if build == Build::Jbod {
        // The second site's single disks are the workbook's, counted with the first's.
        if kind == "_lagged" {
            let mut all = volumes.clone() + work.get("vol.restore_volumes");
            all = all + work.get("vol.autoreseed");
            if architecture.logs_apart {
                all = all + volumes;
            }
            put(work, "disk.jbod_disks_per_server_lagged", "", all);
        }
        return;
    }
    redundant(work, kind, disk, &iops, size);
}

/// Disks in redundant groups: the level with fewer disks, as in the first site.
fn redundant(work: &mut Work<'_>, kind: &str, disk: &Disk, iops: &Number, size: Number) {
    let site = if kind == "_dc2" { "_dc2" } else { "" };
    let formatted = work.get(&format!("disk.formatted_gb{site}"));
    let data = (size / formatted).up();
    let reads = work.get("io.read_fraction");
    let needed = |work: &Work<'_>, at: usize| {
        let level = &LEVELS[at];
        let group = group_of(work, level.raid);
        let back_end = iops * (&reads + level.write_cost * (1.0 - &reads));
        let safe = back_end / (1.0 - level.rebuild);
        let io = (safe / work.get(&format!("disk.random_iops{site}"))).up();
        let io = io.up_to(f64::from(group.data + group.redundancy));
        io.max(in_groups(data.clone(), group))
    };
    let given = work.deployment.storage.raid;
    let (mirrored, parity) = (needed(work, 0), needed(work, 1));
    let chosen = match given {
        Some(raid) => LEVELS
            .iter()
            .position(|level| level.raid == raid)
            .unwrap_or(0),
        None if disk.slow || mirrored.value() <= parity.value() => 0,
        None => 1,
    };
    let disks = needed(work, chosen);
    let word = LEVELS[chosen].raid.word();
    let because = "given, or the level with fewer disks; no parity on slow ones";
    let key = format!("disk.raid_choice_db{kind}");
    work.sheet.put_word(&key, OWN, word, because);
    put(work, &format!("disk.raid_disks_db{kind}"), "", disks);
}

/// Processors and memory of servers that are kept for late copies. At the worst as many of them are
/// active as on another server, where late copies catch up by themselves; else none.
pub(crate) fn late_servers(work: &mut Work<'_>, architecture: Architecture) {
    let deployment = work.deployment;
    if !architecture.late_apart {
        return;
    }
    let copies = work.get("srv.db_copies_lagged");
    let catches_up = deployment.availability.replay_lag_manager && !deployment.is_compatible();
    let active = if catches_up {
        copies.min(work.get("srv.worst_active_dbs_dc1"))
    } else {
        Number::plain(0.0)
    };
    put(work, "srv.worst_active_dbs_lagged", "", active);
    crate::processor::late(work);
    crate::memory::late(work);
}
