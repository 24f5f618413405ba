//! The data formats of a set: every interval, and the results of its loads in the XML of Jetstress.

use std::fmt::Write as _;

use super::{SuiteTest, suite_outcome};
use crate::html::escape;
use crate::sections::summary::BESIDE;
use crate::{json, result_xml};

/// Every interval of every test as comma-separated values: the columns of a single run, prefixed
/// with its test.
pub(super) fn csv(tests: &[SuiteTest<'_>]) -> String {
    let mut all = String::new();
    for test in tests {
        let Some(run) = test.run() else { continue };
        let own = crate::csv(run);
        let mut lines = own.lines();
        let head = lines.next().unwrap_or_default();
        if all.is_empty() {
            let _ = writeln!(all, "test,{head}");
        }
        for line in lines {
            let _ = writeln!(all, "{},{line}", test.kind.name());
        }
    }
    all
}

/// All tests in one document; the result of a load is the `output` element of a single run.
pub fn suite_xml(tests: &[SuiteTest<'_>]) -> String {
    let outcome = json::outcome_name(suite_outcome(tests));
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    let _ = writeln!(xml, "<test-set verdict=\"{outcome}\">");
    for test in tests {
        let _ = writeln!(
            xml,
            "<test name=\"{}\" folder=\"{}\" verdict=\"{}\">",
            test.kind.name(),
            escape(&test.folder),
            json::outcome_name(test.outcome())
        );
        xml.push_str(&content(test));
        xml.push_str("</test>\n");
    }
    xml.push_str("</test-set>\n");
    units::plain(&xml).into_owned()
}

/// The result of a load; or why a test was not run.
fn content(test: &SuiteTest<'_>) -> String {
    match &test.measured {
        Err(why) => format!("<not-run>{}</not-run>\n", escape(why.words())),
        Ok((run, verdict)) => {
            let xml = result_xml(run, verdict).unwrap_or_default();
            let output = xml.split_once("?>\n").map_or("", |(_, output)| output);
            output.replace(BESIDE, &format!("record.jsonl in {}", escape(&test.folder)))
        }
    }
}
