//! What to change, in numbers: variants of the deployment are calculated until one fits. Each
//! change is written as the keys and values that the document takes, so that it can be copied.

mod fewer;

use std::borrow::Cow;

use plan::Deployment;
use plan::deployment::{Disks, StorageChoice};
use units::{Bytes, decimal};

use crate::calculation::calculate;
use crate::key::Key;
use crate::number::write;
use crate::sheet::Sheet;

pub(crate) use fewer::or_fewer_mailboxes;

/// Disk capacities on the market, in TB.
const SOLD_TB: [u64; 14] = [1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24];

/// Adding more servers than this would be another design.
const MOST_MORE_SERVERS: u32 = 12;

/// So would more groups than these.
const MOST_TRIED_GROUPS: usize = 12;

/// Random requests per second of the fastest disk worth advising: a SATA SSD.
const FASTEST_DISK: u32 = 50_000;

/// Whether the numbers fit after a change.
fn is_fitting(
    deployment: &Deployment,
    fits: impl FnOnce(&Sheet) -> bool,
    change: impl FnOnce(&mut Deployment),
) -> bool {
    let mut variant = deployment.clone();
    change(&mut variant);
    fits(calculate(&variant).sheet())
}

/// The key of a property of the database disks, and where else it must change: a second site with
/// other disks has its own section.
fn of_disks(deployment: &Deployment, property: &str, value: &str) -> String {
    let storage = &deployment.storage;
    let first = format!("disks.database.{property} = {value}");
    if deployment.second_site.is_none() || is_alike(&storage.first, &storage.second) {
        return first;
    }
    format!("{first}, second_site.{first}")
}

fn is_alike(first: &Disks, second: &Disks) -> bool {
    first.database == second.database
}

/// The smallest larger database disks with which the numbers fit.
pub(crate) fn larger_disks(
    deployment: &Deployment,
    fits: impl Fn(&Sheet) -> bool,
) -> Option<String> {
    let storage = &deployment.storage;
    let now = storage.first.database.capacity.max(storage.second.database.capacity);
    let larger = SOLD_TB.into_iter().filter(|tb| Bytes(tb * 1_000_000_000_000) > now);
    let found = larger.into_iter().find(|tb| {
        let capacity = Bytes(tb * 1_000_000_000_000);
        is_fitting(deployment, &fits, |variant| {
            variant.storage.first.database.capacity = capacity;
            variant.storage.second.database.capacity = capacity;
        })
    })?;
    let edit = of_disks(deployment, "size", &format!("\"{found}TB\""));
    Some(format!("{found} TB disks ({edit})"))
}

/// The smallest whole number of random requests per second of a database disk with which the
/// numbers fit.
pub(crate) fn faster_disks(
    deployment: &Deployment,
    fits: impl Fn(&Sheet) -> bool,
) -> Option<String> {
    let storage = &deployment.storage;
    let rated = storage.first.database.random_iops.min(storage.second.database.random_iops);
    let found = smallest(rated, FASTEST_DISK, |iops| {
        is_fitting(deployment, &fits, |variant| {
            for disks in [&mut variant.storage.first, &mut variant.storage.second] {
                disks.database.random_iops = f64::from(iops);
                disks.database.slow = false;
            }
        })
    })?;
    let edit = of_disks(deployment, "random_iops", &found.to_string());
    let said = decimal(f64::from(found), 0);
    Some(format!("disks of {said} random requests a second ({edit})"))
}

/// The smallest number above `now` and up to `most` that is enough, if any is.
fn smallest(now: f64, most: u32, is_enough: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut short, mut enough) = (0, most);
    if now >= f64::from(most) || !is_enough(most) {
        return None;
    }
    while enough - short > 1 {
        let between = short + (enough - short) / 2;
        if f64::from(between) > now && is_enough(between) {
            enough = between;
        } else {
            short = between;
        }
    }
    Some(enough)
}

/// Fewer databases on a volume: half of them, or a single one.
pub(crate) fn fewer_on_a_volume(
    deployment: &Deployment,
    fits: impl Fn(&Sheet) -> bool,
) -> Option<String> {
    let storage = &deployment.storage;
    if storage.databases_equal_copies
        && is_fitting(deployment, &fits, |half| half.storage.databases_equal_copies = false)
    {
        return Some(
            "half as many databases on a volume (storage.databases_equal_copies = false)".into(),
        );
    }
    let may_be = storage.several_databases_per_volume
        && is_fitting(deployment, fits, |one| one.storage.several_databases_per_volume = false);
    may_be.then(|| {
        "one database on a volume (storage.several_databases_per_volume = false)".to_owned()
    })
}

