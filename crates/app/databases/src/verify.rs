//! `verify`: checks a database for internal consistency.

pub(crate) mod flags;
mod folded;

use std::fmt;
use std::path::Path;

use ese::verify::{Problem, Report, VerifyFinding, verify, verify_without_header};
use host::dirty::Dirty;
use host::headers::read_header_or_pages;
use host::pages::{FilePages, PageError, unreadable};
use host::ranges::{Cause, PagePlace, Range};
use host::scan::{FileFault, ScanTarget, scan};
use host::{HostObserver, locks};
use serde_json::{Value, json};
use trial::contents::{self, Contents};

use super::check::{
    CheckedPages, is_flipped, print_bare, print_ranges, print_state, print_steps, range_json,
    worst, worst_step,
};
use console::Console;
use console::Outcome;
use console::error::CommandError;
use console::term::ProgressLine;
use flags::VerifyFlags;
use folded::folded;

/// Maximum ranges of leaked pages printed as text; the JSON answer has more.
const MOST_LEAKS_NAMED: usize = 20;

/// Indent of the continuation lines of a finding.
const INDENT: usize = 4;

/// Examines the databases; fails if anything is wrong. One that was not closed is examined as far
/// as possible: inconsistencies that its log would repair are distinguished from damage.
pub(crate) fn run(flags: &VerifyFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let (mut outcomes, mut answers) = (Vec::new(), Vec::new());
    for file in &flags.files {
        let examined = Examined::of(file, console.is_quiet())?;
        outcomes.push(examined.outcome());
        if flags.json {
            answers.push(examined.as_json(file));
        } else {
            examined.print(file, console)?;
        }
    }
    if flags.json {
        let answer = match <[Value; 1]>::try_from(answers) {
            Ok([only]) => only,
            Err(all) => json!({ "files": all }),
        };
        console.answer_json("verification", answer)?;
    }
    Ok(worst(outcomes.into_iter()))
}

/// Findings on a file: its pages, and their contents.
struct Examined {
    checked: CheckedPages,
    report: Report,
    contents: Option<Contents>,
}

impl Examined {
    fn of(file: &Path, quiet: bool) -> Result<Self, CommandError> {
        let mut progress = ProgressLine::new("checking", quiet);
        let scanned = scan(vec![ScanTarget::open(file, false)?], &mut |done, total| {
            progress.bytes(done, total);
        })?;
        progress.clear();
        let checked = scanned.into_iter().next().map(CheckedPages::of);
        let checked = checked.expect("invariant: one file was scanned");
        let (report, contents) = examine(file)?;
        Ok(Self { checked, report, contents })
    }

    /// Whether the log may explain findings. It explains none if pages of the file are missing,
    /// because recovery refuses such a file.
    fn awaits_log(&self) -> bool {
        let target = &self.checked.file.target;
        target.dirty.is_some() && !target.faults.iter().any(FileFault::is_cut)
    }

    /// Whether a finding is more than a mix of old and new pages.
    fn is_damage(&self, finding: &VerifyFinding) -> bool {
        !self.awaits_log() || matches!(finding.problem, Problem::Page(_))
    }

    /// Problems of structures and messages, pages with flipped bits, and faults of the file as a
    /// whole.
    fn problems(&self) -> u64 {
        let flipped = self.checked.ranges.iter().filter(|range| is_flipped(range));
        let faults = self.checked.file.target.faults.len() as u64;
        let wrong = self.contents.as_ref().map_or(0, |contents| contents.wrong);
        self.report.problems + wrong + flipped.map(Range::pages).sum::<u64>() + faults
    }

    fn outcome(&self) -> Outcome {
        if self.awaits_log() {
            let is_damaged = self.report.findings.iter().any(|finding| self.is_damage(finding));
            return if is_damaged { Outcome::Fail } else { self.checked.outcome() };
        }
        if self.checked.ranges.iter().any(|range| range.cause == Cause::NoChecksum) {
            return self.checked.outcome();
        }
        if self.problems() == 0 { Outcome::Pass } else { Outcome::Fail }
    }

    /// Whether a range is printed.
    fn is_named(&self, range: &Range) -> bool {
        self.awaits_log() || range.place == PagePlace::Unused || is_flipped(range)
    }

