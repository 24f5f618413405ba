//! Other disks, and other volumes on them.

use plan::Deployment;
use plan::deployment::{Disk, Disks, Storage, StorageChoice};
use units::{Bytes, decimal};

use super::{is_fitting, smallest};
use crate::key::Key;
use crate::work::Work;

/// Disk capacities on the market, in TB.
const SOLD_TB: [u64; 14] = [1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24];

/// Random requests per second of the fastest disk worth advising: a SATA SSD.
const FASTEST_DISK: u32 = 50_000;

/// The key of a property of the database disks, and where else it must change: a second site with
/// other disks has its own section.
fn of_disks(deployment: &Deployment, property: &str, value: &str) -> String {
    let storage = &deployment.storage;
    let first = format!("disks.database.{property} = {value}");
    if deployment.second_site.is_none() || is_alike(&storage.first, &storage.second) {
        return first;
    }
    format!("{first} and second_site.{first}")
}

fn is_alike(first: &Disks, second: &Disks) -> bool {
    first.database == second.database
}

/// Changes the database disks of both sites, and those that are like them because the document does
/// not give them.
fn of_all(storage: &mut Storage, change: impl Fn(&mut Disk)) {
    for disks in [&mut storage.first, &mut storage.second] {
        let database = disks.database.clone();
        let all = [&mut disks.database, &mut disks.log, &mut disks.restore, &mut disks.system];
        all.into_iter().filter(|disk| **disk == database).for_each(&change);
    }
}

/// The smallest larger database disks.
pub(crate) fn larger_disks(work: &Work<'_>, key: Key) -> Option<String> {
    let storage = &work.deployment.storage;
    let now = storage.first.database.capacity.max(storage.second.database.capacity);
    let larger = SOLD_TB.into_iter().filter(|tb| Bytes(tb * 1_000_000_000_000) > now);
    let found = larger.into_iter().find(|tb| {
        let capacity = Bytes(tb * 1_000_000_000_000);
        is_fitting(work, key, |of| of_all(&mut of.storage, |disk| disk.capacity = capacity))
    })?;
    let edit = of_disks(work.deployment, "size", &format!("\"{found}TB\""));
    Some(format!("{found} TB disks ({edit})"))
}

/// The smallest whole number of random requests per second of a database disk that is enough.
pub(crate) fn faster_disks(work: &Work<'_>, key: Key) -> Option<String> {
    let storage = &work.deployment.storage;
    let rated = storage.first.database.random_iops.min(storage.second.database.random_iops);
    let found = smallest(rated, FASTEST_DISK, |iops| {
        is_fitting(work, key, |variant| {
            of_all(&mut variant.storage, |disk| {
                disk.random_iops = f64::from(iops);
                disk.slow = false;
            });
        })
    })?;
    let edit = of_disks(work.deployment, "random_iops", &found.to_string());
    let said = decimal(f64::from(found), 0);
    Some(format!("disks of {said} random requests a second ({edit})"))
}

/// Fewer databases on a volume: half of them, or a single one.
pub(crate) fn fewer_on_a_volume(work: &Work<'_>, key: Key) -> Option<String> {
    let storage = &work.deployment.storage;
    if storage.databases_equal_copies
        && is_fitting(work, key, |half| half.storage.databases_equal_copies = false)
    {
        return Some(
            "half as many databases on a volume (storage.databases_equal_copies = false)".into(),
        );
    }
    let may_be = storage.several_databases_per_volume
        && is_fitting(work, key, |one| one.storage.several_databases_per_volume = false);
    may_be.then(|| {
        "one database on a volume (storage.several_databases_per_volume = false)".to_owned()
    })
}

/// Redundant groups, whose disks share the I/O of all volumes.
pub(crate) fn groups_of_disks(work: &Work<'_>, key: Key) -> Option<String> {
    let text = "RAID (storage.build = \"raid\")";
    is_fitting(work, key, |variant| variant.storage.choice = StorageChoice::Raid)
        .then(|| text.to_owned())
}
