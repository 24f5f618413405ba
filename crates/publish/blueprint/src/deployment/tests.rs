//! The customer's page shows which claim breaks and what to change.

use verdict::Ruling;

use super::{
    Claim, ClaimState, Outage, OutageEnd, PaperFailure, Proof, Remedy, proof_html, proof_json,
    proof_text,
};
use crate::{DesignEdit, SimulatedEdit};

fn proof(state: ClaimState) -> Proof {
    let claim = |name: &str, state| Claim {
        name: name.to_owned(),
        worst: "EX03".to_owned(),
        cases: 4,
        state,
        formulas_hold: true,
        is_narrow: false,
        reads_ms: Some(31.4),
        worst_minute_ms: Some(44.0),
        disks_busy: 0.97,
        excess: (state != ClaimState::Holds).then_some(0.57),
        disagreement: (state != ClaimState::Holds).then(|| "requests queue".to_owned()),
        remedy: (state != ClaimState::Holds).then(remedy),
        because: "database reads of EX04 take 31.4 ms, limit 20 ms".to_owned(),
        redundant_after_ns: Some(7_200_000_000_000),
        outage: None,
    };
    Proof {
        title: "Mail".to_owned(),
        customer: "Contoso".to_owned(),
        date: "2026-11-29".to_owned(),
        author: "A. Author".to_owned(),
        description: "Two sites".to_owned(),
        assumption: None,
        design: "4 servers, 3 copies".to_owned(),
        uncertainty_percent: 25.0,
        disk_load: Some(0.66),
        has_unsized_processors: false,
        violations: Vec::new(),
        claims: vec![
            claim("normal operation", ClaimState::Holds),
            claim("one server fails", state),
        ],
        remedy: (state != ClaimState::Holds).then(remedy),
        edits: Vec::new(),
    }
}

fn edit(simulated: Option<SimulatedEdit>) -> DesignEdit {
    DesignEdit {
        section: "storage".to_owned(),
        line: "several_databases_per_volume = false".to_owned(),
        effect: "load of a disk 33 % instead of 98 %; 60 disks instead of 20".to_owned(),
        also: vec!["costs CHF 78,000 instead of CHF 72,809".to_owned()],
        cost: Some(78_000.0),
        simulated,
    }
}

fn remedy() -> Remedy {
    Remedy {
        edit: Some("storage.raid = \"RAID-1/0\"".to_owned()),
        effect: "48 disks instead of 40".to_owned(),
        tried: 3,
        is_certain: true,
    }
}

#[test]
fn the_customer_reads_what_breaks_and_what_to_change() {
    let text = proof_text(&proof(ClaimState::Fails), report::TEXT_WIDTH);
    let parts = [
        "SIMULATED FAIL",
        "1 of 2",
        "Breaks it: one server fails, worst if it is EX03",
        "Then database reads of EX04",
        "RAID-1/0",
        "+-25 %",
        "57",
        "Where the Sizing's Formulas Disagree",
        "requests queue",
    ];
    for part in parts {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("`size --predict` asks another question: whether a set"), "{flat}");
    assert!(flat.contains("without a failure carries") && !flat.contains("harder"), "{flat}");
    assert!(proof_html(&proof(ClaimState::Fails)).contains("Contoso"));
}

#[test]
fn a_claim_whose_truth_the_model_cannot_tell_is_called_narrow() {
    let mut near = proof(ClaimState::Holds);
    assert!(!proof_text(&near, report::TEXT_WIDTH).contains("arrowly"));
    near.claims[1].is_narrow = true;
    let text = proof_text(&near, report::TEXT_WIDTH);
    assert!(text.contains("holds narrowly") && text.contains("within +-25 %"), "{text}");
    assert_eq!(proof_json(&near)["claims"][1]["narrow"], true);
}

