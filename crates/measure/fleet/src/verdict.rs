//! One verdict on all hosts: every host is judged by its own record, and the fleet by facts that no
//! single host can know. A percentile of the fleet never hides a database that fails.

mod events;

use ::record::RunRecord;
use verdict::{Finding, Ruling, Verdict};

use crate::record::HostPart;
use crate::{FleetRecord, LossCause};
pub use events::PeriodVerdict;

/// Largest difference of start times at which hosts count as loading shared storage together.
const MOST_SKEW_NS: u64 = 1_000_000_000;

/// The outcome of a fleet run.
#[derive(Clone, Debug)]
pub struct FleetVerdict {
    /// The verdict on all hosts together; never a warning.
    pub outcome: Ruling,
    /// Findings of the rules on the fleet, worst first.
    pub findings: Vec<FleetFinding>,
    /// The parts of the measurement before, during and after each event; empty without events.
    pub periods: Vec<PeriodVerdict>,
    /// The verdict on each host, in the order of the plan.
    pub hosts: Vec<HostVerdict>,
}

/// Finding of one rule on the fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetFinding {
    /// The rule's name for programs, such as `host-lost`.
    pub rule: &'static str,
    /// The rule's outcome.
    pub outcome: Ruling,
    /// The deciding host, if there is one.
    pub host: Option<String>,
    /// The finding in a sentence.
    pub text: String,
}

/// The verdict on one host.
#[derive(Clone, Debug)]
pub struct HostVerdict {
    /// Name as the plan has it.
    pub name: String,
    /// The verdict on its record; `None` if its journal has not arrived.
    pub verdict: Option<Verdict>,
}

impl HostVerdict {
    /// Returns the outcome of its record; a missing record proves nothing.
    pub fn outcome(&self) -> Ruling {
        self.verdict.as_ref().map_or(Ruling::CannotJudge, |verdict| verdict.outcome)
    }
}

/// Judges a fleet run.
pub fn judge(fleet: &FleetRecord) -> FleetVerdict {
    let hosts: Vec<HostVerdict> = fleet.hosts.iter().map(host_verdict).collect();
    let mut findings = Vec::new();
    findings.extend(ended_early(fleet));
    findings.extend(fleet.hosts.iter().filter_map(|host| host_lost(fleet, host)));
    findings.extend(fleet.hosts.iter().filter_map(record_complete));
    findings.extend(common_begin(fleet));
    let periods = events::periods(fleet);
    if periods.is_empty() {
        findings.extend(fleet.hosts.iter().zip(&hosts).filter_map(host_outcome));
    } else {
        findings.extend(events::carried_out(fleet));
        findings.extend(events::outcomes(fleet, &periods));
    }
    findings.sort_by_key(|finding| severity(finding.outcome));
    let outcomes: Vec<Ruling> = findings.iter().map(|finding| finding.outcome).collect();
    let outcome = if hosts.is_empty() { Ruling::CannotJudge } else { worst(&outcomes) };
    FleetVerdict { outcome, findings, periods, hosts }
}

const fn severity(outcome: Ruling) -> u8 {
    match outcome {
        Ruling::Fail => 0,
        Ruling::CannotJudge => 1,
        Ruling::Warn => 2,
        Ruling::Pass => 3,
    }
}

/// The fleet fails if the storage of any host fails, whatever the outcome of the others.
fn worst(outcomes: &[Ruling]) -> Ruling {
    let found = outcomes.iter().min_by_key(|outcome| severity(**outcome));
    match found {
        Some(Ruling::Fail) => Ruling::Fail,
        Some(Ruling::CannotJudge) => Ruling::CannotJudge,
        _ => Ruling::Pass,
    }
}

fn host_verdict(host: &HostPart) -> HostVerdict {
    HostVerdict { name: host.name.clone(), verdict: host.record.as_ref().map(verdict::judge) }
}

/// The outcome of a host, with the finding that decided it; `None` without a record.
fn host_outcome((host, verdict): (&HostPart, &HostVerdict)) -> Option<FleetFinding> {
    let (record, judged) = (host.record.as_ref()?, verdict.verdict.as_ref()?);
    let text = decisive(&host.name, record, judged);
    Some(FleetFinding {
        rule: "host-verdict",
        outcome: judged.outcome,
        host: Some(host.name.clone()),
        text,
    })
}