/// Redundant groups, whose disks share the I/O of all volumes.
pub(crate) fn groups_of_disks(
    deployment: &Deployment,
    fits: impl Fn(&Sheet) -> bool,
) -> Option<String> {
    let text = "RAID (storage.build = \"raid\")";
    is_fitting(deployment, fits, |variant| variant.storage.choice = StorageChoice::Raid)
        .then(|| text.to_owned())
}

/// The smallest number of added servers per site with which the numbers fit: `2 more servers in
/// each site`.
pub(crate) fn more_servers(
    deployment: &Deployment,
    fits: impl Fn(&Sheet) -> bool,
) -> Option<String> {
    let most = deployment.product.figures.dag_members.value;
    let now = deployment.availability.servers_per_site;
    let found = (1..=MOST_MORE_SERVERS).find(|more| {
        is_fitting(
            deployment,
            |sheet| (!deployment.has_copies() || members(sheet) <= most) && fits(sheet),
            |variant| variant.availability.servers_per_site = now + more,
        )
    })?;
    let servers = if found == 1 { "server" } else { "servers" };
    let count = now + found;
    Some(format!("{found} more {servers} (availability.servers_per_site = {count})"))
}

/// Servers of a group, those for lagged copies included.
pub(crate) fn members(sheet: &Sheet) -> f64 {
    let late = sheet.number(Key::ServerLaggedPerDag).unwrap_or(0.0);
    sheet.number(Key::ServerPerDag).unwrap_or(0.0) + late
}

/// The smallest larger number of groups with which the numbers fit, each of as many servers as now.
pub(crate) fn more_groups(
    deployment: &Deployment,
    fits: impl Fn(&Sheet) -> bool,
) -> Option<String> {
    let now = deployment.availability.dags;
    let found = (now + 1..).take(MOST_TRIED_GROUPS).find(|count| {
        deployment.has_copies()
            && is_fitting(deployment, &fits, |variant| variant.availability.dags = *count)
    })?;
    Some(format!("{found} groups of as many servers as now (availability.dags = {found})"))
}

/// The same servers in more groups, none of more than `most` members.
pub(crate) fn smaller_groups(deployment: &Deployment, sheet: &Sheet, most: f64) -> Option<String> {
    let availability = &deployment.availability;
    let (groups, servers) = (availability.dags, availability.servers_per_site);
    let all = groups.saturating_mul(servers);
    let least = (f64::from(groups) * members(sheet) / most - 1e-9).ceil();
    let least = write(least).parse::<u32>().ok()?.max(groups + 1);
    let found = (least..).take(MOST_TRIED_GROUPS).find(|count| {
        is_fitting(
            deployment,
            |sheet| members(sheet) <= most,
            |variant| {
                variant.availability.dags = *count;
                variant.availability.servers_per_site = all.div_ceil(*count);
            },
        )
    })?;
    let each = all.div_ceil(found);
    Some(format!(
        "{found} groups of fewer servers (availability.dags = {found}, \
         availability.servers_per_site = {each})"
    ))
}

/// The number of databases with which none exceeds its target of mailboxes; `None` if that many are
/// not allowed or do not fit either.
pub(crate) fn more_databases(
    deployment: &Deployment,
    sheet: &Sheet,
    fits: impl Fn(&Sheet) -> bool,
) -> Option<String> {
    let mailboxes = sheet.number(Key::ServerMailboxesPerDag)?;
    let target = sheet.number(Key::DatabaseMailboxesTarget).filter(|target| *target > 0.0)?;
    let needed = (mailboxes / target - 1e-9).ceil();
    let more = needed - sheet.number(Key::DatabaseCount)?;
    let given = write(needed).parse().ok()?;
    let may_be = more > 0.0
        && needed <= sheet.number(Key::DatabaseMaxCountPerDag)?
        && is_fitting(deployment, fits, |variant| variant.data.database_count = Some(given));
    let count = decimal(more, 0);
    let noun = if count == "1" { "database" } else { "databases" };
    may_be.then(|| format!("{count} more {noun} (data.databases = {given})"))
}

/// The smallest usual link above the present one with which the numbers fit.
pub(crate) fn faster_link(
    deployment: &Deployment,
    rates: &[f64],
    fits: impl Fn(&Sheet) -> bool,
) -> Option<String> {
    let now = deployment.replication.link_mbps?;
    let found = rates.iter().copied().filter(|rate| *rate > now).find(|rate| {
        is_fitting(deployment, &fits, |variant| variant.replication.link_mbps = Some(*rate))
    })?;
    let said = write(found);
    Some(format!("a link of {said} Mb/s (replication.link_mbps = {said})"))
}

/// The changes found; if there are none, general advice.
pub(crate) fn one_of(
    found: impl IntoIterator<Item = impl Into<Option<String>>>,
    otherwise: &'static str,
) -> Cow<'static, str> {
    let found: Vec<String> = found.into_iter().filter_map(Into::into).collect();
    if found.is_empty() { otherwise.into() } else { found.join(", or ").into() }
}