    /// Whether the steps at the end say how to save the data.
    fn has_worst_step(&self, path: &Path) -> bool {
        let faults = &self.checked.file.target.faults;
        worst_step(path, faults, &self.checked.ranges).is_some()
    }

    fn print(&self, path: &Path, console: &mut Console) -> Result<(), CommandError> {
        print_state(&self.checked.file, console)?;
        let ranges = self.checked.ranges.iter().filter(|range| self.is_named(range));
        print_ranges(&self.checked, ranges, console)?;
        if print_bare(&self.checked, console)? {
            return Ok(());
        }
        let mut answers = VerifyAnswers { path, console };
        let (damage, explained) =
            self.report.findings.iter().partition::<Vec<_>, _>(|finding| self.is_damage(finding));
        if self.awaits_log() {
            answers.print_explained(&self.report, explained.len())?;
        }
        answers.print(&self.report, &damage, self.problems())?;
        if !damage.is_empty() && !self.has_worst_step(path) {
            answers.remark(format_args!(
                "restore or reseed this copy; `plimsoll export {} --all -o DIR` saves the rows \
                 that can be read",
                path.display()
            ))?;
        }
        if let Some(contents) = &self.contents {
            answers.print_contents(contents)?;
        }
        print_steps(&self.checked, console)
    }

    fn as_json(&self, path: &Path) -> Value {
        let mut answer = as_json(&self.report, self.contents.as_ref());
        answer["problems"] = json!(self.problems());
        let dirty = self.checked.file.target.dirty.as_ref();
        answer["file"] = json!(path.display().to_string());
        answer["not_closed"] = json!(dirty.map(Dirty::as_json));
        answer["file_faults"] =
            self.checked.file.target.faults.iter().map(ToString::to_string).collect();
        answer["later_pages"] = json!(self.report.later_pages);
        answer["damaged_ranges"] = self.checked.ranges.iter().map(range_json).collect();
        answer
    }
}

/// Examines the contents of a database; its messages only if it was closed and is otherwise sound.
pub fn examine(file: &Path) -> Result<(Report, Option<Contents>), CommandError> {
    let (page_size, copies) = read_header_or_pages(file)?;
    let pages = FilePages::open(file, page_size)?;
    locks::refuse_held(file, &HostObserver::none())?;
    let header = copies.map(|copies| copies.header);
    let report = match &header {
        Some(header) => verify(pages, header),
        None => verify_without_header(pages),
    };
    let report = report.map_err(PageError::into_command)?;
    // Unreachable rows cannot be read either, and have already been reported.
    let contents = if report.is_clean() && header.is_some_and(|header| !Dirty::is(&header)) {
        let pages = FilePages::open(file, page_size)?;
        contents::examine(pages).map_err(|error| unreadable(file, error))?
    } else {
        None
    };
    Ok((report, contents))
}

/// Prints lines about a file, each preceded by its path.
struct VerifyAnswers<'a> {
    path: &'a Path,
    console: &'a mut Console,
}

impl VerifyAnswers<'_> {
    /// Prints the inconsistencies explained by a mix of old and new pages, in a database that was
    /// not closed.
    fn print_explained(&mut self, report: &Report, explained: usize) -> Result<(), CommandError> {
        if report.later_pages > 0 {
            self.answer(format_args!(
                "{} later than the header: a crash leaves them, or the database is in use",
                are(report.later_pages, "page")
            ))?;
        }
        if explained > 0 {
            self.answer(format_args!(
                "{} explained by old and new pages side by side; whether there is damage as well \
                 cannot be judged before its log is replayed",
                are(explained as u64, "finding")
            ))?;
        }
        Ok(())
    }

    fn print(
        &mut self,
        report: &Report,
        findings: &[&VerifyFinding],
        problems: u64,
    ) -> Result<(), CommandError> {
        for line in folded(findings) {
            self.answer(line)?;
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
            "{} problem{}; {} pages reached, {} available, {} leaked; {} rows read, {} index \
             entries and {} long values compared, {} awaiting cleanup",
            problems,
            if problems == 1 { "" } else { "s" },
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
            "{} not what was written, of {} whose hashes were compared",
            are(contents.wrong, "message"),
            contents.messages,
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

/// A count of things, followed by the verb `is` or `are`.
fn are(count: u64, thing: &str) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{} {verb}", units::plural(count, thing))
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
