//! Volumes of a server: how many, and how large (facts 5.9).

use crate::architecture::Architecture;
use crate::decision::{Build, VolumeArchitecture};
use crate::key::{Key, ServerKind};
use crate::number::Number;
use crate::quirk::Quirk;
use crate::work::Work;

/// Restore space on each database volume, as a multiple of a database, if there is no restore
/// volume. Source: S-W76.
const RESTORE_ROOM: f64 = 1.1;

/// Maximum number of volumes, and of copies, that the workbook lists for a server. Source: S-W76.
const MOST_LISTED: f64 = 100.0;

/// Database volumes of a server, one per backup set, by the number of its databases; the largest
/// entry not above it applies. Source: S-W76.
#[rustfmt::skip]
const BACKUP_SETS: [(f64, f64); 31] = [
    (1.0, 1.0), (8.0, 2.0), (9.0, 3.0), (10.0, 2.0), (11.0, 3.0), (14.0, 2.0), (15.0, 3.0),
    (16.0, 4.0), (18.0, 3.0), (20.0, 4.0), (21.0, 3.0), (22.0, 4.0), (25.0, 5.0), (26.0, 4.0),
    (29.0, 5.0), (36.0, 6.0), (45.0, 9.0), (48.0, 8.0), (49.0, 7.0), (50.0, 10.0), (56.0, 8.0),
    (60.0, 10.0), (63.0, 9.0), (66.0, 11.0), (70.0, 10.0), (72.0, 12.0), (75.0, 15.0),
    (77.0, 11.0), (84.0, 12.0), (91.0, 13.0), (98.0, 14.0),
];

/// Databases that a restore volume holds at once, by the number of databases on a server. Source:
/// S-W76.
#[rustfmt::skip]
const RESTORE_SETS: [(f64, f64); 7] = [
    (1.0, 1.0), (14.0, 2.0), (21.0, 3.0), (28.0, 4.0), (35.0, 5.0), (42.0, 6.0), (49.0, 7.0),
];

/// Counts and sizes.
pub(crate) fn volumes(work: &mut Work<'_>, architecture: Architecture) {
    let copies = work.get(Key::ServerDbCopies(ServerKind::First));
    let whole = count(work, architecture, &copies);
    let (copies, whole) = listed(work, copies, whole);
    let on_one = work.get(Key::VolumeDbsPerVolume);
    let size = database_volume(work, architecture, &on_one);
    work.put(Key::VolumeDbVolumeGb, size);
    // If the last volume is not full, volumes are alike only on average.
    let average = &copies / whole.clone().max(1.0);
    let average = work.put(Key::VolumeDbsPerVolumeAverage, average);
    let all = database_volumes(work, architecture, &average, &whole);
    work.put(Key::VolumeDbVolumesGbPerServer(ServerKind::First), all);
    log_volumes(work, architecture, &on_one, &copies);
    restore(work, architecture, &on_one);
    total(work, architecture, whole);
}

/// The copies and volumes of a server that fit in the workbook's list.
fn listed(work: &mut Work<'_>, copies: Number, whole: Number) -> (Number, Number) {
    let key = Key::VolumeDbVolumesGbPerServer(ServerKind::First);
    let some = copies.clone().min(MOST_LISTED);
    let copies = work.either(Quirk::HundredVolumes, key, some, copies);
    if work.deployment.is_compatible() { (copies, whole.min(MOST_LISTED)) } else { (copies, whole) }
}

/// GB of `count` volumes with `average` databases each.
fn database_volumes(
    work: &mut Work<'_>,
    architecture: Architecture,
    average: &Number,
    count: &Number,
) -> Number {
    let right = database_volume(work, architecture, average) * count;
    if work.deployment.data.restore_volume {
        return right;
    }
    let full = work.get(Key::VolumeDbsPerVolume).max(1.0);
    let room = RESTORE_ROOM * work.get(Key::DatabaseSizeWithOverheadGb) / (1.0 - free(work));
    let workbook = &right - count * room * (1.0 - average / full);
    let key = Key::VolumeDbVolumesGbPerServer(ServerKind::First);
    work.either(Quirk::RestoreRoomShrinks, key, workbook, right)
}

