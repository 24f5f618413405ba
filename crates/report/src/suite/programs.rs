//! The report of a set of tests for programs.

use record::TestType;
use serde::Serialize;

use super::{SuiteTest, headline, meaning, suite_outcome};
use crate::contract::written;
use crate::json;

#[derive(Serialize)]
struct JsonSuite {
    schema: u32,
    kind: &'static str,
    verdict: &'static str,
    headline: String,
    exit_code: u8,
    meaning: Vec<String>,
    tests: Vec<JsonTest>,
}

#[derive(Serialize)]
struct JsonTest {
    test: TestType,
    folder: String,
    verdict: &'static str,
    not_run: Option<String>,
    report: Option<serde_json::Value>,
}

/// The same for programs, the whole report of each test included.
pub fn suite_json(tests: &[SuiteTest<'_>]) -> String {
    let outcome = suite_outcome(tests);
    written(&JsonSuite {
        schema: json::SCHEMA,
        kind: "set_report",
        verdict: json::outcome_name(outcome),
        headline: headline(tests, outcome),
        exit_code: outcome.exit_code(),
        meaning: meaning(tests),
        tests: tests.iter().map(test_part).collect(),
    })
}

fn test_part(test: &SuiteTest<'_>) -> JsonTest {
    let (report, not_run) = match &test.measured {
        Ok((run, verdict)) => (serde_json::to_value(json::whole(run, verdict)).ok(), None),
        Err((_, why)) => (None, Some(why.clone())),
    };
    JsonTest {
        test: test.kind,
        folder: test.folder.clone(),
        verdict: json::outcome_name(test.outcome()),
        not_run,
        report,
    }
}
