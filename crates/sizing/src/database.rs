//! How large a database may be, how many there are, and where their copies lie (facts 5.5 to 5.7).

use plan::deployment::{Disk, SiteModel};

use crate::architecture::{Architecture, Build, VolumeArchitecture};
use crate::number::Number;
use crate::quirk::Quirk;
use crate::work::Work;

/// Raw GB of a disk from which a database of its own is limited by its size alone. Source: S-W76.
const LARGE_DISK_GB: f64 = 2500.0;

/// Databases that a server without copies may hold where backup sets share volumes. Source: S-W76.
const MOST_IN_BACKUP_SETS: f64 = 98.0;

/// GB of 10^9 bytes, as vendors count.
pub fn raw_gb(disk: &Disk) -> f64 {
    disk.capacity.0 as f64 / 1e9
}

/// Everything about databases but their content.
pub fn databases(work: &mut Work<'_>, architecture: Architecture) {
    formatted(work);
    by_copies(work, architecture);
    largest(work, architecture);
    per_volume(work, architecture);
    mailboxes(work, architecture);
    count(work, architecture);
    copies(work);
}

/// Formatted GB and I/O of the database disks of both sites.
fn formatted(work: &mut Work<'_>) {
    let storage = &work.deployment.storage;
    let usable = work
        .sheet
        .share("storage.usable_disk_io_percent", storage.usable_disk_io);
    let factor = work.deployment.file_system.iops_factor;
    let factor = work.sheet.input("file_system.iops_factor", "", factor);
    for (site, disks) in [("", &storage.first), ("_dc2", &storage.second)] {
        let disk = &disks.database;
        let raw = work
            .sheet
            .input(&format!("disk.raw_gb{site}"), "GB", raw_gb(disk));
        let formatted = raw * 1e9 / 1_073_741_824.0;
        work.put(&format!("disk.formatted_gb{site}"), "GB", formatted);
        let key = format!("disk.rated_iops{site}");
        let rated = work.sheet.input(&key, "1/s", disk.random_iops);
        let iops = rated * &usable * &factor;
        work.put(&format!("disk.random_iops{site}"), "1/s", iops);
    }
}

/// Databases that would share a volume, as far as copies and site model decide.
fn by_copies(work: &mut Work<'_>, architecture: Architecture) {
    let count = if architecture.volumes == VolumeArchitecture::SeveralDatabases {
        several(work)
    } else {
        Number::plain(1.0)
    };
    work.put("db.per_volume_by_copies", "", count);
}

/// Databases on a volume: in a group of two active sites no more than have room on a disk.
fn per_volume(work: &mut Work<'_>, architecture: Architecture) {
    let mut count = work.get("db.per_volume_by_copies");
    let both = work.deployment.site_model() == Some(SiteModel::ActiveActive);
    if both && architecture.volumes == VolumeArchitecture::SeveralDatabases {
        let room = work.get("disk.formatted_gb") / work.get("db.max_size_gb_used");
        count = count.min(room.down()).max(1.0);
    }
    work.put("db.per_volume", "", count);
}

fn several(work: &Work<'_>) -> Number {
    let copies = work.get("copies.total");
    let here = work.get("copies.first_site") + work.get("copies.first_site_lagged");
    let there = work.get("copies.second_site") + work.get("copies.second_site_lagged");
    if !matches!(
        work.deployment.site_model(),
        None | Some(SiteModel::ActiveActive)
    ) {
        return here.max(there);
    }
    let even = copies.value() % 2.0 == 0.0;
    if even && !work.deployment.storage.databases_equal_copies {
        copies / 2.0
    } else {
        copies
    }
}

/// The largest database: by copies, and on single disks by what fits (5.5).
fn largest(work: &mut Work<'_>, architecture: Architecture) {
    let calculated = if !work.deployment.has_copies() {
        figure!(work, largest_database_alone_gb)
    } else if architecture.first == Build::Raid && architecture.second == Build::Raid {
        figure!(work, largest_database_gb)
    } else {
        let first = on_disk(work, architecture, "");
        match work.deployment.second_site {
            Some(_) => first.min(on_disk(work, architecture, "_dc2")),
            None if architecture.first == Build::Raid => figure!(work, largest_database_gb),
            None => first,
        }
    };
    let calculated = work.put("db.max_size_gb_calculated", "GB", calculated);
    let used = match work.deployment.data.largest_database {
        Some(wanted) => {
            let wanted = wanted.0 as f64 / f64::from(1 << 30);
            calculated.min(work.sheet.input("data.largest_database_gb", "GB", wanted))
        }
        None => calculated,
    };
    work.put("db.max_size_gb_used", "GB", used);
}

