//! What a table of scenarios leaves open, for whoever buys the first of them.

use sizing::Key;

use super::scenarios::Candidate;

const NOT_SIMULATED: &str = "Latency and failures were not simulated: before you buy one of these, \
    size it with --predict or --prove.";

const ONE_PRICE: &str = "`prices.disk` is the price of every disk, whatever its size and type. If \
    yours differ, their costs cannot be compared in one table: size each disk with its price.";

/// The sentences below the table of these designs.
pub(super) fn caveats(candidates: &[Candidate]) -> impl Iterator<Item = &'static str> {
    let is_priced = candidates.iter().any(|of| of.number(Key::CostDisks).is_some());
    let mut replacements = candidates.iter().flat_map(|of| &of.replacements);
    let changes_disks = replacements.any(|of| {
        let key = of.key.strip_prefix("second_site.").unwrap_or(&of.key);
        key.starts_with("disks.")
    });
    [NOT_SIMULATED].into_iter().chain((is_priced && changes_disks).then_some(ONE_PRICE))
}
