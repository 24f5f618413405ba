//! Results of an examination, in words an operator can use.

use std::collections::BTreeSet;
use std::fmt;

use units::PageNumber;

use crate::reader::{ReadDamage, ReadError};
use crate::space::Extent;
use crate::verify::{Notice, Problem, Subject};

/// Maximum number of findings listed; further ones are only counted.
const MOST_FINDINGS: usize = 1_000;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyFinding {
    /// The examined object.
    pub subject: Subject,
    /// The page, or the first of several; `NONE` if no single page is to blame.
    pub page: PageNumber,
    /// Number of consecutive pages affected.
    pub pages: u32,
    /// The key; empty if no single key is to blame.
    pub key: Vec<u8>,
    /// The problem.
    pub problem: Problem,
}

impl fmt::Display for VerifyFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.subject.fmt(f)?;
        match self.pages {
            _ if !self.page.is_some() => {}
            0 | 1 => write!(f, ", page {}", self.page)?,
            pages => {
                let last = Extent::starting(self.page, pages).last;
                write!(f, ", pages {} to {last}", self.page)?;
            }
        }
        if !self.key.is_empty() {
            f.write_str(", key ")?;
            self.key.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        }
        write!(f, ": {}", self.problem)
    }
}

/// The result of an examination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Pages of trees that were reached.
    pub pages_reached: u64,
    /// Owned pages that are available.
    pub pages_available: u64,
    /// Owned pages that are neither in use nor available. Real engines leave some; they take
    /// space and do no harm.
    pub pages_leaked: u64,
    /// Their locations: the first 1,000 runs.
    pub leaked: Vec<Extent>,
    /// Rows of all tables.
    pub rows: u64,
    /// Entries of all indexes compared.
    pub index_entries: u64,
    /// Long values.
    pub long_values: u64,
    /// Rows, entries and long values that are deleted and not yet removed.
    pub awaiting_cleanup: u64,
    /// Pages of trees with a database time later than the latest in the header.
    pub later_pages: u64,
    /// Number of all problems, including those not listed.
    pub problems: u64,
    /// Problems, up to the first 1,000.
    pub findings: Vec<VerifyFinding>,
    /// Further remarks.
    pub notices: Vec<Notice>,
}

impl Report {
    /// Whether there are no problems.
    pub const fn is_clean(&self) -> bool {
        self.problems == 0
    }
}

/// A report in the making.
#[derive(Default)]
pub(super) struct LogNeeded {
    pub report: Report,
    /// Pages that could not be read, each of which is one finding.
    lost_pages: BTreeSet<PageNumber>,
    /// The latest of the pages later than the header, and its database time.
    pub(super) latest: (PageNumber, u64),
}

impl LogNeeded {
    pub(super) fn add(
        &mut self,
        subject: &Subject,
        page: PageNumber,
        key: &[u8],
        problem: Problem,
    ) {
        self.add_run(subject, Extent::starting(page, 1), key, problem);
    }

    /// One finding for a run of pages.
    pub(super) fn add_run(&mut self, subject: &Subject, run: Extent, key: &[u8], problem: Problem) {
        self.report.problems += 1;
        if self.has_room() {
            let (subject, key) = (subject.clone(), key.to_vec());
            self.report.findings.push(VerifyFinding {
                subject,
                page: run.first(),
                pages: run.pages,
                key,
                problem,
            });
        }
    }

    /// Counts a page that is later than the header.
    pub(super) fn note_time(&mut self, page: PageNumber, dbtime: u64, header: u64) {
        if dbtime > header {
            self.report.later_pages += 1;
            if dbtime > self.latest.1 {
                self.latest = (page, dbtime);
            }
        }
    }

    /// Records a run of pages that are owned but neither in use nor available.
    pub(super) fn leaked(&mut self, run: Extent) {
        self.report.pages_leaked += u64::from(run.pages);
        if self.report.leaked.len() < MOST_FINDINGS {
            self.report.leaked.push(run);
        }
    }

    /// Whether another finding would be listed.
    pub(super) fn has_room(&self) -> bool {
        self.report.findings.len() < MOST_FINDINGS
    }

    /// Turns damage into a finding; an error of the source is returned.
    pub(super) fn damage<E>(&mut self, subject: &Subject, error: ReadError<E>) -> Result<(), E> {
        self.lost(subject, error.without_source()?);
        Ok(())
    }

    /// Turns damage into a finding, once per page however often it is encountered.
    pub(super) fn lost(&mut self, subject: &Subject, damage: ReadDamage) {
        let page = damage.page();
        let is_node = matches!(damage, ReadError::Node { .. });
        let is_named = !is_node && page.is_some() && !self.lost_pages.insert(page);
        match damage {
            _ if is_named => {}
            ReadError::Page { fault, .. } => self.add(subject, page, &[], Problem::Page(fault)),
            damage => self.add(subject, page, &[], Problem::Unreadable(damage)),
        }
    }

    /// Whether pages of trees could not be read.
    pub(super) fn has_lost_pages(&self) -> bool {
        !self.lost_pages.is_empty()
    }

    /// Returns the value read; `None` if it was damaged, which is recorded as a finding.
    pub(super) fn keep<T, E>(
        &mut self,
        subject: &Subject,
        read: Result<T, ReadError<E>>,
    ) -> Result<Option<T>, E> {
        match read {
            Ok(value) => Ok(Some(value)),
            Err(error) => self.damage(subject, error).map(|()| None),
        }
    }
}
