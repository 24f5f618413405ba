//! The number of databases in a group, and of copies on a server (facts 5.6 and 5.7).

use plan::deployment::SiteModel;

use crate::architecture::Architecture;
use crate::decision::VolumeArchitecture;
use crate::key::{Key, ServerKind};
use crate::number::Number;
use crate::quirk::Quirk;
use crate::work::Work;

/// Maximum number of databases on a server without copies if backup sets share volumes. Source:
/// S-W76.
const MOST_IN_BACKUP_SETS: f64 = 98.0;

/// Maximum number of databases that the workbook puts on a given volume. Source: S-W76.
const MOST_ON_GIVEN_VOLUME: f64 = 4.0;

/// Databases of a group, and the placement of their copies.
pub(crate) fn counts(work: &mut Work<'_>, architecture: Architecture) {
    count(work, architecture);
    homes(work);
    copies(work, architecture);
}

fn count(work: &mut Work<'_>, architecture: Architecture) {
    let most = most(work, architecture);
    let most = work.put(Key::DatabaseMaxCountPerDag, most);
    let needed =
        (work.get(Key::ServerMailboxesPerDag) / work.get(Key::DatabaseMailboxesTarget)).up();
    let needed = if needed.value() > 1.0 { needed.up_to(2.0) } else { needed };
    let minimum = work.put(Key::DatabaseCountMinimum, needed.min(&most));
    let count = if work.deployment.has_copies() {
        with_copies(work, architecture, &minimum, &most)
    } else {
        without_copies(work, minimum, &most)
    };
    let count = work.put(Key::DatabaseCount, count);
    let each = work.get(Key::ServerMailboxesPerDag) / count;
    work.put(Key::DatabaseMailboxes, each);
}

/// The given count, capped at the maximum.
fn given(work: &mut Work<'_>, most: &Number) -> Option<Number> {
    let count = f64::from(work.deployment.data.database_count?);
    Some(work.sheet.input(Key::DataDatabases, count).min(most))
}

fn without_copies(work: &mut Work<'_>, minimum: Number, most: &Number) -> Number {
    work.put(Key::DatabaseCountSymmetrical, &minimum);
    let count = given(work, most).unwrap_or(minimum);
    work.put(Key::DatabaseCountBeforeGroupRounding, count)
}

fn with_copies(
    work: &mut Work<'_>,
    architecture: Architecture,
    minimum: &Number,
    most: &Number,
) -> Number {
    let given = given(work, most);
    let block = work.get(Key::ServerActiveDc1).orders(copies_here(work, architecture));
    let block = work.put(Key::DatabaseSymmetricalBlock, block);
    let all = minimum.clone().up_to(block);
    let wanted = given.clone().unwrap_or_else(|| minimum.clone());
    let right = symmetrical(work, &wanted, &all, most);
    let even = if work.deployment.is_compatible() { all } else { right.clone() };
    let even = work.put(Key::DatabaseCountSymmetrical, even);
    let key = Key::DatabaseCountBeforeGroupRounding;
    let workbook = workbook_before_rounding(work, given.as_ref(), minimum, &even, most);
    let asymmetrical = given.is_none() && !work.deployment.data.symmetrical;
    let right = if work.deployment.data.symmetrical { right } else { wanted };
    let before = if asymmetrical {
        work.either(Quirk::UnwantedSymmetry, key, workbook, right)
    } else if work.deployment.is_compatible() {
        workbook
    } else {
        right
    };
    let before = work.put(key, before);
    rounded(work, before, given, most)
}

/// The workbook's count before it is rounded to groups of four.
fn workbook_before_rounding(
    work: &Work<'_>,
    given: Option<&Number>,
    minimum: &Number,
    symmetrical: &Number,
    most: &Number,
) -> Number {
    if let Some(given) = given {
        return given.clone();
    }
    let servers = work.get(Key::ServerActiveDc1);
    let less = servers.clone().orders(work.get(Key::CopiesFirstSite));
    if work.deployment.data.symmetrical {
        let over = symmetrical.value() - most.value();
        if over < 0.0 {
            return symmetrical.clone();
        }
        let one_block = (symmetrical.value() - less.value()).abs() < 0.5;
        if over > 0.0 && over < less.value() && !one_block {
            return symmetrical - less;
        }
    }
    if (minimum.value() - most.value()).abs() < 0.5 || minimum.value() <= 1.0 {
        return minimum.clone();
    }
    shares(work, minimum)
}

/// The next count that gives every server the same number.
fn shares(work: &Work<'_>, count: &Number) -> Number {
    let servers = work.get(Key::ServerActiveDc1);
    match work.deployment.site_model() {
        Some(SiteModel::ActiveActive) => count.clone().up_to(servers * 2.0),
        _ => count.clone().up_to(servers),
    }
}

/// The count that spreads evenly over all placements of the copies, unless it exceeds the maximum
/// or more than doubles the databases; then the count that spreads evenly over the servers.
fn symmetrical(work: &mut Work<'_>, wanted: &Number, all: &Number, most: &Number) -> Number {
    let shares = shares(work, wanted);
    if work.deployment.data.database_count.is_some() || all.value() > most.value() {
        return shares;
    }
    if all.value() <= 2.0 * wanted.value() {
        return all.clone();
    }
    let values = (all.value(), shares.value());
    work.note(Quirk::AllOrders, Key::DatabaseCountSymmetrical, Some(values));
    shares
}

