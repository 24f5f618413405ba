//! One case of a claim, judged.

use std::collections::BTreeMap;

use blueprint::{Claim, ClaimState};
use rehearsal::{Breach, Judgement, Limits};
use units::Nanos;

use super::paper::{OnPaper, Shown, disagreement};
use super::recovery::RecoveryWork;

/// One case with its judgement.
pub(super) struct PlayedCase {
    pub name: String,
    pub(crate) judgement: Judgement,
    /// Databases that stay inactive.
    pub(crate) inactive: usize,
    /// `true` if databases were inactive for a while but all are active in the end.
    pub(crate) by_hand: bool,
    /// Amount of log that a lagged copy has to replay; 0 without lagged copies.
    pub(crate) lag: Nanos,
    /// Recovery work on each host in each stretch.
    pub recovery: Vec<BTreeMap<usize, RecoveryWork>>,
}

/// How closely a simulated latency can be compared with its limit.
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

    /// Returns the claim with this as the worst of `cases` cases.
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
        let shown = self.shown();
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
            disks_busy: shown.disks_busy,
            excess: breach.map(|breach| breach.excess),
            because: objection.unwrap_or_else(|| self.because(breach)),
            disagreement: disagreement(paper, &shown),
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

    /// Figures to compare the formulas with: those of the host that broke its limit most.
    fn shown(&self) -> Shown {
        let breach = self.judgement.breaches.first();
        let row = breach.and_then(|breach| self.judgement.rows.get(breach.row));
        Shown {
            inactive: self.inactive,
            is_broken: breach.is_some(),
            is_degraded: row.is_some_and(|row| row.is_degraded),
            recovery: breach.and_then(|breach| self.recovery_of(breach)),
            disks_busy: row.map_or_else(|| self.disks_busy(), |row| row.usage.drives),
            lag: self.lag,
        }
    }

    /// Recovery work at that time on the host that broke a limit.
    fn recovery_of(&self, breach: &Breach) -> Option<RecoveryWork> {
        let row = self.judgement.rows.get(breach.row)?;
        self.recovery[row.stretch].get(&row.host).copied()
    }

    fn because(&self, breach: Option<&Breach>) -> String {
        match (self.inactive, breach, self.by_hand) {
            (1.., _, _) => format!("{} databases are active nowhere", self.inactive),
            (0, Some(breach), _) => {
                let (text, limit) = (&breach.text, breach.limit.name());
                let beside = self.recovery_of(breach);
                let beside =
                    beside.map_or_else(String::new, |of| format!(", while {}", of.words()));
                format!("{text}{beside}; the {limit} are the limit")
            }
            (0, None, true) => {
                "databases were inactive for a while; every limit is kept".to_owned()
            }
            (0, None, false) => "every limit is kept".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rehearsal::{Breach, Judgement, LimitingPart, Limits};
    use units::Nanos;

    use super::{PlayedCase, Trust};

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
                recovery: Vec::new(),
            };
            assert_eq!(case.is_narrow(trust), is_narrow, "{excess}, {inactive}");
        }
    }
}
