//! Faster processors and links, other SSDs, and less to keep on the system disk.

use plan::Deployment;
use plan::deployment::MetaCache;
use units::{Bytes, Nanos};

use super::{is_fitting, smallest};
use crate::key::Key;
use crate::network::LINKS;
use crate::number::write;
use crate::processor::MOST_PROCESSOR;
use crate::work::Work;

/// SSD capacities on the market, in GB.
const SOLD_SSD_GB: [u64; 6] = [480, 960, 1_920, 3_840, 7_680, 15_360];

/// Most SSDs of a server that a document may give.
const MOST_SSDS: u32 = 100;

/// A day of the document.
const DAY: Nanos = Nanos::from_secs(86_400);

/// The speed of servers at which the share under `key` meets its limit: use is inversely
/// proportional to speed.
pub(crate) fn faster_processors(work: &Work<'_>, key: Key) -> Option<String> {
    let servers = &work.deployment.servers;
    let all = [
        ("servers.spec_rate", servers.first, true),
        ("second_site.spec_rate", servers.second, work.deployment.second_site.is_some()),
        (
            "servers.lagged_spec_rate",
            servers.lagged,
            work.deployment.has_own_servers_for_late_copies(),
        ),
    ];
    let there = all.into_iter().filter(|of| of.2).filter_map(|of| Some((of.0, of.1.spec_rate?)));
    let slowest = there.clone().map(|of| of.1).reduce(f64::min)?;
    let needed = (slowest * work.value(key) / MOST_PROCESSOR).ceil();
    let mut edits = Vec::new();
    for (spec_rate, _) in there.filter(|of| of.1 < needed) {
        edits.push(format!("{spec_rate} = {}", write(needed)));
    }
    let may_be = is_fitting(work, key, |variant| faster(variant, needed));
    may_be
        .then(|| format!("servers of SPECint_rate2006 {} ({})", write(needed), edits.join(" and ")))
}

fn faster(variant: &mut Deployment, spec_rate: f64) {
    let servers = &mut variant.servers;
    for of in [&mut servers.first, &mut servers.second, &mut servers.lagged] {
        of.spec_rate = of.spec_rate.map(|rate| rate.max(spec_rate));
    }
}

/// The smallest usual link above the present one.
pub(crate) fn faster_link(work: &Work<'_>, key: Key) -> Option<String> {
    let now = work.deployment.replication.link_mbps?;
    let found = LINKS.into_iter().filter(|rate| *rate > now).find(|rate| {
        is_fitting(work, key, |variant| variant.replication.link_mbps = Some(*rate))
    })?;
    let said = write(found);
    Some(format!("a link of {said} Mb/s (replication.link_mbps = {said})"))
}

/// The smallest larger SSDs.
pub(crate) fn larger_ssds(work: &Work<'_>, key: Key) -> Option<String> {
    let given = work.deployment.metacache?;
    let larger = SOLD_SSD_GB.into_iter().filter(|gb| Bytes(gb * 1_000_000_000) > given.ssd);
    let found = { larger }.find(|gb| {
        let larger = MetaCache { ssd: Bytes(gb * 1_000_000_000), ..given };
        is_fitting(work, key, |variant| variant.metacache = Some(larger))
    })?;
    Some(format!("SSDs of {found} GB (metacache.ssd_size = \"{found}GB\")"))
}

/// The smallest larger number of SSDs in a server.
pub(crate) fn more_ssds(work: &Work<'_>, key: Key) -> Option<String> {
    let given = work.deployment.metacache?;
    let now = work.value(Key::MetaCacheSsdsPerServer);
    let found = smallest(now, MOST_SSDS, |ssds| {
        let more = MetaCache { ssds_per_server: Some(ssds), ..given };
        is_fitting(work, key, |variant| variant.metacache = Some(more))
    })?;
    Some(format!("{found} SSDs in a server (metacache.ssds_per_server = {found})"))
}

/// The longest shorter time in days for which delivered messages are kept.
pub(crate) fn shorter_safety_net(work: &Work<'_>, key: Key) -> Option<String> {
    let now = work.deployment.transport.safety_net.0 / DAY.0;
    let found = (0..now)
        .rev()
        .find(|days| is_fitting(work, key, |of| of.transport.safety_net = Nanos(DAY.0 * days)))?;
    Some(format!("a shorter safety net (transport.safety_net = \"{found}d\")"))
}
