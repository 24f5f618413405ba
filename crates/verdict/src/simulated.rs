//! How far a simulated run can be judged: no further than its model is known to be right.

use record::{RunRecord, Simulation};

use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// What every simulated run is told first.
pub(crate) fn finding(run: &RunRecord) -> Option<Finding> {
    let simulation = run.simulated()?;
    Some(Finding {
        rule: "simulated",
        title: "Simulated, not measured",
        kind: Kind::Validity,
        outcome: Ruling::Warn,
        measured: Some(simulation.uncertainty_percent),
        limit: None,
        unit: Unit::Percent,
        evidence: vec![Evidence::of_run(trust(simulation))],
    })
}

/// Where the parameters come from, and what follows.
fn trust(simulation: &Simulation) -> String {
    let Simulation { array, calibrated_on, free_parameters, uncertainty_percent, .. } = simulation;
    let calibration = if calibrated_on.is_empty() {
        "not been calibrated on any result".to_owned()
    } else {
        format!(
            "{free_parameters} parameters fitted to {}, which therefore prove nothing about it",
            calibrated_on.join(", ")
        )
    };
    format!(
        "the model \"{array}\" has {calibration}; its latencies may be \
         {uncertainty_percent:.0} % off the true ones, either way"
    )
}

/// A latency or a rate so near its limit that the true one may lie on the other side is not judged.
pub(crate) fn doubt_what_is_near(run: &RunRecord, findings: &mut [Finding]) {
    let Some(simulation) = run.simulated() else {
        return;
    };
    for finding in findings {
        let (Some(measured), Some(limit)) = (finding.measured, finding.limit) else {
            continue;
        };
        let is_judged = matches!(finding.outcome, Ruling::Pass | Ruling::Fail);
        if finding.kind != Kind::Load || !is_judged {
            continue;
        }
        match finding.unit {
            Unit::Milliseconds => doubt(finding, simulation.range(measured), limit),
            // Sessions that wait for answers make five fourths of the requests, at most, where an
            // answer takes four fifths of the time. A rate that is held is what was asked for.
            Unit::IoPerSecond => {
                let (shortest, _) = simulation.range(1.0);
                doubt(finding, (measured, measured / shortest), limit);
            }
            _ => {}
        }
    }
}

fn doubt(finding: &mut Finding, (least, most): (f64, f64), limit: Limit) {
    if limit.admits(least) == limit.admits(most) {
        return;
    }
    finding.outcome = Ruling::CannotJudge;
    let (Some(measured), plan) = (finding.measured, limit.value()) else {
        return;
    };
    if limit.admits(measured) {
        // What passes for certain keeps the limit at its worst too.
        finding.limit = Some(Limit::AtMost(plan * measured / most));
    }
    let range = match finding.unit {
        Unit::Milliseconds if most.is_finite() => format!("between {least:.2} and {most:.2} ms"),
        Unit::Milliseconds => format!("between {least:.2} ms and any"),
        _ => format!("{least:.0} to {most:.0} IOPS, by how far its latencies may be off"),
    };
    let plan = quantity(plan, finding.unit);
    let text = format!("too near its limit of {plan} for a simulation: {range}");
    finding.evidence.insert(0, Evidence::of_run(text));
}

/// A limit of the plan in its unit.
fn quantity(limit: f64, unit: Unit) -> String {
    format!("{} {}", units::three_digits(limit), unit.symbol())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use record::synthetic::Synthetic;
    use record::{RunRecord, Simulation};

    use crate::{Ruling, judge};

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
        assert!(
            text.contains("\"shelf\" has not been calibrated") && text.contains("10 %"),
            "{text}"
        );
        assert!(judge(&Synthetic::default().run()).findings[0].rule != "simulated");
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
        // Off by 25 % of the true one: four fifths to four thirds of what was simulated.
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

    /// A rate that the true latencies may bring up to its target has not failed; what is held has
    /// kept it.
    #[test]
    fn a_rate_is_not_judged_that_shorter_latencies_may_bring_to_its_target() {
        let mut run = simulated(25.0);
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
}
