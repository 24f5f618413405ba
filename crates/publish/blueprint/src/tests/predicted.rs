//! A design with the simulation of its disks: one headline, both parts on the page.

use provision::size;
use record::Tuned;
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
        run.tuned = Some(Tuned::default());
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
        for words in [status, "predicted/simulated/report.html"] {
            assert!(text.contains(words), "{text}");
        }
        for form in [&page, &text] {
            assert!(form.contains("7 sets of disks"), "{form}");
        }
        assert!(page.contains("taken for active, none of them has failed, and each"), "{page}");
        assert!(page.contains("Either may show the higher latency."), "{page}");
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
    let predicted = predicted(false);
    let sized = Sized { predicted: Some(&predicted), ..Sized::new(&deployment, &sizing) };
    let proof = "# simulated to pass: Database read latency, 99 % 8.1 ms";
    assert!(sizing_text(sized).contains(proof) && sizing_html(sized, &[]).contains(proof));
    let lines = "\n[storage]\nseveral_databases_per_volume = false\n";
    assert!(sizing_text(sized).contains(lines) && sizing_html(sized, &[]).contains(lines));
    assert!(!sizing_text(sized).contains("raid.level"));
}

/// An edit as simulated; without an outcome it was not.
fn tried(line: &str, outcome: Option<(Ruling, f64)>) -> DesignEdit {
    let simulated = outcome.map(|(outcome, ms)| SimulatedEdit {
        outcome,
        deciding: Some(format!("Database read latency {ms:.1} ms, limit 20 ms")),
        read_ms: Some(ms),
    });
    DesignEdit { line: line.to_owned(), simulated, ..predicted(false).edits[0].clone() }
}

/// Only what passes is offered as lines to copy; the others are named with their figures.
#[test]
fn an_edit_that_does_not_pass_is_no_way_out() {
    let edits = [
        tried("a = 1", Some((Ruling::CannotJudge, 16.4))),
        tried("b = 2", Some((Ruling::Pass, 11.2))),
        tried("c = 3", None),
    ];
    let text = crate::written_edits(&edits, "predict");
    let (lead, rest) = text.split_once('\n').expect("lines");
    assert!(lead.starts_with("The same simulation passes with each of these"), "{text}");
    assert!(rest.contains("11.2 ms, limit 20 ms\n[storage]\nb = 2\n"), "{text}");
    assert!(!text.contains("[storage]\na = 1") && !text.contains("c = 3"), "{text}");
    let not_enough = "Not enough: [storage] a = 1, simulation inconclusive: Database read latency";
    assert!(text.contains(not_enough), "{text}");
}

/// An inconclusive simulation is nearer to a pass than a failure, however fast.
#[test]
fn if_no_edit_passes_the_best_is_named_first() {
    let edits = [
        tried("a = 1", Some((Ruling::Fail, 14.0))),
        tried("b = 2", Some((Ruling::CannotJudge, 18.9))),
        tried("c = 3", Some((Ruling::CannotJudge, 16.4))),
    ];
    let text = crate::written_edits(&edits, "predict");
    let best =
        "None of the 3 changes that were simulated passes. Best: [storage] c = 3, simulation";
    assert!(text.starts_with(best) && !text.contains("# "), "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let places = ["c = 3", "b = 2", "a = 1"].map(|line| flat.find(line));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    let one = crate::written_edits(&edits[..1], "predict");
    assert!(one.starts_with("The only change that was simulated does not pass:"), "{one}");
    assert!(crate::written_edits(&[tried("d = 4", None)], "predict").is_empty());
}
