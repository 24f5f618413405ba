//! Compares text, JSON and closing lines with files in `golden`. After an intended change, renew
//! them: `GOLDEN=renew cargo test -p report`, and review the difference before committing it.

use serde_json::Value;

use super::{failing, interrupted, passing, simulated};
use crate::{json, result_xml, summary, text};

const RENEW: &str = "GOLDEN";

#[expect(clippy::disallowed_methods, reason = "a golden file is renewed by the test that reads it")]
pub(crate) fn check(name: &str, golden: &str, actual: &str) {
    if std::env::var_os(RENEW).is_some() {
        let path = format!("{}/golden/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, actual).expect("the golden file can be written");
        return;
    }
    let mut lines = golden.lines().zip(actual.lines()).zip(1..);
    if let Some(((golden, actual), number)) = lines.find(|((left, right), _)| left != right) {
        panic!("{name} differs at line {number}:\n  golden {golden}\n  actual {actual}");
    }
    assert_eq!(golden.len(), actual.len(), "{name}: one is longer than the other");
}

#[test]
fn texts_are_as_before() {
    let render = |run: &record::RunRecord| text(run, &verdict::judge(run));
    check("passing.txt", include_str!("../../golden/passing.txt"), &render(&passing()));
    check("failing.txt", include_str!("../../golden/failing.txt"), &render(&failing()));
    check("interrupted.txt", include_str!("../../golden/interrupted.txt"), &render(&interrupted()));
}

#[test]
fn last_words_are_as_before() {
    let runs = [passing(), failing(), interrupted(), simulated()];
    let said = runs.map(|run| summary(&run, &verdict::judge(&run)));
    check("summaries.txt", include_str!("../../golden/summaries.txt"), &said.join("\n"));
}

#[test]
fn json_is_as_before() {
    let run = passing();
    let actual = json(&run, &verdict::judge(&run));
    check("passing.json", include_str!("../../golden/passing.json"), &actual);
}

#[test]
fn xml_of_a_load_is_as_before_and_other_tests_have_none() {
    let xml = |run: &record::RunRecord| result_xml(run, &verdict::judge(run));
    let actual = xml(&passing()).unwrap();
    check("passing.xml", include_str!("../../golden/passing.xml"), &actual);
    let hostile = xml(&interrupted()).unwrap();
    assert!(!hostile.contains("<script>") && hostile.contains("&lt;script&gt;"));
    assert_eq!(xml(&super::backup()), None);
    assert_eq!(xml(&super::imported::performance()), None);
    assert_eq!(xml(&simulated()), None);
}

/// In every form of the report, and next to the answer rather than in a footnote.
#[test]
fn a_simulated_run_is_called_simulated_wherever_its_verdict_stands() {
    let run = simulated();
    let verdict = verdict::judge(&run);
    assert!(summary(&run, &verdict).starts_with("SIMULATED PASS "));
    assert!(text(&run, &verdict).lines().take(4).any(|line| line.contains("SIMULATED PASS")));
    let page = crate::html(&run, &verdict);
    assert!(page.contains("<title>Simulated pass: "));
    assert!(page.contains("<p class=\"verdict\">Simulated pass</p>"));
    let told: Value = serde_json::from_str(&json(&run, &verdict)).expect("JSON");
    assert_eq!(told["verdict"], "simulated_pass");
    assert_eq!(told["simulated"]["array"], "VNXe3300, 7 x 15K in RAID 5");
    assert_eq!(crate::verdict_name(&run, &verdict), "Simulated pass");
}

#[test]
fn lines_fit_a_terminal() {
    for run in [passing(), failing()] {
        let text = text(&run, &verdict::judge(&run));
        let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(widest.chars().count() <= 100, "{widest}");
    }
}

/// The names of all members, at any depth.
pub(super) fn members(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                found.push(name.clone());
                members(value, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| members(value, found)),
        _ => {}
    }
}

#[test]
fn every_member_of_the_json_is_described() {
    let described = include_str!("../../../../../docs/report-json.md");
    let run = failing();
    let text = json(&run, &verdict::judge(&run));
    let mut found = Vec::new();
    members(&serde_json::from_str(&text).unwrap(), &mut found);
    assert!(found.len() > 100);
    for name in found {
        assert!(described.contains(&format!("`{name}`")), "{name} is not described");
    }
}
