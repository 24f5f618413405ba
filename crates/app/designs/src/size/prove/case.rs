//! One case of a claim, judged.

use std::collections::BTreeMap;

use blueprint::{Claim, ClaimState, Outage, PaperFailure, Trust};
use rehearsal::{Breach, HostRow, Judgement};
use units::Nanos;
use verdict::Ruling;

use super::paper::{OnPaper, Shown, disagreement};
use super::recovery::RecoveryWork;

/// One case with its judgement.
pub(super) struct PlayedCase {
    pub name: String,
    pub(crate) judgement: Judgement,
    /// Databases that stay inactive.
    pub(crate) inactive: usize,
    /// Amount of log that a lagged copy has to replay; 0 without lagged copies.
    pub(crate) lag: Nanos,
    /// Recovery work on each host in each stretch.
    pub recovery: Vec<BTreeMap<usize, RecoveryWork>>,
}

impl PlayedCase {
    /// Ranks cases: inactive databases first, then broken limits, then latency.
    pub(super) fn badness(&self) -> f64 {
        let excess = self.judgement.breaches.first().map_or(0.0, |breach| breach.excess);
        let worst = self.judgement.worst_row().and_then(|row| row.worst);
        self.inactive as f64 * 1e9 + excess * 1e6 + worst.map_or(0.0, |(_, ms)| ms)
    }

    /// Returns the claim with this as the worst of `cases` cases, any of which may have an
    /// interruption.
    pub(super) fn claim(
        &self,
        (name, cases, outage): (&str, usize, Option<Outage>),
        paper: &OnPaper,
        trust: Trust,
    ) -> Claim {
        let breach = self.judgement.breaches.first();
        let objection = paper.objection;
        let is_too_long = outage.as_ref().is_some_and(Outage::exceeds);
        let state = match (objection, self.inactive > 0 || is_too_long || breach.is_some()) {
            (Some(objection), _) => ClaimState::FailsOnPaper(objection),
            (None, true) => ClaimState::Fails,
            (None, false) => ClaimState::Holds,
        };
        let may_be_narrow = objection.is_none() && self.inactive == 0 && !is_too_long;
        let too_long = outage.as_ref().filter(|of| of.exceeds()).map_or(0, |of| of.databases);
        let shown = Shown { inactive: self.inactive.max(too_long), ..self.shown() };
        let settled = self.judged();
        let reads = settled.filter_map(|row| row.settled.reads_ms).reduce(f64::max);
        Claim {
            name: name.to_owned(),
            worst: if self.name.is_empty() { "-".to_owned() } else { self.name.clone() },
            cases,
            state,
            formulas_hold: paper.holds(),
            is_narrow: may_be_narrow && self.is_narrow(trust),
            reads_ms: reads,
            worst_minute_ms: self.judgement.worst_row().and_then(|row| row.worst).map(|of| of.1),
            disks_busy: shown.disks_busy,
            excess: breach.map(|breach| breach.excess),
            because: objection
                .map_or_else(|| self.because(breach, outage.as_ref(), trust), PaperFailure::words),
            disagreement: disagreement(paper, &shown),
            remedy: None,
            redundant_after_ns: self
                .judgement
                .recoveries
                .first()
                .and_then(|of| of.redundant_after)
                .map(|after| after.0),
            outage,
        }
    }

    /// Whether the true latencies may be on the other side of their limits.
    fn is_narrow(&self, trust: Trust) -> bool {
        let rulings: Vec<Ruling> = self.judged().map(|row| trust.judged(&row.settled)).collect();
        !rulings.is_empty() && verdict::worst(&rulings) == Ruling::CannotJudge
    }

    fn judged(&self) -> impl Iterator<Item = &HostRow> {
        self.judgement.rows.iter().filter(|row| row.is_judged)
    }

    fn disks_busy(&self) -> f64 {
        self.judgement.rows.iter().map(|row| row.usage.drives).fold(0.0, f64::max)
    }

    /// Figures to compare with the formulas: those of the host furthest beyond its limit.
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

    /// The margin of a case that breaks no limit; a narrow one is why it cannot be judged.
    fn kept(&self, trust: Trust) -> String {
        let near = self.judged().filter_map(|row| trust.nearest(&row.settled));
        let nearest = near.max_by(|one, other| one.share.total_cmp(&other.share));
        let nearest = nearest.map_or_else(String::new, |of| format!(", but {}", of.text));
        format!("every limit is kept{nearest}")
    }

