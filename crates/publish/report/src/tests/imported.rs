//! The report of a published result: labelled everywhere, and with nothing made up.

use record::{
    ImportedResult, PublishedChecksum, PublishedCounter, PublishedFact, PublishedInstance,
    PublishedIo, PublishedLoad, PublishedOutcome, PublishedRequests, RunRecord, Start,
};
use verdict::NamedRun;

use super::golden::check;
use super::passing;
use crate::{ReportForm, comparison_text, html, json, render_comparison, summary, text};

fn requests(latency_ms: f64, per_second: f64, bytes: f64) -> PublishedRequests {
    PublishedRequests {
        latency_ms: Some(latency_ms),
        per_second: Some(per_second),
        bytes: Some(bytes),
    }
}

fn instance(name: &str) -> PublishedInstance {
    let transactional = PublishedIo {
        database_reads: requests(12.5, 100.25, 33_000.5),
        database_writes: requests(8.25, 60.5, 37_000.25),
        log_reads: PublishedRequests { per_second: Some(0.0), ..PublishedRequests::default() },
        log_writes: requests(3.125, 50.75, 5_200.5),
    };
    PublishedInstance {
        name: name.to_owned(),
        transactional,
        maintenance: requests(4.0, 25.0, 261_718.5),
        replication: requests(5.0, 1.125, 232_562.5),
        total: transactional,
    }
}

/// A performance test that passed.
pub(crate) fn performance() -> RunRecord {
    let fact = |name: &str, value: &str| PublishedFact {
        section: "Test Summary".to_owned(),
        name: name.to_owned(),
        value: value.to_owned(),
    };
    let result = ImportedResult {
        file: "Performance_2011_4_21_10_10_1.html".to_owned(),
        instrument: "Jetstress 14.01.0180.003".to_owned(),
        engine: Some("ESE 14.01.0218.012".to_owned()),
        release: Some("about Exchange 2010 SP1 (14.1.218.15)".to_owned()),
        outcome: Some(PublishedOutcome::Pass),
        started_local_ns: Some(1_303_380_601_000_000_000),
        achieved_iops: Some(321.5),
        load: PublishedLoad::default(),
        instances: vec![instance("Instance4001.1"), instance("Instance4001.2")],
        host: vec![PublishedCounter {
            name: "% Processor Time".to_owned(),
            average: Some(2.875),
            minimum: None,
            maximum: Some(5.104),
        }],
        checksums: vec![PublishedChecksum {
            database: "E:\\db1.edb".to_owned(),
            seen_pages: Some(31_852_000),
            bad_pages: Some(0),
            correctable_pages: Some(0),
            wrong_page_number_pages: Some(0),
        }],
        facts: vec![fact("Machine Name", "MAIL-OLD"), fact("<b>", "</table><script>alert(1)")],
        test_log: vec!["4/21/2011 10:10:01 AM -- begins".to_owned()],
        lacks: vec!["page-fault stalls".to_owned()],
        ..ImportedResult::default()
    };
    let mut start = Start { imported: Some(Box::new(result)), ..Start::default() };
    start.machine.name = "MAIL-OLD".to_owned();
    start.build = "plimsoll 0.1.0".to_owned();
    RunRecord::begin(start)
}

fn named(name: &str, record: RunRecord) -> NamedRun {
    NamedRun { name: name.to_owned(), verdict: verdict::judge(&record), record }
}

#[test]
fn text_json_and_last_words_are_as_before() {
    let run = performance();
    let verdict = verdict::judge(&run);
    check("imported.txt", include_str!("../../golden/imported.txt"), &text(&run, &verdict));
    check("imported.json", include_str!("../../golden/imported.json"), &json(&run, &verdict));
    let said = summary(&run, &verdict);
    assert!(said.starts_with("IMPORTED PASS  322 transactional IOPS"), "{said}");
    assert!(
        said.contains("Next: Set this result beside a run of your own: plimsoll compare"),
        "{said}"
    );
}

#[test]
fn every_member_is_described_and_text_of_others_stays_text() {
    let run = performance();
    let verdict = verdict::judge(&run);
    let described = include_str!("../../../../../docs/report-json.md");
    let value: serde_json::Value = serde_json::from_str(&json(&run, &verdict)).unwrap();
    let mut found = Vec::new();
    super::golden::members(&value, &mut found);
    for name in found {
        assert!(described.contains(&format!("`{name}`")), "{name} is not described");
    }
    assert!(!html(&run, &verdict).contains("<script>alert(1)"));
}

#[test]
fn beside_a_run_it_is_marked_and_has_neither_margin_nor_curve() {
    let runs = [named("old", performance()), named("new", passing())];
    let comparison = verdict::compare(&runs).unwrap();
    let text = comparison_text(&runs, &comparison);
    check("imported-comparison.txt", include_str!("../../golden/imported-comparison.txt"), &text);
    let page = render_comparison(ReportForm::Page, &runs, &comparison);
    assert!(page.contains("imported: no margin") && page.contains("</i>B: new"));
    assert!(!page.contains("</i>A: old"), "no curve is drawn of a result without intervals");
    let both = [named("old", performance()), named("older", performance())];
    let comparison = verdict::compare(&both).unwrap();
    assert!(!render_comparison(ReportForm::Page, &both, &comparison).contains("Over Time"));
}
