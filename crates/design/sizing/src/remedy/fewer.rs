//! Fewer mailboxes, if nothing else fits.

use units::decimal;

use super::{is_fitting, smallest};
use crate::key::Key;
use crate::number::write;
use crate::work::Work;

/// The largest share of the mailboxes of every tier, in thousandths, that is sized without the
/// problem.
pub(super) fn fewer_mailboxes(work: &Work<'_>, key: Key) -> Option<String> {
    let removed = smallest(0.0, 999, |removed| {
        is_fitting(work, key, |variant| {
            for tier in &mut variant.tiers {
                tier.mailboxes = kept(tier.mailboxes, removed);
            }
        })
    })?;
    let mut edits = Vec::new();
    let mut count = 0.0;
    for (number, tier) in (1..).zip(&work.deployment.tiers) {
        let mailboxes = kept(tier.mailboxes, removed);
        count += mailboxes;
        edits.push(format!("tier.{number}.mailboxes = {}", write(mailboxes)));
    }
    Some(format!("{} mailboxes at most ({})", decimal(count, 0), edits.join(" and ")))
}

/// The mailboxes of a tier without this number of thousandths of them.
fn kept(mailboxes: f64, removed: u32) -> f64 {
    (mailboxes * f64::from(1_000 - removed) / 1_000.0).floor().max(mailboxes.min(1.0))
}