/// The count in groups of four; a given count is kept.
fn rounded(work: &mut Work<'_>, before: Number, given: Option<Number>, most: &Number) -> Number {
    let key = Key::DatabaseCount;
    let wanted = work.deployment.data.database_count;
    let too_many = wanted.is_some_and(|wanted| f64::from(wanted) > most.value());
    let mut workbook = if too_many { before.clone() } else { &before + before.clone().modulo(4.0) };
    if let Some(given) = given {
        return work.either(Quirk::GivenCount, key, workbook, given);
    }
    if let Some(volumes) = work.deployment.storage.volumes_per_server {
        workbook = workbook.min(MOST_ON_GIVEN_VOLUME * given_volumes(work, volumes));
    }
    let right = evenly_in_fours(work, before);
    work.either(Quirk::GroupsOfFour, key, workbook, right)
}

fn given_volumes(work: &mut Work<'_>, volumes: u32) -> Number {
    let key = Key::StorageVolumesPerServer;
    work.sheet.input(key, f64::from(volumes))
}

/// The next count that makes whole groups of four and, if wanted, gives every server the same
/// number.
fn evenly_in_fours(work: &Work<'_>, before: Number) -> Number {
    if !work.deployment.data.symmetrical {
        return before.up_to(4.0);
    }
    let servers = match work.deployment.site_model() {
        Some(SiteModel::ActiveActive) => work.get(Key::ServerActiveDc1) * 2.0,
        _ => work.get(Key::ServerActiveDc1),
    };
    let odd_parts = match servers.value() % 4.0 {
        0.0 => 1.0,
        2.0 => 2.0,
        _ => 4.0,
    };
    let step = servers * odd_parts;
    let even = before.clone().up_to(step);
    if even.value() <= work.value(Key::DatabaseMaxCountPerDag) { even } else { before.up_to(4.0) }
}

/// Maximum number of databases on the servers of a group.
fn most(work: &mut Work<'_>, architecture: Architecture) -> Number {
    let each = figure!(work, databases_per_server);
    if !work.deployment.has_copies() {
        let sets = architecture.volumes == VolumeArchitecture::TwoPerBackupSet;
        return if sets { each.min(MOST_IN_BACKUP_SETS) } else { each };
    }
    let each = each.down_to(work.get(Key::DatabasePerVolume));
    let here = copies_here(work, architecture);
    (each * work.get(Key::ServerActiveDc1) / here).down()
}

/// Copies of a database on the first site's regular servers.
fn copies_here(work: &Work<'_>, architecture: Architecture) -> Number {
    let copies = work.get(Key::CopiesFirstSite);
    if architecture.late_apart {
        return copies;
    }
    copies + work.get(Key::CopiesFirstSiteLagged)
}

/// Where databases are active: in a group of two active sites half in each.
fn homes(work: &mut Work<'_>) {
    let count = work.get(Key::DatabaseCount);
    if work.deployment.site_model() != Some(SiteModel::ActiveActive) {
        work.put(Key::DatabaseActiveDc1, count);
        return;
    }
    let first = work.put(Key::DatabaseActiveDc1, (&count / 2.0).up());
    work.put(Key::DatabaseActiveDc2, count - first);
}

/// Lagged copies in a site, of the databases that the workbook counts for it.
pub(crate) fn late_copies(work: &Work<'_>, second: bool) -> Number {
    let (near, far) = (work.get(Key::CopiesFirstSiteLagged), work.get(Key::CopiesSecondSiteLagged));
    match (work.sheet.find(Key::DatabaseActiveDc2), second) {
        (Some(_), false) => (near + far) * work.get(Key::DatabaseActiveDc1),
        (Some(there), true) => (near + far) * there,
        (None, false) => near * work.get(Key::DatabaseActiveDc1),
        (None, true) => far * work.get(Key::DatabaseActiveDc1),
    }
}

/// Copies that a server of the first site holds.
fn copies(work: &mut Work<'_>, architecture: Architecture) {
    let count = work.get(Key::DatabaseCount);
    let mut here = work.get(Key::DatabaseActiveDc1) * work.get(Key::CopiesFirstSite);
    if let Some(second) = work.sheet.find(Key::DatabaseActiveDc2)
        && !architecture.waiting_apart
    {
        here = here + second * work.get(Key::CopiesSecondSite);
    }
    if !architecture.late_apart {
        here = here + late_copies(work, false);
    }
    let each = here / work.get(Key::ServerActiveDc1);
    let each = if work.deployment.has_copies() {
        let workbook = workbook_copies(work, each.clone().round());
        work.either(
            Quirk::FractionalVolumes,
            Key::ServerDbCopies(ServerKind::First),
            workbook,
            each.up(),
        )
    } else {
        count.clone()
    };
    work.put(Key::ServerDbCopies(ServerKind::First), each);
    let group = count * work.get(Key::CopiesTotal);
    let group = work.put(Key::CopiesPerDag, group);
    let groups = if work.deployment.has_copies() {
        work.get(Key::ServerDags)
    } else {
        work.get(Key::ServerParts)
    };
    work.put(Key::CopiesInAll, group * groups);
}

/// The workbook limits each server to the capacity of its given volumes.
fn workbook_copies(work: &mut Work<'_>, copies: Number) -> Number {
    match work.deployment.storage.volumes_per_server {
        Some(volumes) => {
            copies.min(given_volumes(work, volumes) * work.get(Key::DatabasePerVolume))
        }
        None => copies,
    }
}
