//! Failed requests by volume and everything else that went wrong, as Jetstress 2013 lists it.

use std::collections::BTreeMap;

use record::{IssueKind, RunRecord, Severity};

use super::wall_clock;
use crate::document::{Block, Cell, Column, Section, Table, TableRow, Tone};
use crate::{format, meaning};

/// A page with more rows than this is not read.
const SHOWN: usize = 200;

/// Errors per volume, then each issue.
pub(super) fn section(run: &RunRecord) -> Section {
    let mut blocks = Vec::new();
    if run.issues.is_empty() {
        blocks.push(Block::Note("No errors and no warnings.".to_owned()));
    } else {
        blocks.push(Block::Table(per_volume(run)));
        blocks.push(Block::Table(each(run)));
        if run.issues.len() > SHOWN {
            let left_out = (run.issues.len() - SHOWN) as u64;
            let more = format::plural(left_out, "further issue");
            blocks.push(Block::Note(format!("{more} in the performance log.")));
        }
    }
    if run.torn_tail {
        let torn = "The last line of the record is cut off: the program stopped while writing it.";
        blocks.push(Block::Note(torn.to_owned()));
    }
    Section { id: "test-issues", title: "Test Issues", blocks }
}

fn per_volume(run: &RunRecord) -> Table {
    let mut volumes: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for issue in run
        .issues
        .iter()
        .filter(|issue| issue.severity == Severity::Error && issue.kind != IssueKind::VolumeFull)
    {
        let volume = issue.volume.as_deref().unwrap_or("(no volume)");
        let counts = volumes.entry(volume).or_default();
        match issue.kind {
            IssueKind::InputOutput => counts.0 += 1,
            _ => counts.1 += 1,
        }
    }
    Table {
        caption: "Errors by volume",
        columns: vec![
            Column::text("Volume"),
            Column::metric("Failed requests", "input-output-errors"),
            Column::metric("Damaged content", "input-output-errors"),
        ],
        rows: volumes
            .into_iter()
            .map(|(volume, (requests, content))| {
                let counts = [requests, content].map(|count| Cell::plain(format::whole(count)));
                TableRow::body([vec![Cell::plain(volume)], counts.to_vec()].concat())
            })
            .collect(),
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
