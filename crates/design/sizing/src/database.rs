//! The maximum size of a database, and how many mailboxes fit in it (facts 5.5 and 5.6).

use plan::deployment::{Disk, SiteModel};
use units::Bytes;

use crate::architecture::Architecture;
use crate::decision::{Build, VolumeArchitecture};
use crate::key::{Key, ServerKind};
use crate::number::Number;
use crate::quirk::Quirk;
use crate::work::Work;

/// Raw GB of a disk above which only size limits a dedicated database. Source: S-W76.
const LARGE_DISK_GB: f64 = 2500.0;

/// GB of 10^9 bytes, as vendors count.
pub(crate) fn raw_gb(disk: &Disk) -> f64 {
    raw_gb_of(disk.capacity)
}

/// A capacity in GB of 10^9 bytes.
pub(crate) fn raw_gb_of(capacity: Bytes) -> f64 {
    capacity.0 as f64 / 1e9
}

/// Maximum size of a database, databases per volume, and mailboxes that fit in a database.
pub(crate) fn databases(work: &mut Work<'_>, architecture: Architecture) {
    formatted(work);
    by_copies(work, architecture);
    largest(work, architecture);
    per_volume(work, architecture);
    mailboxes(work, architecture);
}

/// Formatted GB and I/O of the database disks of both sites.
fn formatted(work: &mut Work<'_>) {
    let storage = &work.deployment.storage;
    let usable = work.sheet.share(Key::StorageUsableDiskIoPercent, storage.usable_disk_io);
    let factor = work.deployment.file_system.iops_factor;
    let factor = work.sheet.input(Key::FileSystemIopsFactor, factor);
    for (site, disks) in
        [(ServerKind::First, &storage.first), (ServerKind::Second, &storage.second)]
    {
        let disk = &disks.database;
        let raw = work.sheet.input(Key::DiskRawGb(site), raw_gb(disk));
        let formatted = raw * 1e9 / 1_073_741_824.0;
        work.put(Key::DiskFormattedGb(site), formatted);
        let rated = work.sheet.input(Key::DiskRatedIops(site), disk.random_iops);
        let iops = rated * &usable * &factor;
        work.put(Key::DiskRandomIops(site), iops);
    }
}

/// Databases that would share a volume, considering only copies and site model.
fn by_copies(work: &mut Work<'_>, architecture: Architecture) {
    let count = if architecture.volumes == VolumeArchitecture::SeveralDatabases {
        several(work)
    } else {
        Number::plain(1.0)
    };
    work.put(Key::DatabasePerVolumeByCopies, count);
}

/// Databases per volume; in a group of two active sites, no more than fit on a disk.
fn per_volume(work: &mut Work<'_>, architecture: Architecture) {
    let mut count = work.get(Key::DatabasePerVolumeByCopies);
    let both = work.deployment.site_model() == Some(SiteModel::ActiveActive);
    if both && architecture.volumes == VolumeArchitecture::SeveralDatabases {
        let disk = work
            .get(Key::DiskFormattedGb(ServerKind::First))
            .min(work.get(Key::DiskFormattedGb(ServerKind::Second)));
        let room = disk / work.get(Key::DatabaseMaxSizeGbUsed);
        count = count.min(room.down()).max(1.0);
    }
    work.put(Key::DatabasePerVolume, count);
}

fn several(work: &Work<'_>) -> Number {
    let copies = work.get(Key::CopiesTotal);
    let here = work.get(Key::CopiesFirstSite) + work.get(Key::CopiesFirstSiteLagged);
    let there = work.get(Key::CopiesSecondSite) + work.get(Key::CopiesSecondSiteLagged);
    if !matches!(work.deployment.site_model(), None | Some(SiteModel::ActiveActive)) {
        return here.max(there);
    }
    let even = copies.value() % 2.0 == 0.0;
    if even && !work.deployment.storage.databases_equal_copies { copies / 2.0 } else { copies }
}

/// Largest database size: by copies, and on single disks by capacity (5.5).
fn largest(work: &mut Work<'_>, architecture: Architecture) {
    let key = Key::DatabaseMaxSizeGbCalculated;
    let calculated = if work.deployment.has_copies() {
        let right = largest_of_both(work, architecture);
        let workbook = workbook_largest(work, architecture);
        work.either(Quirk::FirstSiteDecides, key, workbook, right)
    } else {
        figure!(work, largest_database_alone_gb)
    };
    let calculated = work.put(key, calculated);
    let used = match work.deployment.data.largest_database {
        Some(wanted) => {
            let wanted = wanted.0 as f64 / f64::from(1 << 30);
            calculated.min(work.sheet.input(Key::DataLargestDatabaseGb, wanted))
        }
        None => calculated,
    };
    work.put(Key::DatabaseMaxSizeGbUsed, used);
}

/// The largest size that fits on the disks of both sites.
fn largest_of_both(work: &mut Work<'_>, architecture: Architecture) -> Number {
    let first = of_site(work, architecture, architecture.first, ServerKind::First);
    if work.deployment.second_site.is_none() {
        return first;
    }
    first.min(of_site(work, architecture, architecture.second, ServerKind::Second))
}

