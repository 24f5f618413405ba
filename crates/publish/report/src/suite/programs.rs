//! The report of a set of tests as JSON.

use record::TestType;
use schemars::JsonSchema;
use serde::Serialize;

use super::{SuiteTest, headline, meaning, next, suite_outcome};
use crate::contract::written;
use crate::json;

#[derive(JsonSchema, Serialize)]
struct JsonSuite<'a> {
    schema: u32,
    kind: &'static str,
    verdict: &'static str,
    headline: String,
    exit_code: u8,
    meaning: Vec<String>,
    next_steps: Vec<String>,
    tests: Vec<JsonTest<'a>>,
}

#[derive(JsonSchema, Serialize)]
struct JsonTest<'a> {
    test: TestType,
    folder: String,
    verdict: &'static str,
    not_run: Option<String>,
    report: Option<json::JsonReport<'a>>,
}

/// JSON Schema (draft 2020-12) of the report of a set, generated from the types that are
/// serialised.
pub fn suite_schema() -> serde_json::Value {
    json::schema_of::<JsonSuite<'static>>("The report of a set of Plimsoll tests")
}

/// The report of a set as JSON, including the complete report of each test.
pub(super) fn render(tests: &[SuiteTest<'_>]) -> String {
    let outcome = suite_outcome(tests);
    written(&JsonSuite {
        schema: json::SCHEMA,
        kind: "set_report",
        verdict: json::outcome_name(outcome),
        headline: headline(tests, outcome),
        exit_code: outcome.exit_code(),
        meaning: meaning(tests),
        next_steps: next::steps(tests, None),
        tests: tests.iter().map(test_part).collect(),
    })
}

fn test_part<'a>(test: &SuiteTest<'a>) -> JsonTest<'a> {
    let (report, not_run) = match &test.measured {
        Ok((run, verdict)) => (Some(json::whole(run, verdict)), None),
        Err(why) => (None, Some(why.words().to_owned())),
    };
    JsonTest {
        test: test.kind,
        folder: test.folder.clone(),
        verdict: json::outcome_name(test.outcome()),
        not_run,
        report,
    }
}
