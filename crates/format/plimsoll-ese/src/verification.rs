//! The result of examining a whole database.

use ese::header::DatabaseHeader;
use ese::verify::{Report, verify};

use crate::damage::Damage;
use crate::file::DatabasePages;

/// Findings of an examination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// Number of problems. A dirty database mixes old and new pages, so its log may still resolve
    /// some of them.
    pub problems: u64,
    /// The first 1,000 of them.
    pub findings: Vec<Finding>,
    /// What could not be compared, and other remarks, each a sentence.
    pub notices: Vec<String>,
    /// Rows that were read.
    pub rows: u64,
    /// Entries of secondary indexes that were read.
    pub index_entries: u64,
    /// Long values that were read.
    pub long_values: u64,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Table, or table and index; `database` if it affects the whole database.
    pub subject: String,
    /// The first page; `None` if no single page is to blame.
    pub page: Option<u32>,
    /// Number of consecutive pages affected.
    pub pages: u32,
    /// The problem, as one sentence without its place.
    pub problem: String,
}

impl Verification {
    pub(crate) fn of(pages: &mut DatabasePages, header: &DatabaseHeader) -> Self {
        match verify(pages, header) {
            Ok(report) => Self::of_report(&report),
            Err(withheld) => Self::ended(&Damage::of_page(withheld)),
        }
    }

    fn of_report(report: &Report) -> Self {
        let findings = report.findings.iter().map(|finding| Finding {
            subject: finding.subject.to_string(),
            page: finding.page.is_some().then_some(finding.page.0),
            pages: finding.pages,
            problem: finding.problem.to_string(),
        });
        Self {
            problems: report.problems,
            findings: findings.collect(),
            notices: report.notices.iter().map(ToString::to_string).collect(),
            rows: report.rows,
            index_entries: report.index_entries,
            long_values: report.long_values,
        }
    }

    fn ended(damage: &Damage) -> Self {
        let subject = "database".to_owned();
        let problem = damage.reason.clone();
        let finding = Finding { subject, page: damage.page, pages: 1, problem };
        Self { problems: 1, findings: vec![finding], ..Self::default() }
    }
}
