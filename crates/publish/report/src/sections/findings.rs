//! The finding of every rule, with number, limit and evidence.

use record::{RunRecord, Thresholds};
use verdict::{Finding, Limit, Ruling, Verdict};

use super::tone;
use crate::document::{Block, Cell, Column, Section, Table, TableRow, Tone};
use crate::meaning;

/// Rules that accept a share of the load that was asked for; their rows show the whole of it.
pub(crate) const ACCEPT_A_SHARE: [&str; 2] = ["target-iops", "mailbox-load"];

/// The table of findings.
pub(crate) fn section(run: &RunRecord, verdict: &Verdict) -> Section {
    let thresholds = &run.start.settings.thresholds;
    let table = Table {
        caption: "What was judged, against which limit, and where the number comes from",
        columns: vec![
            Column::text("Rule"),
            Column::text("Outcome"),
            Column::metric("Measured", "limit-share"),
            Column::metric("Limit", "limit-share"),
            Column::text("Evidence"),
        ],
        rows: verdict.findings.iter().map(|finding| row(run, finding)).collect(),
    };
    Section {
        id: "findings",
        title: "Findings",
        blocks: vec![
            Block::Table(table),
            Block::Note(format!(
                "Thresholds: {} set. Latency limits hold for each database on its own.",
                thresholds.name
            )),
        ],
    }
}

fn row(run: &RunRecord, finding: &Finding) -> TableRow {
    let unit = finding.unit;
    let limit = finding.limit.map(|limit| limit_of(finding, limit));
    let evidence: Vec<String> =
        finding.evidence.iter().map(|evidence| meaning::describe(run, evidence)).collect();
    let measured = finding.measured.map(|number| match finding.limit {
        Some(limit) => meaning::quantity_beside(number, limit, unit),
        None => meaning::quantity(number, unit),
    });
    let measured = Cell { share: share(finding), ..Cell::or_none(measured) };
    let tone = match finding.outcome {
        Ruling::Pass => Tone::Plain,
        outcome => tone(outcome),
    };
    TableRow::body(vec![
        Cell::plain(finding.title).of_metric(finding.rule),
        Cell::plain(finding.outcome.name()).toned(super::tone(finding.outcome)),
        measured.toned(tone),
        Cell::or_none(limit),
        Cell::plain(evidence.join("; ")),
    ])
}

fn limit_of(finding: &Finding, limit: Limit) -> String {
    let shown = match finding.measured {
        Some(number) => meaning::limit_beside(number, limit, finding.unit),
        None => meaning::quantity(limit.value(), finding.unit),
    };
    match limit {
        Limit::AtMost(0.0) => "none".to_owned(),
        Limit::AtMost(_) => format!("<= {shown}"),
        Limit::AtLeast(_) => format!(">= {shown}"),
    }
}

/// The load that was asked for, of which the limit of `finding` is a share; `None` for rules that
/// hold their limit to the full.
pub(crate) fn asked_for(finding: &Finding, thresholds: &Thresholds) -> Option<f64> {
    let limit = finding.limit.filter(|_| ACCEPT_A_SHARE.contains(&finding.rule))?;
    let asked = limit.value() * 100.0 / thresholds.target_reached_percent;
    // 17 IOPS must not come back from its share as 16.999999999999996.
    Some((asked * 1e6).round() / 1e6)
}

/// The used share of an upper limit; `None` if there is no such limit above zero.
fn share(finding: &Finding) -> Option<f64> {
    match (finding.measured?, finding.limit?) {
        (measured, Limit::AtMost(limit)) if limit > 0.0 => Some(measured / limit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::passing;

    #[test]
    fn the_limit_of_a_load_is_the_share_of_it_that_is_enough() {
        let mut run = passing();
        run.start.settings.iops_per_mailbox = Some(0.5);
        run.start.settings.mailboxes = Some(100);
        let text = crate::html(&run, &verdict::judge(&run));
        assert!(text.contains("&gt;= 47.5 IOPS") && text.contains("; 5 % less is allowed"));
        run.start.settings.target_iops = Some(60.0);
        let text = crate::html(&run, &verdict::judge(&run));
        assert!(text.contains("&gt;= 57 IOPS"), "{text}");
        assert!(text.contains("the target is 60 IOPS; 5 % less is allowed"));
    }

    #[test]
    fn programs_read_what_was_asked_for_and_what_is_enough() {
        let mut run = passing();
        run.start.settings.target_iops = Some(17.0);
        let json = crate::json(&run, &verdict::judge(&run));
        let json: serde_json::Value = serde_json::from_str(&json).expect("a report");
        let mut findings = json["findings"].as_array().expect("findings").iter();
        let found = findings.find(|of| of["rule"] == "target-iops").expect("a target");
        assert_eq!(
            (found["limit"].as_f64(), found["asked_for"].as_f64()),
            (Some(16.15), Some(17.0))
        );
    }
}