/// What fits on a disk together with index, logs and free space.
fn on_disk(work: &mut Work<'_>, architecture: Architecture, site: &str) -> Number {
    let free = work.deployment.data.volume_free_space;
    let room = work.get(&format!("disk.formatted_gb{site}"))
        * (1.0 - work.sheet.share("data.volume_free_space_percent", free));
    if architecture.volumes != VolumeArchitecture::SeveralDatabases {
        let raw = work.get(&format!("disk.raw_gb{site}"));
        return if raw.value() > LARGE_DISK_GB {
            figure!(work, largest_database_gb)
        } else {
            (room / 1.4).up()
        };
    }
    let right = work.get("db.per_volume_by_copies");
    let workbook = workbook_per_volume(work);
    let key = format!("db.max_size_gb_calculated{site}");
    let count = if site.is_empty() {
        work.either(Quirk::VolumeOfBothSites, &key, workbook, right)
    } else if work.deployment.is_compatible() {
        workbook
    } else {
        right
    };
    room / &count / (1.0 + 0.2 + 0.2 / count)
}

/// Databases on a volume as the workbook counts them for the largest database.
fn workbook_per_volume(work: &Work<'_>) -> Number {
    let copies = work.get("copies.total");
    let even = copies.value() % 2.0 == 0.0;
    let halved = !work.deployment.storage.databases_equal_copies
        || work.deployment.site_model() == Some(SiteModel::ActivePassive);
    if even && halved { copies / 2.0 } else { copies }
}

/// Mailboxes that fit into a database and onto a disk (5.6).
fn mailboxes(work: &mut Work<'_>, architecture: Architecture) {
    let overhead = work
        .sheet
        .share("data.overhead_percent", work.deployment.data.overhead);
    let largest = work.get("db.max_size_gb_used");
    let by_space = largest * (1.0 - overhead) * 1024.0 / work.get("mailboxes.on_disk_mb");
    let mut target = work.put("db.mailboxes_capacity_limited", "", by_space);
    if architecture.first == Build::Jbod {
        let mut iops = work.get("disk.random_iops");
        if architecture.second == Build::Jbod && work.deployment.second_site.is_some() {
            iops = iops.min(work.get("disk.random_iops_dc2"));
        }
        let by_io =
            (iops / work.get("io.db_iops_per_mailbox")).down_to(2.0) / work.get("db.per_volume");
        target = target.min(work.put("db.mailboxes_io_limited", "", by_io));
    }
    let workbook = target.clone().up();
    let right = target.down().max(1.0);
    let target = work.either(
        Quirk::MailboxesRoundedUp,
        "db.mailboxes_target",
        workbook,
        right,
    );
    work.put("db.mailboxes_target", "", target);
}

/// Databases of a group.
fn count(work: &mut Work<'_>, architecture: Architecture) {
    let most = most(work, architecture);
    let most = work.put("db.max_count_per_dag", "", most);
    let needed = (work.get("srv.mailboxes_per_dag") / work.get("db.mailboxes_target")).up();
    let needed = if needed.value() > 1.0 {
        needed.up_to(2.0)
    } else {
        needed
    };
    let minimum = work.put("db.count_minimum", "", needed.min(&most));
    let wanted = match work.deployment.data.database_count {
        Some(count) => work
            .sheet
            .input("data.databases", "", f64::from(count))
            .min(&most),
        None => minimum,
    };
    let even = symmetrical(work, &wanted, &most);
    let even = work.put("db.count_symmetrical", "", even);
    let before = if work.deployment.data.symmetrical {
        even
    } else {
        wanted.clone()
    };
    let before = work.put("db.count_before_group_rounding", "", before);
    let count = rounded(work, before, wanted);
    let count = work.put("db.count", "", count);
    let each = work.get("srv.mailboxes_per_dag") / count;
    work.put("db.mailboxes", "", each);
}

