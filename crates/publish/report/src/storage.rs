//! Findings from inspecting the storage: a section of a run's report, and a separate page, text and
//! JSON.

use record::{StorageFinding, StorageRuling};
use serde::Serialize;

use crate::document::{Banner, Block, Cell, Column, Document, Section, Table, TableRow, Tone};
use crate::format::plural;
use crate::{contract, html};

/// Findings for one machine at one time.
#[derive(Clone, Copy, Debug)]
pub struct StorageLook<'a> {
    /// Name of the machine, and the inspected paths.
    pub subject: &'a str,
    /// Wall clock, in nanoseconds since 1970-01-01 UTC.
    pub at_epoch_ns: u64,
    /// The findings.
    pub findings: &'a [StorageFinding],
}

/// The number of findings of each outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StorageTally {
    /// As they should be.
    pub pass: u64,
    /// Works, but could be better.
    pub warning: u64,
    /// Loses mail or time.
    pub fail: u64,
    /// Cannot be known.
    pub cannot_judge: u64,
}

impl StorageTally {
    /// Counts these findings.
    pub fn of(findings: &[StorageFinding]) -> Self {
        let mut tally = Self::default();
        for finding in findings {
            *match finding.outcome {
                StorageRuling::Pass => &mut tally.pass,
                StorageRuling::Warn => &mut tally.warning,
                StorageRuling::Fail => &mut tally.fail,
                StorageRuling::CannotJudge => &mut tally.cannot_judge,
            } += 1;
        }
        tally
    }

    /// The numbers of findings in one sentence.
    pub fn sentence(self) -> String {
        format!(
            "{}, {}, {} unknown, {} OK.",
            plural(self.fail, "problem"),
            plural(self.warning, "warning"),
            self.cannot_judge,
            self.pass
        )
    }
}

/// Findings about the storage as one self-contained HTML page.
pub fn storage_html(look: &StorageLook<'_>) -> String {
    html::page(&document(look))
}

/// The findings for programs, worst first.
pub(crate) fn parts(findings: &[StorageFinding]) -> Vec<StoragePart<'_>> {
    worst_first(findings).into_iter().map(StoragePart::of).collect()
}

/// Failures first, then warnings, then unknowns.
pub fn worst_first(findings: &[StorageFinding]) -> Vec<&StorageFinding> {
    let mut sorted: Vec<&StorageFinding> = findings.iter().collect();
    sorted.sort_by_key(|finding| match finding.outcome {
        StorageRuling::Fail => 0,
        StorageRuling::Warn => 1,
        StorageRuling::CannotJudge => 2,
        StorageRuling::Pass => 3,
    });
    sorted
}

/// A finding in machine-readable form, separate so that the record may grow without breaking
/// consumers.
#[derive(schemars::JsonSchema, Serialize)]
pub(crate) struct StoragePart<'a> {
    check: &'a str,
    title: &'a str,
    subject: &'a str,
    outcome: StorageRuling,
    seen: &'a str,
    reason: &'a str,
    remedy: Option<&'a str>,
}

impl<'a> StoragePart<'a> {
    fn of(finding: &'a StorageFinding) -> Self {
        Self {
            check: &finding.check,
            title: &finding.title,
            subject: &finding.subject,
            outcome: finding.outcome,
            seen: &finding.seen,
            reason: &finding.reason,
            remedy: finding.remedy.as_deref(),
        }
    }
}

/// The section of a run's report; `None` if nothing was inspected.
pub(crate) fn section(findings: &[StorageFinding]) -> Option<Section> {
    if findings.is_empty() {
        return None;
    }
    let tally = StorageTally::of(findings);
    let blocks = vec![Block::Note(tally.sentence()), Block::Table(table(findings))];
    Some(Section { id: "storage", title: "Storage before the Run", blocks })
}

fn document(look: &StorageLook<'_>) -> Document {
    let tally = StorageTally::of(look.findings);
    let (verdict, tone) = match tally {
        StorageTally { fail: 1.., .. } => ("Problems found", Tone::Fail),
        StorageTally { warning: 1.., .. } => ("Could be better", Tone::Warn),
        StorageTally { pass: 0, .. } => ("Cannot judge", Tone::Warn),
        _ => ("No problems", Tone::Pass),
    };
    let table = Block::Table(table(look.findings));
    Document {
        names: vec![look.subject.to_owned()],
        banner: Banner {
            subject: look.subject.to_owned(),
            started: crate::format::timestamp(look.at_epoch_ns),
            verdict: verdict.to_owned(),
            tone,
            number: tally.fail.to_string(),
            number_unit: "problems".into(),
            number_metric: "storage-findings",
            meaning: vec![
                tally.sentence(),
                "This is what devices, kernel and controllers say of themselves; only a run shows \
                 what they do."
                    .to_owned(),
            ],
            figures: Vec::new(),
        },
        sections: vec![Section { id: "storage", title: "Storage", blocks: vec![table] }],
    }
}