/// A prediction of the same latency cannot be judged; a proof of it neither passes nor fails.
#[test]
fn a_latency_that_a_prediction_cannot_judge_decides_no_proof() {
    for state in [ClaimState::Holds, ClaimState::Fails] {
        let mut near = proof(state);
        near.claims[1].is_narrow = true;
        assert_eq!(near.ruling(), Ruling::CannotJudge, "{state:?}");
        let text = proof_text(&near, report::TEXT_WIDTH);
        assert!(text.contains("SIMULATED CANNOT JUDGE  1 of 2 claims hold, 1 inc"), "{text}");
        assert!(!text.contains("Breaks it"), "{text}");
        assert_eq!(proof_json(&near)["verdict"], "simulated_cannot_judge");
        near.claims[1].state = ClaimState::FailsOnPaper(PaperFailure::NoQuorum);
        assert_eq!(near.ruling(), Ruling::Fail);
    }
}

/// The list of a prediction, with its costs and its line to copy; a change that was not played is
/// no way out.
#[test]
fn a_proof_lists_the_changes_that_a_prediction_lists() {
    let mut near = proof(ClaimState::Holds);
    near.claims[1].is_narrow = true;
    let passed = SimulatedEdit { outcome: Ruling::Pass, deciding: None, read_ms: None };
    near.edits = vec![edit(Some(passed)), edit(None)];
    let text = proof_text(&near, report::TEXT_WIDTH);
    let written = crate::written_edits(&near.edits, "prove");
    assert!(written.contains("# costs CHF 78,000 instead of CHF 72,809\n"), "{written}");
    assert_eq!(written.matches("[storage]").count(), 1, "{written}");
    for line in written.lines().filter(|line| line.starts_with(['#', '['])) {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(proof_json(&near)["edits"][0]["cost"], 78_000.0);
}

fn outage(allowed_ns: Option<u64>) -> Outage {
    Outage {
        databases: 40,
        longest_ns: 1_800_000_000_000,
        allowed_ns,
        case: "if site 1 fails".to_owned(),
        ended_by: OutageEnd::Activation,
    }
}

/// No copy serves the users of a site for a while: a pass says for how long, and whether
/// the deployment allows it.
#[test]
fn a_time_without_service_is_never_a_silent_part_of_a_pass() {
    for (allowed, said) in [
        (None, "the deployment does not say whether that is acceptable"),
        (Some(3_600_000_000_000), "longest_outage allows 1 h"),
        (Some(60_000_000_000), "more than [availability] longest_outage allows, 1 min"),
    ] {
        let mut passed = proof(ClaimState::Holds);
        passed.claims[1].outage = Some(outage(allowed));
        let page = proof_html(&passed);
        assert!(page.contains("holds, 30 min without service"), "{page}");
        assert!(page.matches("40 databases have no active copy for 30 min").count() > 1, "{page}");
        assert!(page.contains(said), "{said}: {page}");
        assert_eq!(proof_json(&passed)["claims"][1]["outage"]["longest_ns"], 1_800_000_000_000_u64);
    }
}

#[test]
fn a_time_without_service_has_a_case_and_an_end() {
    for (ended_by, until) in [
        (OutageEnd::Replay, "a lagged copy has replayed its log"),
        (OutageEnd::Activation, "an administrator activates the other site"),
    ] {
        let mut passed = proof(ClaimState::Holds);
        passed.claims[1].outage = Some(Outage { ended_by, ..outage(None) });
        let because = format!("if site 1 fails, until {until}");
        assert!(proof_html(&passed).contains(&because), "{because}");
        assert_eq!(proof_json(&passed)["claims"][1]["outage"]["because"], because);
    }
}

/// A single change needs no table; several failing claims have one change each.
#[test]
fn the_table_of_changes_is_for_more_than_one() {
    let mut failing = proof(ClaimState::Fails);
    assert!(!proof_text(&failing, report::TEXT_WIDTH).contains("for each failing claim"));
    failing.claims[0].state = ClaimState::FailsOnPaper(PaperFailure::NoQuorum);
    let page = proof_html(&failing);
    assert!(page.contains("for each failing claim"), "{page}");
    assert!(page.contains("Also failing: one server fails."), "{page}");
}

/// The limit that is missed by most is named first.
#[test]
fn the_clearest_failure_is_named_first() {
    let mut failing = proof(ClaimState::Fails);
    failing.claims[0].state = ClaimState::Fails;
    failing.claims[0].excess = Some(0.9);
    assert!(proof_html(&failing).contains("Breaks it: normal operation"));
    failing.claims[0].excess = Some(0.3);
    let page = proof_html(&failing);
    assert!(page.contains("Breaks it: one server fails"), "{page}");
    assert!(!page.contains("Fails even in"), "it fails with this host lost: {page}");
    failing.claims[0].worst = "-".to_owned();
    let page = proof_html(&failing);
    assert!(page.contains("Fails even in normal operation: database reads of EX04"), "{page}");
    assert!(!page.contains("Also failing"), "{page}");
}

#[test]
fn claims_that_hold_need_no_change() {
    let holding = proof(ClaimState::Holds);
    assert_eq!(holding.ruling(), Ruling::Pass);
    let text = proof_text(&holding, report::TEXT_WIDTH);
    assert!(text.contains("SIMULATED PASS") && !text.contains("What to Change"), "{text}");
    assert!(!text.contains("requests queue"), "{text}");
    let answer = proof_json(&holding);
    assert_eq!(answer["claims"][1]["state"], "holds");
    assert_eq!(answer["claims"][1]["formulas"], "holds");
    assert_eq!(answer["formulas_disk_load_percent"], 66.0);
    assert_eq!(answer["remedy"], serde_json::Value::Null);
}

/// A broken limit is never shown as kept to the last digit.
#[test]
fn a_limit_missed_by_little_is_not_missed_by_nothing() {
    for (excess, shown) in [(0.57, "57"), (0.012, "1"), (0.002, "0.2"), (0.0002, "below 0.1")] {
        assert_eq!(super::proof::excess_percent(excess), shown);
    }
    let mut near = proof(ClaimState::Fails);
    near.claims[1].excess = Some(0.002);
    assert!(proof_html(&near).contains("<span>0.2</span>"), "{}", proof_html(&near));
}

#[test]
fn a_proof_by_assumed_figures_says_so_in_every_form() {
    let said = "ASSUMPTION: 9 figures are those of Exchange 2016";
    let assumed = Proof { assumption: Some(said.to_owned()), ..proof(ClaimState::Holds) };
    assert!(proof_text(&assumed, 200).contains(said));
    let page = proof_html(&assumed);
    assert!(
        page.contains(&format!("@top-left {{ content: \"Mail, for Contoso. {said}\"")),
        "{page}"
    );
    assert_eq!(proof_json(&assumed)["assumption"], said);
}

/// A proof plays disks and no processors; what no claim includes is part of the headline.
#[test]
fn a_proof_without_the_speed_of_its_servers_says_that_no_claim_includes_processors() {
    let unsized_ = Proof { has_unsized_processors: true, ..proof(ClaimState::Holds) };
    let headline = "SIMULATED PASS, PROCESSORS NOT SIZED";
    let said = "No claim includes the processors";
    for form in [proof_text(&unsized_, 200), proof_html(&unsized_)] {
        assert!(form.contains(headline) && form.contains(said), "{form}");
    }
    let json = proof_json(&unsized_);
    assert_eq!((&json["headline"], &json["verdict"]), (&headline.into(), &"simulated_pass".into()));
    assert_eq!((&json["not_sized"][0], &json["exit_code"]), (&"processors".into(), &0.into()));
    assert!(!proof_text(&proof(ClaimState::Holds), 200).contains("processors"));
    let failing = Proof { has_unsized_processors: true, ..proof(ClaimState::Fails) };
    assert!(!proof_text(&failing, 200).contains("NOT SIZED"), "it fails whatever they carry");
}