fn of_site(
    work: &mut Work<'_>,
    architecture: Architecture,
    build: Build,
    site: ServerKind,
) -> Number {
    let largest = figure!(work, largest_database_gb);
    if build == Build::Raid {
        return largest;
    }
    let formatted = work.get(Key::DiskFormattedGb(site));
    if architecture.volumes == VolumeArchitecture::SeveralDatabases {
        let count = work.get(Key::DatabasePerVolumeByCopies);
        return beside_others(work, formatted, count);
    }
    let raw = work.get(Key::DiskRawGb(site));
    alone(work, formatted, &raw, largest)
}

/// The same by the workbook: the first site's build decides, and the smaller disk.
fn workbook_largest(work: &mut Work<'_>, architecture: Architecture) -> Number {
    let largest = figure!(work, largest_database_gb);
    if architecture.first == Build::Raid {
        return largest;
    }
    let mut formatted = work.get(Key::DiskFormattedGb(ServerKind::First));
    if work.deployment.second_site.is_some() {
        formatted = formatted.min(work.get(Key::DiskFormattedGb(ServerKind::Second)));
    }
    if architecture.volumes == VolumeArchitecture::SeveralDatabases {
        let right = work.get(Key::DatabasePerVolumeByCopies);
        let count = workbook_per_volume(work);
        let key = Key::DatabaseMaxSizeGbCalculated;
        if (count.value() - right.value()).abs() > 0.5 {
            let values = (count.value(), right.value());
            work.note(Quirk::VolumeOfBothSites, key, Some(values));
        }
        return beside_others(work, formatted, count);
    }
    let raw = work.get(Key::DiskRawGb(ServerKind::First));
    alone(work, formatted, &raw, largest)
}

/// Size of a database that has a disk to itself.
fn alone(work: &mut Work<'_>, formatted: Number, raw: &Number, largest: Number) -> Number {
    if raw.value() > LARGE_DISK_GB {
        return largest;
    }
    let beside = 1.0 + index_shares(work);
    (formatted * usable(work) / beside).up().min(largest)
}

/// Size of one of `count` databases on a disk, with index, logs and free space.
fn beside_others(work: &mut Work<'_>, formatted: Number, count: Number) -> Number {
    let index = figure!(work, content_index_share);
    let merge = figure!(work, content_index_merge_share);
    formatted / &count * usable(work) / (1.0 + index + merge / count)
}

/// Index of a database, and room to merge it.
fn index_shares(work: &mut Work<'_>) -> Number {
    figure!(work, content_index_share) + figure!(work, content_index_merge_share)
}

/// The share of a volume that may be used.
fn usable(work: &mut Work<'_>) -> Number {
    let free = work.deployment.data.volume_free_space;
    1.0 - work.sheet.share(Key::DataVolumeFreeSpacePercent, free)
}

/// Databases on a volume as the workbook counts them for the largest database.
fn workbook_per_volume(work: &Work<'_>) -> Number {
    let copies = work.get(Key::CopiesTotal);
    let even = copies.value() % 2.0 == 0.0;
    let halved = !work.deployment.storage.databases_equal_copies
        || work.deployment.site_model() == Some(SiteModel::ActivePassive);
    if even && halved { copies / 2.0 } else { copies }
}

/// Mailboxes that fit into a database and onto a disk (5.6).
fn mailboxes(work: &mut Work<'_>, architecture: Architecture) {
    let overhead = work.sheet.share(Key::DataOverheadPercent, work.deployment.data.overhead);
    let largest = work.get(Key::DatabaseMaxSizeGbUsed);
    let left = if overhead.value() < 1.0 { 1.0 - overhead } else { Number::plain(0.0) };
    let by_space = largest * left * 1024.0 / work.get(Key::MailboxesOnDiskMb);
    let mut target = work.put(Key::DatabaseMailboxesCapacityLimited, by_space);
    let asks = work.value(Key::IoDbIopsPerMailbox) > 0.0;
    if architecture.first == Build::Jbod && asks {
        target = target.min(io_limited(work, architecture));
    }
    let workbook = target.clone().up().max(1.0);
    let right = target.down().max(1.0);
    let target =
        work.either(Quirk::MailboxesRoundedUp, Key::DatabaseMailboxesTarget, workbook, right);
    work.put(Key::DatabaseMailboxesTarget, target);
}

/// Mailboxes whose requests a disk can serve.
fn io_limited(work: &mut Work<'_>, architecture: Architecture) -> Number {
    let rated =
        work.get(Key::DiskRatedIops(ServerKind::First)) * work.get(Key::FileSystemIopsFactor);
    let mut usable = work.get(Key::DiskRandomIops(ServerKind::First));
    if architecture.second == Build::Jbod && work.deployment.second_site.is_some() {
        usable = usable.min(work.get(Key::DiskRandomIops(ServerKind::Second)));
    }
    let key = Key::DatabaseMailboxesIoLimited;
    let each = work.get(Key::IoDbIopsPerMailbox);
    let on_one = work.get(Key::DatabasePerVolume);
    let workbook = (rated / &each).down_to(2.0) / &on_one;
    let right = (usable / &each).down_to(2.0) / &on_one;
    let limited = work.either(Quirk::DiskShareIgnored, key, workbook, right);
    work.put(key, limited)
}