    fn because(&self, breach: Option<&Breach>, outage: Option<&Outage>, trust: Trust) -> String {
        if let Some(outage) = outage.filter(|of| of.exceeds() && self.inactive == 0) {
            return outage.words();
        }
        match (self.inactive, breach) {
            (1, _) => "one database is active nowhere".to_owned(),
            (2.., _) => format!("{} databases are active nowhere", self.inactive),
            (0, Some(breach)) => {
                let (text, limit) = (&breach.text, breach.limit.name());
                let beside = self.recovery_of(breach);
                let beside =
                    beside.map_or_else(String::new, |of| format!(", while {}", of.words()));
                format!("{text}{beside}; the {limit} are the limit")
            }
            (0, None) => self.kept(trust),
        }
    }
}

#[cfg(test)]
mod tests {
    use blueprint::OutageEnd;
    use rehearsal::{Judgement, Limits, RowFigures, UsageShares};
    use units::Nanos;
    use verdict::Ruling;

    use super::super::paper::OnPaper;
    use super::{HostRow, Outage, PlayedCase, Trust};

    const LIMITS: Limits = Limits { reads_ms: 20.0, log_ms: 10.0, reached: 0.95 };
    const TRUST: Trust = Trust { limits: LIMITS, uncertainty_percent: 25.0 };

    fn row(reads_ms: f64, iops: f64) -> RowFigures {
        RowFigures { reads_ms: Some(reads_ms), iops, demanded: Some(38.0), ..RowFigures::default() }
    }

    /// The same as a prediction of one set of disks: at +-25 % a mean of 15.3 ms may be 20.4 in
    /// truth, and one of 24.7 ms 19.8.
    #[test]
    fn a_host_is_judged_by_the_rule_for_simulated_runs() {
        for (reads, iops, ruling) in [
            (14.9, 38.2, Ruling::Pass),
            (15.3, 38.2, Ruling::CannotJudge),
            (24.7, 38.2, Ruling::CannotJudge),
            (25.1, 38.2, Ruling::Fail),
            (14.9, 30.0, Ruling::CannotJudge),
            (14.9, 20.0, Ruling::Fail),
        ] {
            assert_eq!(TRUST.judged(&row(reads, iops)), ruling, "{reads} ms, {iops} IOPS");
        }
        assert_eq!(TRUST.judged(&RowFigures::default()), Ruling::Pass);
    }

    fn case(reads_ms: f64) -> PlayedCase {
        let row = HostRow {
            host: 0,
            stretch: 0,
            span: (Nanos::ZERO, Nanos::from_secs(60)),
            played: Nanos::from_secs(60),
            is_degraded: false,
            active: 1,
            passive: 0,
            settled: row(reads_ms, 38.0),
            is_judged: true,
            worst: None,
            usage: UsageShares::default(),
            copies: Vec::new(),
        };
        let judgement = Judgement { rows: vec![row], breaches: Vec::new(), recoveries: Vec::new() };
        let name = "a disk of EX01".to_owned();
        PlayedCase { name, judgement, inactive: 0, lag: Nanos::ZERO, recovery: Vec::new() }
    }

    /// The only limit that it breaks is the time without service, which is its reason.
    #[test]
    fn a_claim_that_fails_by_its_interruption_says_so() {
        let outage = Outage {
            databases: 60,
            longest_ns: 1_800_000_000_000,
            allowed_ns: Some(600_000_000_000),
            case: "if site 1 fails".to_owned(),
            ended_by: OutageEnd::Activation,
        };
        let paper = OnPaper { objection: None, disks: None };
        let claim = case(12.0).claim(("a site failed", 1, Some(outage)), &paper, TRUST);
        assert_eq!(claim.ruling(), Ruling::Fail);
        let because = "60 databases have no active copy for 30 min, if site 1 fails, until an \
                       administrator activates the other site; more than [availability] \
                       longest_outage allows, 10 min";
        assert_eq!(claim.because, because);
    }

    /// A case that keeps every limit is inconclusive for a reason: the latency that is too near.
    #[test]
    fn a_narrow_case_names_the_latency_that_makes_it_so() {
        for (reads_ms, ruling, because) in [
            (12.0, Ruling::Pass, "every limit is kept"),
            (
                18.0,
                Ruling::CannotJudge,
                "every limit is kept, but database reads take 18.0 ms, too near the limit of 20 ms",
            ),
        ] {
            let paper = OnPaper { objection: None, disks: None };
            let claim = case(reads_ms).claim(("one disk failed", 1, None), &paper, TRUST);
            assert_eq!((claim.ruling(), claim.because.as_str()), (ruling, because));
        }
    }
}
