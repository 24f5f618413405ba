//! A design with the simulation of its disks: one headline, both parts on the page.

use provision::size;
use verdict::Ruling;

use super::design::{DEPLOYMENTS, deployment};
use super::{simulated, sizing_text};
use crate::{
    DesignEdit, PredictedDesign, SimulatedEdit, Sized, Unsimulated, sizing_html, sizing_json,
};

/// A prediction that passes, or misses its target.
fn predicted(passes: bool) -> PredictedDesign {
    let mut run = simulated();
    if !passes {
        run.start.settings.target_iops = Some(10.0 * run.achieved_transactional_iops());
    }
    let verdict = verdict::judge(&run);
    let edit = DesignEdit {
        section: "storage".to_owned(),
        line: "several_databases_per_volume = false".to_owned(),
        effect: "load of a disk 33 % instead of 98 %; 60 disks instead of 20".to_owned(),
        also: vec!["cost CHF 78,000 instead of 72,809".to_owned()],
        cost: Some(78_000.0),
        simulated: Some(SimulatedEdit {
            outcome: Ruling::Pass,
            deciding: Some("Database read latency, 99 % 8.1 ms, limit 50 ms".to_owned()),
            read_ms: Some(4.5),
        }),
    };
    PredictedDesign {
        run,
        verdict,
        server: "EX01".to_owned(),
        databases: 3,
        sets: 7,
        report: "predicted/simulated/report.html".to_owned(),
        edits: if passes { Vec::new() } else { vec![edit] },
    }
}

/// A design that violates no rule but is too slow is reported as such in the first line, in every
/// form.
#[test]
fn one_headline_says_what_rules_and_simulation_say() {
    let deployment = deployment(DEPLOYMENTS[0]);
    let sizing = size(&deployment);
    assert!(sizing.is_workable());
    for (passes, headline, status) in [
        (true, "Workable, and simulated to pass", "Exit status 0: no rule is violated"),
        (false, "Within the rules, but simulated to fail", "Exit status 1: no rule is violated"),
    ] {
        let predicted = predicted(passes);
        assert_eq!(predicted.verdict.outcome == Ruling::Fail, !passes);
        let sized = Sized { predicted: Some(&predicted), ..Sized::new(&deployment, &sizing) };
        let (page, text) = (sizing_html(sized, &[]), sizing_text(sized));
        assert!(page.contains(headline) && page.contains("id=\"prediction\""), "{headline}");
        let first = text.lines().nth(3).expect("a headline");
        assert!(first.starts_with(&headline.to_uppercase()), "{first}");
        assert_eq!(text.matches("expect latencies within").count(), 1, "{text}");
        for form in [&page, &text] {
            assert!(form.contains(status) && form.contains("7 sets of disks"), "{form}");
        }
        assert!(page.contains("taken for active, the most that they can have to carry"), "{page}");
        let json: serde_json::Value = serde_json::from_str(&sizing_json(sized)).expect("JSON");
        let verdict = if passes { "simulated_pass" } else { "simulated_fail" };
        assert_eq!(json["prediction"]["verdict"], verdict);
    }
}

/// A simulation that was refused is not proposed again, and the exit status is that of the program.
#[test]
fn a_design_that_could_not_be_simulated_says_why() {
    let deployment = deployment(DEPLOYMENTS[0]);
    let sizing = size(&deployment);
    let shown = |unsimulated| Sized { unsimulated, ..Sized::new(&deployment, &sizing) };
    let refused = shown(Unsimulated::Refused("the array is too small"));
    let flat = |sized| sizing_text(sized).split_whitespace().collect::<Vec<_>>().join(" ");
    let text = flat(refused);
    assert!(text.contains("WITHIN THE RULES, NOT SIMULATED"), "{text}");
    assert!(text.contains("the array is too small") && !text.contains("do that"), "{text}");
    assert!(sizing_html(refused, &[]).contains("<header class=\"banner warn\">"), "no warning");
    let json: serde_json::Value = serde_json::from_str(&sizing_json(refused)).expect("JSON");
    assert_eq!((&json["exit_code"], &json["prediction"]), (&2.into(), &serde_json::Value::Null));
    assert_eq!(json["not_predicted"], "the array is too small");
    let unknown = flat(shown(Unsimulated::UnknownDisks));
    assert!(!unknown.contains("size --predict`, `size --prove`): do that"), "{unknown}");
    assert!(unknown.contains("no model knows disks of this type"), "{unknown}");
    assert!(flat(shown(Unsimulated::NotRequested)).contains("do that"));
}

/// The next step is an edit of the deployment that fits its disks.
#[test]
fn edits_are_lines_of_the_deployment() {
    let deployment = deployment(DEPLOYMENTS[0]);
    let sizing = size(&deployment);
    let mut predicted = predicted(false);
    let unproven = DesignEdit { simulated: None, ..predicted.edits[0].clone() };
    predicted.edits.push(unproven);
    let sized = Sized { predicted: Some(&predicted), ..Sized::new(&deployment, &sizing) };
    for proof in
        ["# simulated to pass: Database read latency, 99 % 8.1 ms", "# sized, not simulated"]
    {
        assert!(sizing_text(sized).contains(proof) && sizing_html(sized, &[]).contains(proof));
    }
    let lines = "\n[storage]\nseveral_databases_per_volume = false\n";
    assert!(sizing_text(sized).contains(lines) && sizing_html(sized, &[]).contains(lines));
    assert!(!sizing_text(sized).contains("raid.level"));
}
