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

/// A latency so near its limit that the true one may lie on the other side is not judged.
pub(crate) fn doubt_what_is_near(run: &RunRecord, findings: &mut [Finding]) {
    let Some(simulation) = run.simulated() else {
        return;
    };
    for finding in findings {
        let (Some(measured), Some(limit)) = (finding.measured, finding.limit) else {
            continue;
        };
        let is_judged = matches!(finding.outcome, Ruling::Pass | Ruling::Fail);
        if finding.kind == Kind::Load && finding.unit == Unit::Milliseconds && is_judged {
            doubt(finding, simulation.range(measured), limit);
        }
    }
}

fn doubt(finding: &mut Finding, (least, most): (f64, f64), limit: Limit) {
    if limit.admits(least) != limit.admits(most) {
        finding.outcome = Ruling::CannotJudge;
        let most =
            if most.is_finite() { format!("and {most:.2} ms") } else { "ms and any".to_owned() };
        let text = format!("too near its limit for a simulation: between {least:.2} {most}");
        finding.evidence.insert(0, Evidence::of_run(text));
    }
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
}
