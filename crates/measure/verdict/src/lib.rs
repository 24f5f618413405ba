//! Rules that turn a record into findings, and findings into one verdict.
//!
//! A rule reads a record and nothing else, so it can be applied again years later to the same file
//! with the same result. Each is in a separate file under [`rules`].

mod comparison;
mod excuses;
mod finding;
mod imported;
mod load_line;
mod overlap;
pub mod rules;
mod samples;
mod simulated;

pub use comparison::{
    ComparedMetric, ComparedValue, Metric, MetricChange, NamedRun, NotComparable,
    OtherCircumstance, ReadLatency, RunComparison, Significance, compare,
};
pub use finding::{Evidence, Finding, Kind, Limit, Ruling, Unit};
pub use load_line::{Knee, LoadStep, knee};
pub use overlap::{RunOverlap, overlaps};
pub use rules::{LEAST_CACHE, MailboxRoom, is_worth_resuming, room_bytes};
pub use samples::{Estimate, SampledMean, Trend, estimate_of_runs};
pub use simulated::judged_by_range;

use record::RunRecord;

/// Judgement of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The verdict on the whole run; never a warning.
    pub outcome: Ruling,
    /// The findings of every applicable rule, in report order.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// The exit status of this verdict: 0 pass, 1 fail, 2 cannot judge.
    pub const fn exit_code(&self) -> u8 {
        self.outcome.exit_code()
    }

    /// Whether the volumes are too small for all of the plan's mailboxes.
    pub fn lacks_room(&self) -> bool {
        self.warns(rules::MAILBOX_ROOM)
    }

    /// Whether the load was lower than the mailboxes of the plan need.
    pub fn lacks_load(&self) -> bool {
        self.warns(rules::MAILBOX_LOAD)
    }

    /// Whether the sessions of the plan kept the load from its target, and not the storage.
    pub fn lacks_sessions(&self) -> bool {
        self.decisive().iter().any(|of| of.rule == rules::SESSIONS)
    }

    /// Whether rate or latency changed so much from start to end that no mean describes the run.
    pub fn is_unsteady(&self) -> bool {
        self.warns(rules::STEADY_STATE)
    }

    fn warns(&self, rule: &str) -> bool {
        let mut warnings = self.findings.iter().filter(|of| of.outcome == Ruling::Warn);
        warnings.any(|finding| finding.rule == rule)
    }

    /// The findings that make the run inconclusive. One that invalidates all others is returned
    /// alone: an altered record first, then an invalid run.
    pub fn decisive(&self) -> Vec<&Finding> {
        let alone = [Kind::Record, Kind::Validity]
            .into_iter()
            .find(|&kind| has(&self.findings, Some(kind), Ruling::CannotJudge));
        self.findings
            .iter()
            .filter(|of| of.outcome == Ruling::CannotJudge)
            .filter(|of| alone.is_none_or(|kind| of.kind == kind))
            .collect()
    }

    /// The findings that did not pass, worst first.
    pub fn objections(&self) -> Vec<&Finding> {
        let mut objections: Vec<&Finding> =
            self.findings.iter().filter(|finding| finding.outcome != Ruling::Pass).collect();
        objections.sort_by_key(|finding| match finding.outcome {
            Ruling::Fail => 0,
            Ruling::CannotJudge => 1,
            Ruling::Warn => 2,
            Ruling::Pass => 3,
        });
        objections
    }
}

/// Identifies the work of a run by its kind of test and the settings that decide its result. Only
/// runs of the same work form a series.
pub fn work_of(run: &RunRecord) -> String {
    comparison::work(run)
}

/// The combined outcome of several tests: one failure fails them all, whatever the others prove.
pub fn worst(outcomes: &[Ruling]) -> Ruling {
    let order = [Ruling::Fail, Ruling::CannotJudge];
    let found = order.into_iter().find(|outcome| outcomes.contains(outcome));
    found.unwrap_or(if outcomes.is_empty() { Ruling::CannotJudge } else { Ruling::Pass })
}

/// Applies every rule to a run. No rule applies to one host of a simulated deployment whose copies
/// and arrays are judged with those of the other hosts.
pub fn judge(run: &RunRecord) -> Verdict {
    if run.simulated().is_some_and(|of| of.is_host_of_deployment && !of.is_judged_by_hosts) {
        return Verdict { outcome: Ruling::CannotJudge, findings: Vec::new() };
    }
    if let Some(imported) = run.imported() {
        return imported::judge(run, imported);
    }
    let mut findings: Vec<Finding> = rules::ALL.iter().filter_map(|rule| rule(run)).collect();
    rules::name_other_programs(run, &mut findings);
    rules::name_io_limits(run, &mut findings);
    simulated::doubt_what_is_near(run, &mut findings);
    excuses::doubt_failures(&mut findings);
    let outcome = overall(&findings);
    if outcome == Ruling::CannotJudge {
        withdraw_failures(&mut findings);
    }
    excuses::explain_warnings(&mut findings, outcome);
    Verdict { outcome, findings }
}

/// A limit exceeded in an inconclusive run is not a failure of the storage: the observation is
/// kept, with the number and the place.
fn withdraw_failures(findings: &mut [Finding]) {
    for finding in findings {
        if finding.outcome == Ruling::Fail {
            finding.outcome = Ruling::CannotJudge;
            let seen = "the limit was not kept, in a run that proves nothing about it";
            finding.evidence.push(Evidence { decides: true, ..Evidence::of_run(seen) });
        }
    }
}

/// The verdict on the whole run.
///
/// A record that was changed afterwards proves nothing. Damage fails a run whatever else happened,
/// even an interrupted one. Otherwise an invalid run proves nothing. One failed limit fails a valid
/// run, even if another limit could not be judged.
fn overall(findings: &[Finding]) -> Ruling {
    if has(findings, Some(Kind::Record), Ruling::CannotJudge) {
        Ruling::CannotJudge
    } else if has(findings, Some(Kind::Damage), Ruling::Fail) {
        Ruling::Fail
    } else if has(findings, Some(Kind::Validity), Ruling::CannotJudge) {
        Ruling::CannotJudge
    } else if has(findings, None, Ruling::Fail) {
        Ruling::Fail
    } else if has(findings, None, Ruling::CannotJudge) {
        Ruling::CannotJudge
    } else {
        Ruling::Pass
    }
}

fn has(findings: &[Finding], kind: Option<Kind>, outcome: Ruling) -> bool {
    let mut of_kind =
        findings.iter().filter(|finding| kind.is_none_or(|kind| finding.kind == kind));
    of_kind.any(|finding| finding.outcome == outcome)
}

#[cfg(test)]
mod evidence_tests;
#[cfg(test)]
mod number_tests;
#[cfg(test)]
mod others_tests;
#[cfg(test)]
mod recovery_tests;
#[cfg(test)]
mod stall_tests;
#[cfg(test)]
mod tests;