/// Databases per volume and volumes per server, rounded to whole numbers at the end.
fn count(work: &mut Work<'_>, architecture: Architecture, copies: &Number) -> Number {
    if architecture.volumes == VolumeArchitecture::TwoPerBackupSet {
        let sets = looked_up("volumes_per_backup_set", copies, &BACKUP_SETS);
        let sets = work.put(Key::VolumeDbVolumes(ServerKind::First), sets);
        let each = copies / &sets;
        let (workbook, right) = (each.clone().round(), each.up());
        let key = Key::VolumeDbsPerVolume;
        let each = work.either(Quirk::BackupSetRounded, key, workbook, right);
        let each = work.put(key, each);
        // The workbook may round down; the sets in its table then do not hold all copies.
        return if work.deployment.is_compatible() { (copies / each).up() } else { sets };
    }
    let on_one = work.get(Key::DatabasePerVolume);
    let on_one = work.put(Key::VolumeDbsPerVolume, on_one);
    let workbook = copies / on_one;
    let whole = workbook.clone().up();
    let key = Key::VolumeDbVolumes(ServerKind::First);
    let shown = work.either(Quirk::FractionalVolumes, key, workbook, whole);
    work.put(key, shown).up()
}

/// The value at the largest key that is not above `number`.
fn looked_up(name: &str, number: &Number, table: &[(f64, f64)]) -> Number {
    let found = table.iter().rev().find(|(from, _)| *from <= number.value());
    let value = found.or(table.first()).map_or(1.0, |&(_, value)| value);
    Number::of_all(name, std::slice::from_ref(number), value)
}

/// GB of a volume with `count` databases, including their index, restore space and any logs on it.
pub(crate) fn database_volume(
    work: &mut Work<'_>,
    architecture: Architecture,
    count: &Number,
) -> Number {
    let one = work.get(Key::DatabaseSizeWithOverheadGb);
    let group = count * &one;
    let mut size = group.clone();
    if !work.deployment.data.restore_volume {
        size = size + RESTORE_ROOM * &one;
    }
    let index = figure!(work, content_index_share) * &group;
    size = size + index + figure!(work, content_index_merge_share) * one;
    if !architecture.logs_apart {
        size = size + count * work.get(Key::LogSpaceGbPerDb);
    }
    size / (1.0 - free(work))
}

fn free(work: &mut Work<'_>) -> Number {
    let share = work.deployment.data.volume_free_space;
    work.sheet.share(Key::DataVolumeFreeSpacePercent, share)
}

fn log_volumes(work: &mut Work<'_>, architecture: Architecture, on_one: &Number, copies: &Number) {
    let (one, all) = if architecture.logs_apart {
        let each = work.get(Key::LogSpaceGbPerDb);
        let free = free(work);
        (on_one * &each / (1.0 - &free), copies * each / (1.0 - free))
    } else {
        (Number::plain(0.0), Number::plain(0.0))
    };
    work.put(Key::VolumeLogVolumeGb, one);
    work.put(Key::VolumeLogVolumesGbPerServer, all);
}

fn restore(work: &mut Work<'_>, architecture: Architecture, on_one: &Number) {
    if !work.deployment.data.restore_volume {
        return;
    }
    let one = work.get(Key::DatabaseSizeWithOverheadGb) + work.get(Key::LogSpaceGbPerDb);
    let copies = work.get(Key::ServerDbCopies(ServerKind::First));
    // Contents of the first volume, which on a small server is not full.
    let mut size = on_one.clone().min(&copies) * one;
    let pairs = architecture.volumes == VolumeArchitecture::TwoPerDatabase;
    if pairs && work.deployment.total_copies() < 2 {
        size = size * looked_up("restore_sets", &copies, &RESTORE_SETS);
    }
    let size = size / (1.0 - free(work));
    work.put(Key::VolumeRestoreGb, size);
}

fn total(work: &mut Work<'_>, architecture: Architecture, whole: Number) {
    let spares = spares(work, architecture);
    let logs = if architecture.logs_apart { whole.clone() } else { Number::plain(0.0) };
    let logs = work.put(Key::VolumeLogVolumes, logs);
    let restore = f64::from(u8::from(work.deployment.data.restore_volume));
    let restore = work.put(Key::VolumeRestoreVolumes, restore);
    let total = whole + logs + restore + spares;
    work.put(Key::VolumeTotalPerServer, total);
}

/// Spare volumes of a server of the first site. Redundant groups rebuild themselves, so spares are
/// single disks.
fn spares(work: &mut Work<'_>, architecture: Architecture) -> Number {
    let none = Number::plain(0.0);
    let several = architecture.volumes == VolumeArchitecture::SeveralDatabases;
    let given = if several {
        let given = work.deployment.storage.autoreseed_volumes;
        work.sheet.input(Key::StorageAutoreseedVolumes, f64::from(given))
    } else {
        none.clone()
    };
    let second = work.deployment.second_site.is_some() && architecture.second == Build::Jbod;
    let single = architecture.first == Build::Jbod;
    let right = if single || second { given.clone() } else { none.clone() };
    let spares = work.either(Quirk::SparesBesideGroups, Key::VolumeAutoreseed, given, right);
    let spares = work.put(Key::VolumeAutoreseed, spares);
    if single || work.deployment.is_compatible() { spares } else { none }
}
