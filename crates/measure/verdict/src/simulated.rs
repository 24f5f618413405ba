//! Limits the verdict on a simulated run to the known accuracy of its model.

use record::{RunRecord, Simulation};

use crate::{Evidence, Finding, Kind, Limit, Ruling, Unit};

/// The first finding of every simulated run.
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

/// Source of the parameters, and the consequence.
fn trust(simulation: &Simulation) -> String {
    let Simulation { array, calibrated_on, free_parameters, uncertainty_percent, .. } = simulation;
    let calibration = if calibrated_on.is_empty() {
        "not been calibrated on any result".to_owned()
    } else {
        format!(
            "{} fitted to {}, which therefore prove nothing about it",
            units::plural((*free_parameters).into(), "parameter"),
            calibrated_on.join(", ")
        )
    };
    format!(
        "the model \"{array}\" has {calibration}; expect latencies within \
         +-{uncertainty_percent:.0} %"
    )
}

/// Withholds judgement on a latency or rate so near its limit that the true one may be on the other
/// side.
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
            // If an answer takes four fifths of the time, sessions that wait for answers make at
            // most five fourths of the requests. A held rate is at its target.
            Unit::IoPerSecond => {
                let (shortest, _) = simulation.range(1.0);
                doubt(finding, (measured, measured / shortest), limit);
            }
            _ => {}
        }
    }
}

/// Judges a simulated quantity by the range of the true one: every simulation is judged by this
/// rule, of a run as of a deployment.
pub fn judged_by_range((least, most): (f64, f64), limit: Limit) -> Ruling {
    match (limit.admits(least), limit.admits(most)) {
        (true, true) => Ruling::Pass,
        (false, false) => Ruling::Fail,
        _ => Ruling::CannotJudge,
    }
}

fn doubt(finding: &mut Finding, range: (f64, f64), limit: Limit) {
    if judged_by_range(range, limit) != Ruling::CannotJudge {
        return;
    }
    finding.outcome = Ruling::CannotJudge;
    let Some(measured) = finding.measured else {
        return;
    };
    let plan = quantity(measured, limit.value(), finding.unit);
    let text = format!(
        "too near its limit of {plan} for a simulation: {}{}",
        range_of(range, limit.value(), finding.unit),
        certain_pass(measured, range, limit)
    );
    finding.evidence.insert(0, Evidence { decides: true, ..Evidence::of_run(text) });
}

/// The range in words, with enough digits to show that the limit lies within it.
fn range_of((least, most): (f64, f64), limit: f64, unit: Unit) -> String {
    let [low, high] = [least, most].map(|end| units::three_digits_beside(end, limit));
    match unit {
        Unit::Milliseconds if most.is_finite() => {
            format!("the true latency is between {low} and {high} ms")
        }
        Unit::Milliseconds => format!("the true latency is {low} ms or any above"),
        _ => format!("{low} to {high} IOPS, by how far its latencies may be off"),
    }
}

/// The simulated latency below which the limit is kept even in the worst case, for a latency that
/// keeps it by itself. Empty if no latency is low enough.
fn certain_pass(measured: f64, (least, most): (f64, f64), limit: Limit) -> String {
    if !matches!(limit, Limit::AtMost(_)) || !limit.admits(measured) || !most.is_finite() {
        return String::new();
    }
    // Three quarters of 20 ms must not print as 14.999999999999998.
    let certain = (limit.value() * measured / most * 1e6).round() / 1e6;
    format!(
        "; a simulation within +-{:.0} % would have to be below {} ms to pass for certain",
        (measured / least - 1.0) * 100.0,
        units::limit_beside(measured, certain)
    )
}

/// Formats a limit of the plan in its unit.
fn quantity(measured: f64, limit: f64, unit: Unit) -> String {
    format!("{} {}", units::limit_beside(measured, limit), unit.symbol())
}

#[cfg(test)]
mod tests;
