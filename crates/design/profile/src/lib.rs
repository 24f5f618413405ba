//! Current mailbox activity, read from the files that administrators already have.
//!
//! A [`Collector`] takes files one by one, recognises each by its headers and never by its name,
//! and counts unusable rows instead of giving up. [`Collector::finish`] makes a [`Profile`]: tiers
//! with their messages and sizes, the share of each hour, and the source of every number.

mod activity;
mod combine;
mod date;
mod email_stats;
mod error;
mod hours;
mod kind;
pub mod load;
mod mailboxes;
mod message_profile;
mod recognise;
mod sheet;
mod system;
mod tracking;
mod write;

#[cfg(test)]
mod tests;

pub use combine::{Profile, ScriptFigures, TierProfile};
pub use error::ProfileError;
pub use kind::LogKind;
pub use sheet::BadRow;

use std::collections::{BTreeMap, BTreeSet};

use units::Bytes;

use email_stats::EmailStats;
use mailboxes::Mailbox;
use message_profile::SiteMail;
use sheet::Sheet;
use tracking::Traffic;

/// Values that the files lack, or that override them.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of mailboxes; `None` takes the number in the files.
    pub mailboxes: Option<u64>,
    /// Maximum size of a mailbox; `None` takes the quotas, else the largest mailbox found.
    pub size_limit: Option<Bytes>,
    /// Average size of a message; `None` takes the value in the files.
    pub average_message: Option<Bytes>,
    /// `true` if only Monday to Friday count. Activity on other days is left out, so that quiet
    /// week-ends do not make working days look light.
    pub working_days_only: bool,
    /// Hours by which local time is ahead of UTC, which message tracking uses.
    pub utc_offset_hours: i32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mailboxes: None,
            size_limit: None,
            average_message: None,
            working_days_only: true,
            utc_offset_hours: 0,
        }
    }
}

/// Contribution of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReport {
    /// Its name, as given.
    pub name: String,
    /// Kind of the file.
    pub kind: LogKind,
    /// Rows below the headers.
    pub rows: u64,
    /// Rows left out on purpose, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Unusable rows.
    pub bad_rows: u64,
    /// The first of them.
    pub bad_examples: Vec<BadRow>,
    /// Version of the server that wrote it, if the file contains it.
    pub version: Option<String>,
    /// First and last date in it, if its dates are ISO 8601.
    pub dates: Option<(String, String)>,
}

/// Maximum examples of bad rows kept per file.
const MOST_EXAMPLES: usize = 3;

impl FileReport {
    fn new(name: &str, kind: LogKind) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            rows: 0,
            left_out: BTreeMap::new(),
            bad_rows: 0,
            bad_examples: Vec::new(),
            version: None,
            dates: None,
        }
    }

    fn leave_out(&mut self, reason: &'static str) {
        *self.left_out.entry(reason).or_default() += 1;
    }

    fn bad(&mut self, row: BadRow) {
        self.bad_rows += 1;
        if self.bad_examples.len() < MOST_EXAMPLES {
            self.bad_examples.push(row);
        }
    }

    fn saw(&mut self, date: &str) {
        let (first, last) = self.dates.get_or_insert_with(|| (date.to_owned(), date.to_owned()));
        if date < first.as_str() {
            date.clone_into(first);
        }
        if date > last.as_str() {
            date.clone_into(last);
        }
    }
}

/// Messages of a report that knows counts only.
#[derive(Clone, Debug, Default)]
struct Activity {
    mailboxes: u64,
    /// Total messages of all users on an average calendar day.
    messages_per_day: f64,
}

/// Reads files and keeps the facts that sizing needs.
#[derive(Debug, Default)]
pub struct Collector {
    options: Options,
    files: Vec<FileReport>,
    traffic: Traffic,
    /// Traffic from exported tracking logs.
    exported: Traffic,
    stats: EmailStats,
    /// Hashes of whole files, so that a file given under two names counts once.
    known_files: BTreeSet<[u64; 2]>,
    sites: BTreeMap<String, SiteMail>,
    /// Log files, or shares of them, by hour of the day.
    log_hours: Option<[f64; 24]>,
    mailboxes: Vec<Mailbox>,
    activity: Activity,
    /// Mailboxes already counted from usage reports.
    known_mailboxes: BTreeSet<String>,
    known_users: BTreeSet<String>,
}

impl Collector {
    /// An empty collector.
    pub fn new(options: Options) -> Self {
        Self { options, ..Self::default() }
    }

    /// Reads one whole file and detects its kind from its headers.
    pub fn add(&mut self, name: &str, text: &str) -> Result<&FileReport, ProfileError> {
        if text.contains('\0') {
            let file = name.to_owned();
            return Err(ProfileError::Binary { file });
        }
        let sheet = Sheet::open(text);
        let kind = recognise::recognise(name, &sheet)?;
        let mut report = FileReport::new(name, kind);
        report.version = sheet::version(text);
        if !self.known_files.insert(tracking::mark(text)) {
            return Ok(self.leave_out(sheet, report));
        }
        match kind {
            LogKind::MessageTracking => {
                let order = date::DateOrder::MonthFirst;
                self.traffic.read(sheet, &mut report, (&self.options, order));
            }
            LogKind::TrackingExport => {
                self.exported.read(sheet, &mut report, (&self.options, date_order(text)));
            }
            LogKind::EmailStats => {
                let how = (&self.options, date_order(text));
                email_stats::read(sheet, &mut report, &mut self.stats, how);
            }
            LogKind::MessageProfile => message_profile::read(sheet, &mut report, &mut self.sites),
            LogKind::LogFilesByHour | LogKind::LogHours => self.read_hours(sheet, &mut report),
            LogKind::MailboxStatistics | LogKind::MailboxUsage => {
                let known = &mut self.known_mailboxes;
                mailboxes::read(sheet, &mut report, &mut self.mailboxes, known);
            }
            LogKind::EmailActivity => {
                let known = &mut self.known_users;
                activity::read(sheet, &mut report, &mut self.activity, known);
            }
        }
        if report.bad_rows > 0 && report.bad_rows == report.rows {
            return Err(ProfileError::NothingRead {
                file: name.to_owned(),
                kind,
                first: report.bad_examples[0].clone(),
            });
        }
        Ok(self.keep(report))
    }

    fn keep(&mut self, report: FileReport) -> &FileReport {
        self.files.push(report);
        let last = self.files.len() - 1;
        &self.files[last]
    }

    /// Counts the rows of a file that was read under another name.
    fn leave_out(&mut self, mut sheet: Sheet<'_>, mut report: FileReport) -> &FileReport {
        while sheet.next().is_some() {
            report.rows += 1;
            report.leave_out("counted already");
        }
        self.keep(report)
    }

    fn read_hours(&mut self, sheet: Sheet<'_>, report: &mut FileReport) {
        let hours = self.log_hours.get_or_insert([0.0; 24]);
        hours::read(sheet, report, hours);
    }

    /// Derives the profile from all files.
    pub fn finish(self) -> Result<Profile, ProfileError> {
        combine::combine(self)
    }
}

/// Detects the order of day, month and year in a table with culture-specific dates.
fn date_order(text: &str) -> date::DateOrder {
    Sheet::open(text).date_order(["Timestamp", "Date"])
}
