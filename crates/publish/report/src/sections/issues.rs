//! Failed requests by volume and everything else that went wrong, as Jetstress 2013 lists it.

use std::collections::BTreeMap;

use record::{IssueKind, RunRecord, Severity};
use verdict::Verdict;

use super::wall_clock;
use crate::document::{Block, Cell, Column, Section, Table, TableRow, Tone};
use crate::{format, meaning};

/// Maximum number of rows; no reader gets through more.
const SHOWN: usize = 200;

/// Errors per volume, then each issue.
pub(super) fn section(run: &RunRecord, verdict: &Verdict) -> Section {
    let mut blocks = Vec::new();
    if run.issues.is_empty() && run.further_errors.is_empty() {
        blocks.push(Block::Note(nothing_logged(verdict)));
    } else {
        blocks.push(Block::Table(per_volume(run)));
        blocks.push(Block::Table(each(run)));
        if run.issues.len() > SHOWN {
            let left_out = (run.issues.len() - SHOWN) as u64;
            let more = format::plural(left_out, "further issue");
            blocks.push(Block::Note(format!("{more} in the performance log.")));
        }
        let counted = run.further_error_count();
        if counted > 0 {
            let more = format::plural(counted, "further error");
            blocks.push(Block::Note(format!("{more} counted above and not listed.")));
        }
    }
    if run.torn_tail {
        let torn = "The last line of the record is cut off: the program stopped while writing it.";
        blocks.push(Block::Note(torn.to_owned()));
    }
    Section { id: "test-issues", title: "Test Issues", blocks }
}

/// What a test without a logged error came to: rules may object all the same.
fn nothing_logged(verdict: &Verdict) -> String {
    let objections = match verdict.objections().len() as u64 {
        0 => return "No errors or warnings were logged during the test.".to_owned(),
        1 => "1 rule".to_owned(),
        count => format!("{} rules", format::whole(count)),
    };
    format!("No errors were logged during the test. {objections} did not pass: see Findings.")
}

/// Errors on one volume.
#[derive(Default)]
struct VolumeErrors {
    failed_requests: u64,
    damaged_content: u64,
    /// Errors that concern a whole database, such as why it stopped.
    others: u64,
}

/// Errors by volume, both listed and only counted ones.
fn errors_by_volume(run: &RunRecord) -> BTreeMap<&str, VolumeErrors> {
    let mut volumes: BTreeMap<&str, VolumeErrors> = BTreeMap::new();
    for issue in run.issues.iter().filter(|issue| issue.severity == Severity::Error) {
        let counts = match (issue.kind, &issue.file) {
            (kind, _) if !kind.blames_storage() => continue,
            (IssueKind::InputOutput, Some(_)) => (1, 0, 0),
            (IssueKind::InputOutput | IssueKind::Other, _) => (0, 0, 1),
            _ => (0, 1, 0),
        };
        let sum = volumes.entry(named(issue.volume.as_deref())).or_default();
        sum.failed_requests += counts.0;
        sum.damaged_content += counts.1;
        sum.others += counts.2;
    }
    for errors in &run.further_errors {
        let sum = volumes.entry(named(errors.volume.as_deref())).or_default();
        sum.failed_requests += errors.failed_requests;
        sum.damaged_content += errors.damaged_content;
    }
    volumes
}

fn named(volume: Option<&str>) -> &str {
    volume.unwrap_or("(no volume)")
}

fn per_volume(run: &RunRecord) -> Table {
    let rows = errors_by_volume(run).into_iter().map(|(volume, errors)| {
        let counts = [errors.failed_requests, errors.damaged_content, errors.others];
        let counts = counts.map(|count| Cell::plain(format::whole(count)));
        TableRow::body([vec![Cell::plain(volume)], counts.to_vec()].concat())
    });
    Table {
        caption: "Errors by volume",
        columns: vec![
            Column::text("Volume"),
            Column::metric("Failed requests", "input-output-errors"),
            Column::metric("Damaged content", "input-output-errors"),
            Column::metric("Other errors", "input-output-errors"),
        ],
        rows: rows.collect(),
    }
}

fn each(run: &RunRecord) -> Table {
    let rows = run.issues.iter().take(SHOWN).map(|issue| {
        let (severity, tone) = match issue.severity {
            Severity::Error => ("Error", Tone::Fail),
            Severity::Warning => ("Warning", Tone::Warn),
        };
        let database = issue.database.map(|index| meaning::database_name(run, index));
        let offset = issue.offset_bytes.map(format::whole);
        TableRow::body(vec![
            Cell::plain(wall_clock(run, issue.at_ns)),
            Cell::plain(severity).toned(tone),
            Cell::or_none(database),
            Cell::or_none(issue.file.clone()),
            Cell::or_none(offset),
            Cell::plain(&issue.text),
        ])
    });
    Table {
        caption: "Issues in the order of time",
        columns: ["Time", "Severity", "Instance", "File", "Offset", "Issue"]
            .map(Column::text)
            .to_vec(),
        rows: rows.collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{passing, too_small};

    /// The XML lists every objection as an issue of the test.
    #[test]
    fn no_form_denies_the_objections_that_another_lists() {
        let run = passing();
        let verdict = verdict::judge(&run);
        let quiet = "No errors or warnings were logged during the test.";
        assert!(crate::text(&run, &verdict).contains(quiet));
        let run = too_small();
        let verdict = verdict::judge(&run);
        let text = crate::text(&run, &verdict);
        let said = "No errors were logged during the test. 1 rule did not pass: see Findings.";
        assert!(text.contains(said) && !text.contains(quiet), "{text}");
        let xml = crate::result_xml(&run, &verdict).expect("a load");
        assert!(xml.contains("<element name=\"Warning\" value=\"Mailboxes that have room"));
    }
}
