//! What excuses a failed load: a disturbance that may be the cause. Its finding names the limit
//! that it may explain, since its own number is the same whether the load failed or not.

use crate::{Evidence, Finding, Kind, Ruling, rules};

/// Makes the run inconclusive if a load failed beside a disturbance, or if only its target was
/// missed, with the sessions of the plan. A load that passes in spite of one has passed.
pub(crate) fn doubt_failures(findings: &mut Vec<Finding>) {
    let mut failed = findings.iter().filter(|of| is_failed_load(of));
    let misses_target_alone = failed.clone().all(|of| of.rule == rules::TARGET_IOPS);
    let missed = failed.clone().next().map(missed);
    // On a busy machine answers are noticed late by milliseconds, and another run makes requests
    // queue. If the program did not run at all, the interval was left out, so a request that takes
    // seconds is the storage's fault.
    let is_frozen = failed.any(|finding| finding.rule == rules::LONGEST_REQUEST);
    findings.retain(|of| of.rule != rules::SESSIONS || misses_target_alone);
    let Some(missed) = missed.filter(|_| !is_frozen) else { return };
    for finding in findings.iter_mut().filter(|of| is_disturbance(of)) {
        finding.outcome = Ruling::CannotJudge;
        finding.evidence.push(Evidence { decides: true, ..Evidence::of_run(&*missed) });
    }
}

fn is_failed_load(finding: &Finding) -> bool {
    finding.kind == Kind::Load && finding.outcome == Ruling::Fail
}

fn missed(finding: &Finding) -> String {
    format!("it may be why a limit was not kept: {}{}", finding.title, finding.numbers())
}

fn is_disturbance(finding: &Finding) -> bool {
    let others = [rules::OTHER_RUNS, rules::SESSIONS];
    let is_other = others.contains(&finding.rule) || rules::GENERATOR.contains(&finding.rule);
    finding.outcome == Ruling::Warn && is_other
}

/// Says beside a disturbance that excuses nothing why the number over its limit counts for nothing.
pub(crate) fn explain_warnings(findings: &mut [Finding], outcome: Ruling) {
    let (rules, why) = match outcome {
        Ruling::Pass | Ruling::Warn => (&rules::EXCUSES[..], HARMLESS),
        Ruling::Fail | Ruling::CannotJudge => (&rules::GENERATOR[..], INDECISIVE),
    };
    let warnings = findings.iter_mut().filter(|of| rules.contains(&of.rule));
    for finding in warnings.filter(|of| of.outcome == Ruling::Warn) {
        // Alone they excuse no failure: storage is not slow because a compiler runs.
        let why = if finding.rule == rules::OTHER_PROGRAMS { HARMLESS_ALWAYS } else { why };
        if let Some(first) = finding.evidence.first_mut() {
            first.text = format!("{why}; {}", first.text);
        }
    }
}

const HARMLESS_ALWAYS: &str = "does not weaken the pass";
const HARMLESS: &str = "does not weaken the pass, but can make a failure inconclusive";
const INDECISIVE: &str = "does not decide this run, but can make a failure inconclusive";
