//! Disks: redundant groups by I/O and by capacity, or single ones (facts 5.10).

use plan::deployment::{Disk, Disks, Raid, RaidGroup};

use crate::architecture::{Architecture, Build};
use crate::database::raw_gb;
use crate::number::Number;
use crate::sheet::WORKBOOK;
use crate::work::Work;

/// Requests of one place behind the other that any disk answers in a second. Source: S-W76.
const SEQUENTIAL_IOPS: f64 = 300.0;

/// What one level costs. Source: S-W76.
pub(crate) struct Level {
    /// Which one.
    pub raid: Raid,
    suffix: &'static str,
    /// Disk writes for one database write.
    pub write_cost: f64,
    /// Share of the I/O that a rebuild takes.
    pub rebuild: f64,
}

/// Every level, in the order in which they are chosen where they tie.
pub(crate) const LEVELS: [Level; 3] = [
    Level {
        raid: Raid::Raid10,
        suffix: "raid10",
        write_cost: 2.0,
        rebuild: 0.35,
    },
    Level {
        raid: Raid::Raid5,
        suffix: "raid5",
        write_cost: 4.0,
        rebuild: 0.5,
    },
    Level {
        raid: Raid::Raid6,
        suffix: "raid6",
        write_cost: 6.0,
        rebuild: 0.5,
    },
];

/// Disks of a server in each site.
pub(crate) fn disks(work: &mut Work<'_>, architecture: Architecture) {
    let first = &work.deployment.storage.first;
    let data = (work.get("vol.db_volumes_gb_per_server") / work.get("disk.formatted_gb")).up();
    work.put("disk.data_disks_for_capacity", "", data);
    for level in &LEVELS {
        demand(work, level, &first.database);
    }
    let database = chosen(work, &first.database);
    let logs = log_disks(work, architecture, first);
    let restore = restore_disks(work, first);
    if architecture.first == Build::Raid {
        let all = database + logs + restore;
        work.put("disk.raid_disks_per_server", "", all);
    } else {
        single(work, "_dc1");
    }
    if work.deployment.second_site.is_some() && architecture.second == Build::Jbod {
        single(work, "_dc2");
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
    let suffix = level.suffix;
    let back_end =
        work.get("io.db_reads_per_server") + level.write_cost * work.get("io.db_writes_per_server");
    let back_end = work.put(&format!("disk.backend_iops_{suffix}"), "1/s", back_end);
    let safe = back_end / (1.0 - level.rebuild);
    let safe = work.put(&format!("disk.rebuild_safe_iops_{suffix}"), "1/s", safe);
    let group = group_of(work, level.raid);
    if level.raid == Raid::Raid10 || !disk.slow {
        let needed = (safe / work.get("disk.random_iops")).up();
        let whole = needed.up_to(f64::from(group.data + group.redundancy));
        work.put(&format!("disk.{suffix}_for_io"), "", whole);
    }
    let data = work.get("disk.data_disks_for_capacity");
    let with_parity = in_groups(data, group);
    work.put(&format!("disk.{suffix}_for_capacity"), "", with_parity);
}

/// Data disks in whole groups, with what makes them redundant.
pub(crate) fn in_groups(data: Number, group: RaidGroup) -> Number {
    let size = f64::from(group.data);
    data.up_to(size) * (f64::from(group.data + group.redundancy) / size)
}

/// The level with fewer disks, mirrors where they tie; parity is refused on slow disks.
fn chosen(work: &mut Work<'_>, disk: &Disk) -> Number {
    let mirrored = needed(work, "raid10");
    let parity = needed(work, "raid5");
    let (raid, because) = match work.deployment.storage.raid {
        Some(raid) => (raid, "given"),
        None if disk.slow => (
            Raid::Raid10,
            "parity is refused on disks of 7.2K and slower",
        ),
        None if mirrored.value() <= parity.value() => (Raid::Raid10, "no more disks than RAID-5"),
        None => (Raid::Raid5, "fewer disks than RAID-1/0"),
    };
    let disks = match raid {
        Raid::Raid10 => mirrored,
        Raid::Raid5 => parity,
        Raid::Raid6 => needed(work, "raid6"),
    };
    let key = "disk.raid_choice_db";
    work.sheet.put_word(key, WORKBOOK, raid.word(), because);
    work.put("disk.raid_disks_db", "", disks)
}

fn needed(work: &Work<'_>, suffix: &str) -> Number {
    let capacity = work.get(&format!("disk.{suffix}_for_capacity"));
    match work.sheet.find(&format!("disk.{suffix}_for_io")) {
        Some(io) => io.max(capacity),
        None => capacity,
    }
}

/// Logs on volumes of their own are mirrored.
fn log_disks(work: &mut Work<'_>, architecture: Architecture, disks: &Disks) -> Number {
    if !architecture.logs_apart {
        return work.put("disk.raid_disks_log", "", 0.0);
    }
    let group = group_of(work, Raid::Raid10);
    let formatted = formatted(work, "log", &disks.log);
    let data = (work.get("vol.log_volumes_gb_per_server") / formatted).up();
    let capacity = in_groups(data, group);
    let [mirrored, ..] = &LEVELS;
    let back_end = work.get("io.log_reads_per_server")
        + mirrored.write_cost * work.get("io.log_writes_per_server");
    let rated = disks.log.random_iops.max(SEQUENTIAL_IOPS);
    let rated = work.sheet.input("disk.log_iops", "1/s", rated);
    let share = work.deployment.storage.usable_disk_io;
    let share = work.sheet.share("storage.usable_disk_io_percent", share);
    let io = (back_end / (1.0 - mirrored.rebuild) / (rated * share)).up();
    let io = io.up_to(f64::from(group.data + group.redundancy));
    let because = "logs are written one behind the other and are mirrored";
    let word = Raid::Raid10.word();
    work.sheet
        .put_word("disk.raid_choice_log", WORKBOOK, word, because);
    work.put("disk.raid_disks_log", "", io.max(capacity))
}

fn formatted(work: &mut Work<'_>, purpose: &str, disk: &Disk) -> Number {
    let key = format!("disk.{purpose}_raw_gb");
    work.sheet.input(&key, "GB", raw_gb(disk)) * 1e9 / 1_073_741_824.0
}

fn restore_disks(work: &mut Work<'_>, disks: &Disks) -> Number {
    let Some(size) = work.sheet.find("vol.restore_gb") else {
        return work.put("disk.raid_disks_restore", "", 0.0);
    };
    let formatted = formatted(work, "restore", &disks.restore);
    let group = work.deployment.storage.groups.restore;
    let disks = in_groups((size / formatted).up(), group);
    let mirrored = group.redundancy >= group.data;
    let word = if mirrored { Raid::Raid10 } else { Raid::Raid5 };
    let because = "the group that is given for restores";
    let key = "disk.raid_choice_restore";
    work.sheet.put_word(key, WORKBOOK, word.word(), because);
    work.put("disk.raid_disks_restore", "", disks)
}

/// One disk per volume.
fn single(work: &mut Work<'_>, site: &str) {
    let data = work.get("vol.db_volumes");
    if site == "_dc1" {
        work.put("disk.jbod_db_disks", "", &data);
    }
    let all = data + work.get("vol.restore_volumes") + work.get("vol.autoreseed");
    let all = if work.deployment.is_compatible() {
        all
    } else {
        all + work.get("vol.log_volumes")
    };
    work.put(&format!("disk.jbod_disks_per_server{site}"), "", all);
}
