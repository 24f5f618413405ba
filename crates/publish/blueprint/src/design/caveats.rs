//! What a table of scenarios leaves open, for the reader who is about to buy the first of them.

const NOT_SIMULATED: &str = "Latency and failures were not simulated: before you buy one of these, \
    size it with --predict or --prove.";

const ONE_PRICE: &str = "`prices.disk` is the price of every disk, whatever its size and type. If \
    yours differ, their costs cannot be compared in one table: size each disk with its price.";

/// The sentences below a table in which these keys of the deployment change.
pub(super) fn caveats<'k>(
    is_disk_priced: bool,
    mut changed: impl Iterator<Item = &'k str>,
) -> impl Iterator<Item = &'static str> {
    let changes_disks =
        changed.any(|key| key.strip_prefix("second_site.").unwrap_or(key).starts_with("disks."));
    [NOT_SIMULATED].into_iter().chain((is_disk_priced && changes_disks).then_some(ONE_PRICE))
}
