//! Tests of `simulated`.

use std::time::Duration;

use record::synthetic::Synthetic;
use record::{RunRecord, Simulation, Tuned};

use crate::{Limit, Ruling, judge};

fn simulated(uncertainty_percent: f64) -> RunRecord {
    let mut run = Synthetic::default().run();
    run.start.simulated = Some(Box::new(Simulation {
        array: "shelf".to_owned(),
        uncertainty_percent,
        ..Simulation::default()
    }));
    run
}

#[test]
fn a_simulated_run_that_keeps_its_limits_by_far_passes_and_says_that_it_is_simulated() {
    let verdict = judge(&simulated(10.0));
    assert_eq!(verdict.outcome, Ruling::Pass);
    let first = &verdict.findings[0];
    assert_eq!((first.rule, first.outcome), ("simulated", Ruling::Warn));
    let text = &first.evidence[0].text;
    assert!(text.contains("\"shelf\" has not been calibrated") && text.contains("10 %"), "{text}");
    assert!(judge(&Synthetic::default().run()).findings[0].rule != "simulated");
}

#[test]
fn one_host_of_a_deployment_has_no_findings() {
    let mut run = simulated(10.0);
    run.start.simulated.as_mut().expect("simulated").is_host_of_deployment = true;
    let verdict = judge(&run);
    assert_eq!((verdict.outcome, verdict.findings.len()), (Ruling::CannotJudge, 0));
}

#[test]
fn hosts_without_a_common_timeline_decide_on_their_deployment() {
    let mut run = simulated(10.0);
    let alone = judge(&run);
    let simulation = run.start.simulated.as_mut().expect("simulated");
    (simulation.is_host_of_deployment, simulation.is_judged_by_hosts) = (true, true);
    assert_eq!(judge(&run), alone);
}

#[test]
fn a_latency_whose_limit_lies_within_what_the_model_knows_is_not_judged() {
    let mut run = simulated(0.0);
    let rule = |run: &RunRecord| {
        let findings = judge(run).findings;
        let found = findings.into_iter().find(|of| of.rule == "read-latency-average");
        found.expect("reads are judged")
    };
    let measured = rule(&run).measured.expect("reads were made");
    let limit = |part: f64| {
        let nanoseconds = Duration::from_secs_f64(measured / 1e3 * part).as_nanos();
        u64::try_from(nanoseconds).expect("a latency")
    };
    run.start.settings.thresholds.read_average_ns = limit(1.2);
    for (uncertainty_percent, outcome) in [(15.0, Ruling::Pass), (25.0, Ruling::CannotJudge)] {
        run.start.simulated = simulated(uncertainty_percent).start.simulated;
        let found = rule(&run);
        assert_eq!(found.outcome, outcome, "{uncertainty_percent}: {found:?}");
    }
    assert!(rule(&run).evidence[0].text.contains("too near its limit"));
    assert!(rule(&run).deciding_evidence().is_some());
    // An error of 25 % of the true value: four fifths to four thirds of the simulated value.
    for (part, outcome) in [
        (0.79, Ruling::Fail),
        (0.81, Ruling::CannotJudge),
        (1.32, Ruling::CannotJudge),
        (1.34, Ruling::Pass),
    ] {
        run.start.settings.thresholds.read_average_ns = limit(part);
        assert_eq!(rule(&run).outcome, outcome, "{part}");
    }
}

/// One limit everywhere: that of the plan, and not the lower one that a simulation has to keep.
#[test]
fn a_latency_near_its_limit_shows_the_limit_of_the_plan() {
    let mut finding = crate::Finding {
        rule: "any",
        title: "Any",
        kind: crate::Kind::Load,
        outcome: Ruling::Pass,
        measured: Some(15.3),
        limit: Some(Limit::AtMost(20.0)),
        unit: crate::Unit::Milliseconds,
        evidence: Vec::new(),
    };
    super::doubt_what_is_near(&simulated(25.0), std::slice::from_mut(&mut finding));
    assert_eq!((finding.outcome, finding.limit), (Ruling::CannotJudge, Some(Limit::AtMost(20.0))));
    let text = "too near its limit of 20 ms for a simulation: the true latency is between 12.2 \
                and 20.4 ms; a simulation within +-25 % would have to be below 15 ms to pass for \
                certain";
    assert_eq!(finding.deciding_evidence(), Some(text));
}

/// A range never seems to end at the limit that lies within it.
#[test]
fn a_range_shows_that_the_limit_lies_within_it() {
    let said = super::range_of((15.0, 20.004), 20.0, crate::Unit::Milliseconds);
    assert_eq!(said, "the true latency is between 15 and 20.004 ms");
    let said = super::range_of((949.6, 1_200.0), 950.0, crate::Unit::IoPerSecond);
    assert!(said.starts_with("949.6 to 1,200 IOPS"), "{said}");
}

/// A rate that true latencies might lift to its target has not failed; one that met it passes.
#[test]
fn a_rate_is_not_judged_that_shorter_latencies_may_bring_to_its_target() {
    let mut run = simulated(25.0);
    run.tuned = Some(Tuned::default());
    let achieved = run.achieved_transactional_iops();
    run.start.settings.thresholds.target_reached_percent = 100.0;
    for (part, outcome) in [
        (0.99, Ruling::Pass),
        (1.1, Ruling::CannotJudge),
        (1.24, Ruling::CannotJudge),
        (1.27, Ruling::Fail),
    ] {
        run.start.settings.target_iops = Some(achieved * part);
        let findings = judge(&run).findings;
        let found = findings.iter().find(|of| of.rule == "target-iops").expect("a target");
        assert_eq!(found.outcome, outcome, "{part}: {found:?}");
    }
}
