//! Seeding rates of copies: as the rules or an occurrence specify, if the link between the sites
//! can carry them.

use units::Nanos;

use super::condition::{Condition, seconds};
use crate::{Happening, Occurrence, PlayedCopy, PlayedDeployment};

/// A copy that is being seeded, and its source.
struct Transfer<'a> {
    number: (usize, usize),
    target: &'a PlayedCopy,
    /// The active copy, if there is one.
    source: Option<&'a PlayedCopy>,
}

impl Transfer<'_> {
    fn is_between_sites(&self, deployment: &PlayedDeployment) -> bool {
        self.source.is_some_and(|of| deployment.site_of(of) != deployment.site_of(self.target))
    }
}

/// Sets the rate and end of each copy that must be seeded from `now` on. Copies seeded at the same
/// time share the link; a transfer that started earlier keeps its rate.
pub(super) fn begin(
    deployment: &PlayedDeployment,
    (conditions, active): (&mut [Vec<Condition>], &[Option<usize>]),
    lasting: &[&Occurrence],
    now: Nanos,
) {
    let transfers = transfers(deployment, conditions, active);
    for transfer in &transfers {
        let (database, copy) = transfer.number;
        let condition = &mut conditions[database][copy];
        if matches!(condition, Condition::Empty { rate: 0, .. }) {
            let asked = asked(deployment, transfer.number, (lasting, now));
            let rate = shared(deployment, transfer, &transfers, asked);
            let until = now + seconds(transfer.target.place.bytes as f64 / rate as f64);
            *condition = Condition::Empty { until, rate };
        }
    }
}

fn transfers<'a>(
    deployment: &'a PlayedDeployment,
    conditions: &[Vec<Condition>],
    active: &[Option<usize>],
) -> Vec<Transfer<'a>> {
    deployment
        .copies()
        .filter(|&((database, at), _)| matches!(conditions[database][at], Condition::Empty { .. }))
        .map(|(number, target)| {
            let copies = &deployment.databases[number.0].copies;
            Transfer { number, target, source: active[number.0].map(|at| &copies[at]) }
        })
        .collect()
}

/// Requested bytes per second.
fn asked(
    deployment: &PlayedDeployment,
    number: (usize, usize),
    (lasting, now): (&[&Occurrence], Nanos),
) -> f64 {
    let begun = lasting.iter().filter(|of| of.at == now);
    let given = begun.filter_map(|of| match of.what {
        Happening::Reseed { database, copy, rate } if (database, copy) == number => rate,
        _ => None,
    });
    given.map(|rate| rate as f64).reduce(f64::min).unwrap_or(deployment.rules.reseed_rate)
}

/// Bytes per second that remain of `asked` if all transfers share the link equally; at least 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive rate far below 2^53"
)]
fn shared(
    deployment: &PlayedDeployment,
    transfer: &Transfer<'_>,
    all: &[Transfer<'_>],
    asked: f64,
) -> u64 {
    let rules = &deployment.rules;
    let link = rules.site_link.filter(|_| transfer.is_between_sites(deployment));
    let users = all.iter().filter(|of| of.is_between_sites(deployment)).count().max(1);
    let rate = link.map_or(asked, |link| asked.min(link / users as f64));
    rate.max(1.0) as u64
}
