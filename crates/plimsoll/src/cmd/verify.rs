//! `verify`: whether everything in a database agrees with everything else.

use std::fmt;
use std::path::Path;

use ese::verify::{Report, verify};
use serde_json::{Value, json};
use trial::contents::{self, Contents};

use super::dirty::Dirty;
use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;
use crate::flags::FileFlags;
use crate::locks;
use crate::pages::{FilePages, PageError, read_header, unreadable};

/// Runs of leaked pages that are named in words; the JSON answer has more.
const MOST_LEAKS_NAMED: usize = 20;

/// Spaces before what does not fit into the first line of a finding.
const INDENT: usize = 4;

/// Examines the database; fails where anything is wrong. One that was not closed cannot agree with
/// itself before its log is replayed.
pub(crate) fn run(flags: &FileFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let (report, contents) = examine(&flags.file)?;
    if flags.json {
        console.answer_json("verification", as_json(&report, contents.as_ref()))?;
    } else {
        let mut answers = Answers { path: &flags.file, console };
        answers.print(&report)?;
        if let Some(contents) = &contents {
            answers.print_contents(contents)?;
        }
    }
    let is_clean = report.is_clean() && contents.is_none_or(|contents| contents.wrong == 0);
    Ok(if is_clean { Outcome::Pass } else { Outcome::Fail })
}

/// Examines a database that was closed; its messages only where the rest is sound.
pub(super) fn examine(file: &Path) -> Result<(Report, Option<Contents>), CommandError> {
    let header = read_header(file)?;
    let pages = FilePages::open(file, header.page_size)?;
    locks::refuse_held(file, true)?;
    if let Some(dirty) = Dirty::of(&header.header) {
        return Err(CommandError::new(dirty.sentence(file)));
    }
    let report = verify(pages, &header.header).map_err(PageError::into_command)?;
    // Rows that cannot be reached cannot be read either, and are named already.
    let contents = if report.is_clean() {
        let pages = FilePages::open_database(file)?;
        contents::examine(pages).map_err(|error| unreadable(file, error))?
    } else {
        None
    };
    Ok((report, contents))
}

/// Where lines about a file go, its name before each.
struct Answers<'a> {
    path: &'a Path,
    console: &'a mut Console,
}

impl Answers<'_> {
    fn print(&mut self, report: &Report) -> Result<(), CommandError> {
        for finding in &report.findings {
            self.answer(finding)?;
        }
        self.count_unlisted(report.problems, report.findings.len())?;
        for notice in &report.notices {
            self.remark(notice)?;
        }
        for run in report.leaked.iter().take(MOST_LEAKS_NAMED) {
            let (first, last) = (run.first(), run.last);
            let pages = if run.pages == 1 {
                format!("page {first} is")
            } else {
                format!("pages {first} to {last} are")
            };
            self.remark(format_args!("{pages} leaked: owned, and neither in use nor available"))?;
        }
        self.answer(format_args!(
            "{} problems; {} pages reached, {} available, {} leaked, {} rows, {} index entries, \
             {} long values, {} awaiting cleanup",
            report.problems,
            report.pages_reached,
            report.pages_available,
            report.pages_leaked,
            report.rows,
            report.index_entries,
            report.long_values,
            report.awaiting_cleanup,
        ))
    }

    fn print_contents(&mut self, contents: &Contents) -> Result<(), CommandError> {
        for named in &contents.named {
            self.answer(named)?;
        }
        self.count_unlisted(contents.wrong, contents.named.len())?;
        self.answer(format_args!(
            "{} messages are not what was written, of {} whose hashes were compared",
            contents.wrong, contents.messages,
        ))
    }

    fn count_unlisted(&mut self, all: u64, listed: usize) -> Result<(), CommandError> {
        match all - listed as u64 {
            0 => Ok(()),
            more => self.answer(format_args!("and {more} more")),
        }
    }

    fn answer(&mut self, line: impl fmt::Display) -> Result<(), CommandError> {
        let path = self.path.display();
        self.console.answer_folded(format_args!("{path}: {line}"), INDENT)
    }

    fn remark(&mut self, line: impl fmt::Display) -> Result<(), CommandError> {
        let path = self.path.display();
        self.console.remark(format_args!("{path}: {line}"))
    }
}

fn as_json(report: &Report, contents: Option<&Contents>) -> Value {
    json!({
        "problems": report.problems,
        "pages_reached": report.pages_reached,
        "pages_available": report.pages_available,
        "pages_leaked": report.pages_leaked,
        "leaked": report
            .leaked
            .iter()
            .map(|run| json!([run.first().0, run.last.0]))
            .collect::<Vec<_>>(),
        "rows": report.rows,
        "index_entries": report.index_entries,
        "long_values": report.long_values,
        "awaiting_cleanup": report.awaiting_cleanup,
        "messages": contents.map(|contents| contents.messages),
        "wrong_messages": contents.map(|contents| contents.wrong),
        "message_findings": contents.map(|contents| contents.named.clone()),
        "findings": texts(&report.findings),
        "notices": texts(&report.notices),
    })
}

fn texts(all: &[impl ToString]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}
