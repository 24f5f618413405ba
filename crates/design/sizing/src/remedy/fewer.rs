//! Fewer mailboxes, if nothing else fits.

use plan::Deployment;
use units::decimal;

use super::{is_fitting, smallest};
use crate::number::write;
use crate::sheet::Sheet;

/// The changes found; if there are none, as many mailboxes as fit.
pub(crate) fn or_fewer_mailboxes<const N: usize>(
    found: [Option<String>; N],
    deployment: &Deployment,
    fits: impl Fn(&Sheet) -> bool,
) -> Vec<String> {
    let found: Vec<String> = found.into_iter().flatten().collect();
    if found.is_empty() { fewer_mailboxes(deployment, fits).into_iter().collect() } else { found }
}

/// The largest share of the mailboxes of every tier, in thousandths, with which the numbers fit.
fn fewer_mailboxes(deployment: &Deployment, fits: impl Fn(&Sheet) -> bool) -> Option<String> {
    let removed = smallest(0.0, 999, |removed| {
        is_fitting(deployment, &fits, |variant| {
            for tier in &mut variant.tiers {
                tier.mailboxes = kept(tier.mailboxes, removed);
            }
        })
    })?;
    let mut edits = Vec::new();
    let mut count = 0.0;
    for (number, tier) in (1..).zip(&deployment.tiers) {
        let mailboxes = kept(tier.mailboxes, removed);
        count += mailboxes;
        edits.push(format!("tier.{number}.mailboxes = {}", write(mailboxes)));
    }
    Some(format!("{} mailboxes at most ({})", decimal(count, 0), edits.join(", ")))
}

/// The mailboxes of a tier without this number of thousandths of them.
fn kept(mailboxes: f64, removed: u32) -> f64 {
    (mailboxes * f64::from(1_000 - removed) / 1_000.0).floor().max(mailboxes.min(1.0))
}