/// The count in groups of four; a given count as it is.
fn rounded(work: &mut Work<'_>, before: Number, wanted: Number) -> Number {
    let key = "db.count";
    let workbook = if work.deployment.has_copies() {
        &before + before.clone().modulo(4.0)
    } else {
        before.clone()
    };
    if work.deployment.data.database_count.is_some() {
        work.either(Quirk::GivenCount, key, workbook, wanted)
    } else if work.deployment.has_copies() {
        let right = evenly_in_fours(work, before);
        work.either(Quirk::GroupsOfFour, key, workbook, right)
    } else {
        before
    }
}

/// The next count that makes whole groups of four and, where that is wanted, gives every server
/// the same.
fn evenly_in_fours(work: &Work<'_>, before: Number) -> Number {
    if !work.deployment.data.symmetrical {
        return before.up_to(4.0);
    }
    let servers = match work.deployment.site_model() {
        Some(SiteModel::ActiveActive) => work.get("srv.active_dc1") * 2.0,
        _ => work.get("srv.active_dc1"),
    };
    let odd_parts = match servers.value() % 4.0 {
        0.0 => 1.0,
        2.0 => 2.0,
        _ => 4.0,
    };
    let step = servers * odd_parts;
    let even = before.clone().up_to(step);
    if even.value() <= work.value("db.max_count_per_dag") {
        even
    } else {
        before.up_to(4.0)
    }
}

/// Databases that the servers of a group may hold.
fn most(work: &mut Work<'_>, architecture: Architecture) -> Number {
    let each = figure!(work, databases_per_server);
    if !work.deployment.has_copies() {
        let sets = architecture.volumes == VolumeArchitecture::TwoPerBackupSet;
        return if sets {
            each.min(MOST_IN_BACKUP_SETS)
        } else {
            each
        };
    }
    let each = each.down_to(work.get("db.per_volume"));
    (each * work.get("srv.active_dc1") / copies_here(work)).down()
}

fn copies_here(work: &Work<'_>) -> Number {
    work.get("copies.first_site") + work.get("copies.first_site_lagged")
}

/// The count that spreads evenly over all ways to lay the copies on servers, where it fits; else
/// evenly over the servers.
fn symmetrical(work: &mut Work<'_>, wanted: &Number, most: &Number) -> Number {
    if !work.deployment.has_copies() {
        return wanted.clone();
    }
    let servers = work.get("srv.active_dc1");
    let block = servers.clone().orders(copies_here(work));
    let block = work.put("db.symmetrical_block", "", block);
    let shares = match work.deployment.site_model() {
        Some(SiteModel::ActiveActive) => wanted.clone().up_to(servers * 2.0),
        _ => wanted.clone().up_to(servers),
    };
    let all = wanted.clone().up_to(&block);
    if all.value() <= most.value() {
        let doubles = all.value() > 2.0 * wanted.value();
        let right = if doubles { shares } else { all.clone() };
        return work.either(Quirk::AllOrders, "db.count_symmetrical", all, right);
    }
    let less = all - block;
    // One block less no longer holds all mailboxes; the workbook takes it all the same.
    if work.deployment.is_compatible() && less.value() > 0.0 && less.value() <= most.value() {
        return less;
    }
    shares
}

/// Copies that a server of the first site holds (5.7), and where databases are active.
fn copies(work: &mut Work<'_>) {
    let count = work.get("db.count");
    let both = work.deployment.site_model() == Some(SiteModel::ActiveActive);
    let (first, second) = if both {
        (&count / 2.0, Some(&count / 2.0))
    } else {
        (count.clone(), None)
    };
    let first = work.put("db.active_dc1", "", first);
    let apart = work.deployment.availability.lagged_on_own_servers;
    let mut here = &first * work.get("copies.first_site");
    if !apart {
        here = here + &first * work.get("copies.first_site_lagged");
    }
    if let Some(second) = second {
        let second = work.put("db.active_dc2", "", second);
        here = here + &second * work.get("copies.second_site");
        if !apart {
            here = here + second * work.get("copies.second_site_lagged");
        }
    }
    let each = here / work.get("srv.active_dc1");
    let each = if work.deployment.has_copies() {
        let workbook = each.clone().round();
        work.either(
            Quirk::FractionalVolumes,
            "srv.db_copies",
            workbook,
            each.up(),
        )
    } else {
        count.clone()
    };
    work.put("srv.db_copies", "", each.min(&count));
    let group = count * work.get("copies.total");
    let group = work.put("copies.per_dag", "", group);
    let groups = if work.deployment.has_copies() {
        work.get("srv.dags")
    } else {
        work.get("srv.parts")
    };
    work.put("copies.in_all", "", group * groups);
}
