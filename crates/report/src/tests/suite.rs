//! One report of several tests: whole where a test was not run, with the arithmetic of the
//! documents that it is made for.

use serde_json::Value;
use verdict::{Ruling, Verdict, judge};

use super::{backup, failing, passing, recovery};
use crate::{
    SuiteTest, glossary, suite_html, suite_json, suite_outcome, suite_summary, suite_text,
};
use record::{Phase, RunRecord, Series, TestType};

/// The tests of a set, the last of which was not run.
fn with_set<T>(runs: &[RunRecord], use_it: impl FnOnce(&[SuiteTest<'_>]) -> T) -> T {
    let verdicts: Vec<Verdict> = runs.iter().map(judge).collect();
    let made = runs.iter().zip(&verdicts).zip(1..);
    let mut tests: Vec<SuiteTest<'_>> = made
        .map(|((run, verdict), number)| SuiteTest {
            kind: run.start.test,
            folder: format!("{number}-test"),
            measured: Ok((run, verdict)),
        })
        .collect();
    let why = "a volume lacks <room>".to_owned();
    tests.push(SuiteTest {
        kind: TestType::Stress,
        folder: "4-stress".to_owned(),
        measured: Err((Ruling::CannotJudge, why)),
    });
    use_it(&tests)
}

#[test]
fn a_set_is_as_good_as_its_worst_test() {
    let all_well = [passing(), passing()];
    assert_eq!(with_set(&all_well, suite_outcome), Ruling::CannotJudge, "one was not run");
    assert_eq!(with_set(&all_well, |tests| suite_outcome(&tests[..2])), Ruling::Pass);
    assert_eq!(with_set(&[passing(), failing()], suite_outcome), Ruling::Fail);
    let said = with_set(&all_well, suite_summary);
    assert!(said.starts_with("CANNOT JUDGE  2 of 3 tests passed\n"), "{said}");
    assert!(said.contains("Stress: Not run: a volume lacks <room>."), "{said}");
}

#[test]
fn a_test_of_a_set_that_did_not_pass_gives_every_reason() {
    let said = with_set(&[super::interrupted(), failing()], suite_summary);
    let line = |kind: &str| {
        let lines = said.lines().filter(|line| line.starts_with(&format!("{kind}: ")));
        lines.map(str::to_owned).collect::<Vec<String>>().concat()
    };
    let performance = line("Performance");
    for reason in ["Measured time 0 s, at least 30 s", "Completion: interrupted by Ctrl-C", "2 bad"]
    {
        assert!(performance.contains(reason), "{reason} is not in {performance}");
    }
}

#[test]
fn a_set_on_volumes_that_are_too_small_says_so() {
    let small = super::too_small();
    let all = [passing(), small];
    let (said, json) =
        with_set(&all, |tests| (suite_summary(&tests[..2]), suite_json(&tests[..2])));
    assert!(said.starts_with("PASS, TOO SMALL  2 of 2 tests passed\n"), "{said}");
    assert!(said.contains("Mailboxes that have room"), "{said}");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (json["exit_code"].as_u64(), json["headline"].as_str()),
        (Some(0), Some("Pass, too small"))
    );
}

#[test]
fn the_tables_are_sums_of_rates_and_plain_means() {
    let (load, read) = (passing(), backup());
    let means = load.start.databases.iter().map(|facts| {
        let totals = load.totals_of(Phase::Measure, facts.index).unwrap();
        totals.series[&Series::DatabaseRead].latency.mean_ns()
    });
    let mean_ms = means.sum::<f64>() / 1e6 / load.start.databases.len() as f64;
    let rates = read.backups.iter().map(|of| of.bytes as f64 / of.elapsed_ns as f64 * 1e9);
    let mebibytes = rates.sum::<f64>() / f64::from(1 << 20);
    let text = with_set(&[load, read, recovery()], suite_text);
    for number in [format!("{mean_ms:.3}"), format!("{mebibytes:.2}")] {
        assert!(text.contains(&number), "{number} is not in\n{text}");
    }
    // 1,115 s and 1,121 s for 501 logs each: 2.226 s and 2.238 s.
    assert!(text.contains(" 1,002") && text.contains("2.232"), "{text}");
    for title in ["Storage Performance Results", "Database Read-Only Performance"] {
        assert!(text.contains(title), "{title}");
    }
    assert!(text.contains("Log Recovery/Replay"));
}

#[test]
fn page_and_json_are_whole() {
    let runs = [passing(), backup(), recovery()];
    let page = with_set(&runs, suite_html);
    assert!(page.contains("lacks &lt;room&gt;") && !page.contains("<room>"));
    for part in page.split("href=\"#g-").skip(1) {
        let id = part.split('"').next().unwrap();
        assert!(glossary::entries().iter().any(|entry| entry.id == id), "{id}");
        assert!(page.contains(&format!("id=\"g-{id}\"")), "{id}");
    }
    let json: Value = serde_json::from_str(&with_set(&runs, suite_json)).unwrap();
    assert_eq!(
        (json["exit_code"].as_u64(), json["verdict"].as_str()),
        (Some(2), Some("cannot_judge"))
    );
    let tests = json["tests"].as_array().unwrap();
    assert_eq!(tests.len(), 4);
    assert_eq!(tests[1]["report"]["run"]["test"], "backup");
    assert_eq!(tests[3]["not_run"], "a volume lacks <room>");
    assert!(tests[3]["report"].is_null());
}