/// The finding that decided the verdict on a host: one that names a database, such as a failed
/// write, rather than its consequence for all of them.
fn decisive(host: &str, record: &RunRecord, judged: &Verdict) -> String {
    let objections = judged.objections();
    let deciding: Vec<&&Finding> =
        objections.iter().filter(|finding| finding.outcome == judged.outcome).collect();
    let deciding = deciding
        .iter()
        .find(|of| of.evidence.iter().any(|of| of.database.is_some()))
        .or_else(|| deciding.first());
    deciding.map_or_else(
        || format!("{host}: {}", judged.outcome.name()),
        |finding| {
            let place = finding.evidence.first().map_or_else(String::new, |evidence| {
                let database = evidence.database.map_or(String::new(), |index| {
                    let found = record.start.databases.iter().find(|of| of.index == index);
                    found.map_or(String::new(), |of| format!("{}: ", of.name))
                });
                format!(" ({database}{})", evidence.text)
            });
            format!("{host}: {}{place}", finding.title)
        },
    )
}

fn ended_early(fleet: &FleetRecord) -> Option<FleetFinding> {
    let text = match &fleet.early {
        Some(why) => format!("The run ended early: {why}."),
        None if fleet.has_ended => return None,
        None => "The controller did not see the run to its end.".to_owned(),
    };
    // The death of a controller does not affect hosts whose journals are complete.
    let is_whole = fleet.hosts.iter().all(HostPart::is_complete);
    let outcome = match (&fleet.early, is_whole) {
        (None, true) => Ruling::Warn,
        _ => Ruling::CannotJudge,
    };
    Some(FleetFinding { rule: "ended-early", outcome, host: None, text })
}

fn host_lost(fleet: &FleetRecord, host: &HostPart) -> Option<FleetFinding> {
    let absence = host.absences.first()?;
    let how = match absence.cause {
        LossCause::Silence => "nothing was heard of it",
        LossCause::Restart => "its agent was started anew and knew nothing of the run",
        LossCause::TooSlow => "it did not end in time",
    };
    let second = fleet.measure_from_ns.and_then(|from| absence.from_ns.checked_sub(from));
    let when = second.map_or_else(
        || " before the measurement".to_owned(),
        |ns| format!(" {} s into the measurement", ns / 1_000_000_000),
    );
    let is_whole = host.is_complete();
    let end = if is_whole {
        "; its journal is complete"
    } else {
        "; `plimsoll fleet collect` completes its journal once it is back"
    };
    Some(FleetFinding {
        rule: "host-lost",
        outcome: if is_whole { Ruling::Warn } else { Ruling::CannotJudge },
        host: Some(host.name.clone()),
        text: format!("{} was lost{when}: {how}{end}.", host.name),
    })
}

fn record_complete(host: &HostPart) -> Option<FleetFinding> {
    if host.is_complete() || !host.absences.is_empty() || host.is_down_for_good() {
        return None;
    }
    let what = if host.record.is_some() { "ends before its run did" } else { "has not arrived" };
    Some(FleetFinding {
        rule: "record-complete",
        outcome: Ruling::CannotJudge,
        host: Some(host.name.clone()),
        text: format!("The journal of {} {what}: run `plimsoll fleet collect`.", host.name),
    })
}

fn common_begin(fleet: &FleetRecord) -> Option<FleetFinding> {
    let skew_ns = fleet.skew_ns()?;
    let most_error_ns = fleet.begins().iter().map(|(_, _, error_ns)| *error_ns).max()?;
    let apart = skew_ns + most_error_ns;
    let is_common = apart <= MOST_SKEW_NS;
    Some(FleetFinding {
        rule: "common-begin",
        outcome: if is_common { Ruling::Pass } else { Ruling::CannotJudge },
        host: None,
        text: format!(
            "The hosts began to measure {:.1} ms apart, known to {:.1} ms; at most {} ms.",
            skew_ns as f64 / 1e6,
            most_error_ns as f64 / 1e6,
            MOST_SKEW_NS / 1_000_000
        ),
    })
}

#[cfg(test)]
mod tests;
