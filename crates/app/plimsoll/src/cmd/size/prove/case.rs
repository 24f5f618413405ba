//! One case of a claim, judged.

use rehearsal::{Breach, Duty, HostRow, Judgement};
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
    /// How much log a lagged copy has to replay.
    pub lag: Nanos,
}

impl PlayedCase {
    /// Ranks cases: inactive databases first, then broken limits, then latency.
    pub(super) fn badness(&self) -> f64 {
        let excess = self.judgement.breaches.first().map_or(0.0, |breach| breach.excess);
        let worst = self.judgement.worst_row().and_then(|row| row.worst);
        self.inactive as f64 * 1e9 + excess * 1e6 + worst.map_or(0.0, |(_, ms)| ms)
    }

    /// The claim of which this is the worst of `cases` cases.
    pub(super) fn claim(&self, name: &str, paper: &OnPaper, cases: usize) -> Claim {
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
            reads_ms: reads,
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
            is_recovering: row.is_some_and(is_recovering),
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

/// Whether copies of a host are seeded or catch up.
fn is_recovering(row: &HostRow) -> bool {
    row.copies.iter().any(|copy| matches!(copy.duty, Duty::Seeding { .. } | Duty::CatchingUp))
}
