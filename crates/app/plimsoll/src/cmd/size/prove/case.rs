//! One case of a claim, judged.

use std::collections::BTreeSet;

use rehearsal::{Breach, Duty, Judgement, Limits, PlayedDeployment, Stretch};
use report::{Claim, ClaimState};
use units::Nanos;

use super::paper::{OnPaper, Shown, disagreement};

/// One case with its judgement.
pub(super) struct PlayedCase {
    pub name: String,
    pub judgement: Judgement,
    /// Databases that stay inactive.
    pub inactive: usize,
    /// Whether databases were inactive for a while, and all are active in the end.
    pub by_hand: bool,
    /// How much log a lagged copy has to replay; 0 without lagged copies.
    pub lag: Nanos,
    /// The hosts of each stretch whose copies are seeded, read for that, or catch up.
    pub recovering: Vec<BTreeSet<usize>>,
}

/// How far a simulated latency can be held against its limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trust {
    pub limits: Limits,
    /// Error bound of latencies, as a share of the true ones.
    pub uncertainty: f64,
}

impl PlayedCase {
    /// Ranks cases: inactive databases first, then broken limits, then latency.
    pub(super) fn badness(&self) -> f64 {
        let excess = self.judgement.breaches.first().map_or(0.0, |breach| breach.excess);
        let worst = self.judgement.worst_row().and_then(|row| row.worst);
        self.inactive as f64 * 1e9 + excess * 1e6 + worst.map_or(0.0, |(_, ms)| ms)
    }

    /// The claim of which this is the worst of `cases` cases.
    pub(super) fn claim(
        &self,
        (name, cases): (&str, usize),
        paper: &OnPaper,
        trust: Trust,
    ) -> Claim {
        let breach = self.judgement.breaches.first();
        let objection = paper.objection.clone();
        let state = match (&objection, self.inactive > 0 || breach.is_some()) {
            (Some(_), _) => ClaimState::FailsOnPaper,
            (None, true) => ClaimState::Fails,
            (None, false) => ClaimState::Holds,
        };
        let settled = self.judgement.rows.iter();
        let reads = settled.filter_map(|row| row.settled.reads_ms).reduce(f64::max);
        Claim {
            name: name.to_owned(),
            worst: if self.name.is_empty() { "-".to_owned() } else { self.name.clone() },
            cases,
            state,
            formulas_hold: paper.holds(),
            is_narrow: state != ClaimState::FailsOnPaper && self.is_narrow(trust),
            reads_ms: reads,
            worst_minute_ms: self.judgement.worst_row().and_then(|row| row.worst).map(|of| of.1),
            disks_busy: self.disks_busy(),
            excess: breach.map(|breach| breach.excess),
            because: objection.unwrap_or_else(|| self.because(breach)),
            disagreement: disagreement(paper, &self.shown()),
            remedy: None,
            redundant_after_ns: self
                .judgement
                .recoveries
                .first()
                .and_then(|of| of.redundant_after)
                .map(|after| after.0),
        }
    }

    /// Whether the true latencies may be on the other side of their limits.
    fn is_narrow(&self, Trust { limits, uncertainty }: Trust) -> bool {
        if self.inactive > 0 {
            return false;
        }
        if let Some(breach) = self.judgement.breaches.first() {
            return breach.excess <= uncertainty;
        }
        let shares = self.judgement.rows.iter().flat_map(|row| {
            let (reads, log) = (row.settled.reads_ms, row.settled.log_ms);
            [reads.map(|of| of / limits.reads_ms), log.map(|of| of / limits.log_ms)]
        });
        shares.flatten().fold(0.0, f64::max) > 1.0 - uncertainty
    }

    fn disks_busy(&self) -> f64 {
        self.judgement.rows.iter().map(|row| row.usage.drives).fold(0.0, f64::max)
    }

    /// What the formulas are compared with: the host that broke its limit most.
    fn shown(&self) -> Shown {
        let breach = self.judgement.breaches.first();
        let row = breach.and_then(|breach| self.judgement.rows.get(breach.row));
        Shown {
            inactive: self.inactive,
            is_broken: breach.is_some(),
            is_degraded: row.is_some_and(|row| row.is_degraded),
            is_recovering: row.is_some_and(|row| self.recovering[row.stretch].contains(&row.host)),
            disks_busy: row.map_or_else(|| self.disks_busy(), |row| row.usage.drives),
            lag: self.lag,
        }
    }

    fn because(&self, breach: Option<&Breach>) -> String {
        match (self.inactive, breach, self.by_hand) {
            (1.., _, _) => format!("{} databases are active nowhere", self.inactive),
            (0, Some(breach), _) => {
                format!("{}; the {} are the limit", breach.text, breach.limit.name())
            }
            (0, None, true) => {
                "databases were inactive for a while; every limit is kept".to_owned()
            }
            (0, None, false) => "every limit is kept".to_owned(),
        }
    }
}

/// The hosts of each stretch whose copies are seeded, read for that, or catch up.
pub(super) fn recovering(
    deployment: &PlayedDeployment,
    stretches: &[Stretch],
) -> Vec<BTreeSet<usize>> {
    let mut all = vec![BTreeSet::new(); stretches.len()];
    for (stretch, hosts) in stretches.iter().zip(&mut all) {
        for (database, duties) in deployment.databases.iter().zip(&stretch.duties) {
            for (copy, duty) in database.copies.iter().zip(duties) {
                match *duty {
                    Duty::Seeding { source, .. } => {
                        hosts.extend([copy.host, database.copies[source].host]);
                    }
                    Duty::CatchingUp => hosts.extend([copy.host]),
                    Duty::Active | Duty::Replaying | Duty::Idle => {}
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rehearsal::{Breach, Duty, Judgement, LimitingPart, Limits, Stretch};
    use units::Nanos;

    use super::{PlayedCase, Trust, recovering};
    use crate::cmd::size::prove::fixture::deployment;

    /// Database n is on hosts n and n + 1 of three: the copy of the first on host 1 is seeded.
    #[test]
    fn a_host_that_is_read_to_seed_another_is_recovering_too() {
        let duties = vec![
            vec![Duty::Active, Duty::Seeding { source: 0, rate: 1 }],
            vec![Duty::Active, Duty::Replaying],
            vec![Duty::Active, Duty::Replaying],
        ];
        let stretch = Stretch {
            from: Nanos::ZERO,
            to: Nanos::from_secs(60),
            begun: Vec::new(),
            up: vec![true; 3],
            duties,
            failed_drives: Vec::new(),
        };
        assert_eq!(recovering(&deployment(3), &[stretch]), [BTreeSet::from([0, 1])]);
    }

    #[test]
    fn a_limit_that_is_missed_by_less_than_the_model_may_be_off_is_missed_narrowly() {
        let limits = Limits { reads_ms: 20.0, log_ms: 10.0, reached: 0.95 };
        let trust = Trust { limits, uncertainty: 0.25 };
        for (excess, inactive, is_narrow) in [(0.2, 0, true), (0.3, 0, false), (0.2, 1, false)] {
            let (text, limit) = (String::new(), LimitingPart::Drives);
            let breaches = vec![Breach { row: 0, text, excess, limit }];
            let case = PlayedCase {
                name: String::new(),
                judgement: Judgement { rows: Vec::new(), breaches, recoveries: Vec::new() },
                inactive,
                by_hand: false,
                lag: Nanos::ZERO,
                recovering: Vec::new(),
            };
            assert_eq!(case.is_narrow(trust), is_narrow, "{excess}, {inactive}");
        }
    }
}