fn table(findings: &[StorageFinding]) -> Table {
    let finding = Column { metric: Some("storage-findings"), ..Column::text("Check") };
    Table {
        caption: "What was looked at, what was seen, and the remedy",
        columns: vec![
            finding,
            Column::text("Outcome"),
            Column::text("Where"),
            Column::text("Seen"),
            Column::text("Why, and the remedy"),
        ],
        rows: worst_first(findings).into_iter().map(row).collect(),
    }
}

fn row(finding: &StorageFinding) -> TableRow {
    let tone = match finding.outcome {
        StorageRuling::Pass => Tone::Pass,
        StorageRuling::Fail => Tone::Fail,
        StorageRuling::Warn | StorageRuling::CannotJudge => Tone::Warn,
    };
    let why = match &finding.remedy {
        Some(remedy) => format!("{}: {remedy}", finding.reason),
        None => finding.reason.clone(),
    };
    TableRow::body(vec![
        Cell::plain(&finding.title),
        Cell::plain(finding.outcome.name()).toned(tone),
        Cell::plain(&finding.subject),
        Cell::plain(&finding.seen),
        Cell::plain(why),
    ])
}

/// The complete machine-readable answer of `inspect`: the findings, the devices underneath each
/// path, and the saved outputs that were read, as described by the caller.
pub fn storage_json(
    look: &StorageLook<'_>,
    paths: &impl Serialize,
    outputs: &impl Serialize,
) -> String {
    #[derive(Serialize)]
    struct Whole<'a, P, O> {
        schema: u32,
        kind: &'static str,
        at: Option<String>,
        tally: StorageTally,
        findings: Vec<StoragePart<'a>>,
        paths: &'a P,
        outputs: &'a O,
    }
    contract::written(&Whole {
        schema: contract::ANSWER_SCHEMA,
        kind: "inspection",
        at: crate::format::iso_time(look.at_epoch_ns),
        tally: StorageTally::of(look.findings),
        findings: parts(look.findings),
        paths,
        outputs,
    })
}

#[cfg(test)]
mod tests {
    use record::{StorageFinding, StorageRuling};

    use super::{StorageLook, StorageTally, section, storage_html, storage_json, worst_first};

    fn finding(check: &str, outcome: StorageRuling) -> StorageFinding {
        StorageFinding {
            check: check.to_owned(),
            title: format!("Title of {check}"),
            subject: "sda".to_owned(),
            outcome,
            seen: "<on>".to_owned(),
            reason: "because".to_owned(),
            remedy: (outcome == StorageRuling::Fail).then(|| "hdparm -W 0".to_owned()),
        }
    }

    fn some() -> Vec<StorageFinding> {
        use StorageRuling::{CannotJudge, Fail, Pass, Warn};
        [("a", Pass), ("b", CannotJudge), ("c", Fail), ("d", Warn), ("e", Fail)]
            .map(|(check, outcome)| finding(check, outcome))
            .to_vec()
    }

    #[test]
    fn findings_are_counted_and_the_worst_stand_first() {
        let findings = some();
        let order: String = worst_first(&findings).iter().map(|of| of.check.as_str()).collect();
        assert_eq!(order, "cedba");
        assert_eq!(
            StorageTally::of(&findings),
            StorageTally { pass: 1, warning: 1, fail: 2, cannot_judge: 1 }
        );
        assert!(section(&[]).is_none());
    }

    #[test]
    fn a_page_and_json_hold_every_finding_and_escape_what_others_wrote() {
        let findings = some();
        let look = StorageLook { subject: "mbx-01", at_epoch_ns: 0, findings: &findings };
        let page = storage_html(&look);
        assert!(page.contains("&lt;on&gt;") && !page.contains("<on>"));
        assert!(page.contains("hdparm -W 0") && page.contains("Problems found"));
        let told: serde_json::Value =
            serde_json::from_str(&storage_json(&look, &["x"], &["y"])).unwrap();
        assert_eq!(told["findings"][0]["check"], "c");
        assert_eq!(told["findings"][0]["outcome"], "fail");
        assert_eq!(told["tally"]["fail"], 2);
        assert_eq!(told["paths"][0], "x");
    }

    #[test]
    fn what_is_in_order_is_said_to_be() {
        let verdict = |findings: &[StorageFinding]| {
            let look = StorageLook { subject: "mbx-01", at_epoch_ns: 0, findings };
            super::document(&look).banner.verdict
        };
        assert_eq!(verdict(&some()[..1]), "No problems");
        assert_eq!(verdict(&some()[1..2]), "Cannot judge");
        assert_eq!(verdict(&some()[3..4]), "Could be better");
    }
}
