//! More servers or groups, and other groups of them.

use super::{is_fitting, whole};
use crate::key::Key;
use crate::sheet::Sheet;
use crate::work::Work;

/// Adding more servers than this would be another design.
const MOST_MORE_SERVERS: u32 = 12;

/// So would more groups than these.
const MOST_TRIED_GROUPS: usize = 12;

/// The smallest number of added servers per site that is enough, unless the group has too many
/// already: `2 more servers in each site`.
pub(crate) fn more_servers(work: &Work<'_>, key: Key) -> Option<String> {
    let most = work.deployment.product.figures.dag_members.value;
    let now = work.deployment.availability.servers_per_site;
    let may_grow = !work.deployment.has_copies() || members(&work.sheet) <= most;
    let found = (1..=MOST_MORE_SERVERS).filter(|_| may_grow).find(|more| {
        is_fitting(work, key, |variant| variant.availability.servers_per_site = now + more)
    })?;
    let servers = if found == 1 { "server" } else { "servers" };
    let count = now + found;
    Some(format!("{found} more {servers} (availability.servers_per_site = {count})"))
}

/// The largest smaller number of servers per site.
pub(crate) fn fewer_servers(work: &Work<'_>, key: Key) -> Option<String> {
    let fewer = (1..work.deployment.availability.servers_per_site).rev();
    let found = { fewer }.find(|count| {
        is_fitting(work, key, |variant| variant.availability.servers_per_site = *count)
    })?;
    Some(format!("fewer servers (availability.servers_per_site = {found})"))
}

/// Servers of a group, those for lagged copies included.
pub(crate) fn members(sheet: &Sheet) -> f64 {
    let late = sheet.number(Key::ServerLaggedPerDag).unwrap_or(0.0);
    sheet.number(Key::ServerPerDag).unwrap_or(0.0) + late
}

/// The smallest larger number of groups, each of as many servers as now.
pub(crate) fn more_groups(work: &Work<'_>, key: Key) -> Option<String> {
    let now = work.deployment.availability.dags;
    let found = (now + 1..).take(MOST_TRIED_GROUPS).find(|count| {
        work.deployment.has_copies()
            && is_fitting(work, key, |variant| variant.availability.dags = *count)
    })?;
    Some(format!("{found} groups of as many servers as now (availability.dags = {found})"))
}

/// The same servers in more groups, none of too many members.
pub(crate) fn smaller_groups(work: &Work<'_>, key: Key) -> Option<String> {
    let most = work.deployment.product.figures.dag_members.value;
    let availability = &work.deployment.availability;
    let (groups, servers) = (availability.dags, availability.servers_per_site);
    let all = groups.saturating_mul(servers);
    let least = (f64::from(groups) * members(&work.sheet) / most - 1e-9).ceil();
    let least = whole(least)?.max(groups + 1);
    let found = (least..).take(MOST_TRIED_GROUPS).find(|count| {
        is_fitting(work, key, |variant| {
            variant.availability.dags = *count;
            variant.availability.servers_per_site = all.div_ceil(*count);
        })
    })?;
    let each = all.div_ceil(found);
    Some(format!(
        "{found} groups of fewer servers (availability.dags = {found} and \
         availability.servers_per_site = {each})"
    ))
}
