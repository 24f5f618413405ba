//! What a table of scenarios leaves open, for the reader who is about to buy the first of them.

const NOT_SIMULATED: &str = "Latency and failures were not simulated: before you buy one of these, \
    size it with --predict or --prove.";

const OTHER_DEMAND: &str = "These designs serve different mailboxes: the rank says which takes \
    least, and not which is better.";

const ONE_PRICE: &str = "`prices.disk` is the price of every disk, whatever its size and type. If \
    yours differ, their costs cannot be compared in one table: size each disk with its price.";

/// The sentences below a table in which these keys of the deployment change.
pub(super) fn caveats<'k>(
    is_disk_priced: bool,
    changed: impl Iterator<Item = &'k str> + Clone,
) -> impl Iterator<Item = &'static str> {
    let changes_demand = changed.clone().any(|key| key.starts_with("tier."));
    let changes_disks = changed
        .map(|key| key.strip_prefix("second_site.").unwrap_or(key))
        .any(|key| key.starts_with("disks."));
    changes_demand
        .then_some(OTHER_DEMAND)
        .into_iter()
        .chain([NOT_SIMULATED])
        .chain((is_disk_priced && changes_disks).then_some(ONE_PRICE))
}
