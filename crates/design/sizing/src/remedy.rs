//! What to change, in numbers: variants of the deployment are calculated until one fits.

use std::borrow::Cow;

use plan::Deployment;
use units::{Bytes, decimal};

use crate::calculation::calculate;
use crate::key::Key;
use crate::number::write;
use crate::sheet::Sheet;

/// Disk capacities on the market, in TB.
const SOLD_TB: [u64; 14] = [1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24];

/// Adding more servers than this would be another design.
const MOST_MORE_SERVERS: u32 = 12;

/// The smallest larger database disks with which the numbers fit: `8 TB disks`.
pub(crate) fn larger_disks(
    deployment: &Deployment,
    fits: impl Fn(&Sheet) -> bool,
) -> Option<String> {
    let storage = &deployment.storage;
    let now = storage.first.database.capacity.max(storage.second.database.capacity);
    let larger = SOLD_TB.into_iter().filter(|tb| Bytes(tb * 1_000_000_000_000) > now);
    let found = larger.into_iter().find(|tb| {
        let mut variant = deployment.clone();
        let capacity = Bytes(tb * 1_000_000_000_000);
        variant.storage.first.database.capacity = capacity;
        variant.storage.second.database.capacity = capacity;
        fits(calculate(&variant).sheet())
    });
    found.map(|tb| format!("{tb} TB disks"))
}

/// The smallest number of added servers per site with which the numbers fit: `2 more servers in
/// each site`.
pub(crate) fn more_servers(
    deployment: &Deployment,
    fits: impl Fn(&Sheet) -> bool,
) -> Option<String> {
    let most = deployment.product.figures.dag_members.value;
    let found = (1..=MOST_MORE_SERVERS).find(|more| {
        let mut variant = deployment.clone();
        variant.availability.servers_per_site += more;
        let calculation = calculate(&variant);
        let members = calculation.sheet().number(Key::ServerPerDag).unwrap_or(0.0);
        let may_be = !deployment.has_copies() || members <= most;
        may_be && fits(calculation.sheet())
    })?;
    let servers = if found == 1 { "server" } else { "servers" };
    let count = deployment.availability.servers_per_site + found;
    Some(format!("{found} more {servers} (availability.servers_per_site = {count})"))
}

/// Advice to add databases until none exceeds its target of mailboxes; `None` if that many are not
/// allowed.
pub(crate) fn more_databases(sheet: &Sheet) -> Option<String> {
    let mailboxes = sheet.number(Key::ServerMailboxesPerDag)?;
    let target = sheet.number(Key::DatabaseMailboxesTarget).filter(|target| *target > 0.0)?;
    let needed = (mailboxes / target - 1e-9).ceil();
    let more = needed - sheet.number(Key::DatabaseCount)?;
    let may_be = more > 0.0 && needed <= sheet.number(Key::DatabaseMaxCountPerDag)?;
    let count = decimal(more, 0);
    let noun = if count == "1" { "database" } else { "databases" };
    may_be.then(|| format!("{count} more {noun} (data.databases = {})", write(needed)))
}

/// The changes found; if there are none, general advice.
pub(crate) fn one_of<const N: usize>(
    found: [Option<String>; N],
    otherwise: &'static str,
) -> Cow<'static, str> {
    let found: Vec<String> = found.into_iter().flatten().collect();
    if found.is_empty() { otherwise.into() } else { found.join(", or ").into() }
}
