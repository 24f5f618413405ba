//! Several tests of one plan as one report: the result of each, and the tables that documents of
//! the Exchange Solution Reviewed Program print of them.

mod compared;
mod files;
mod next;
mod parts;
mod programs;
mod tables;
mod unmeasured;

use record::{RunRecord, TestType};
use verdict::{Ruling, Verdict, worst};

use crate::document::{Banner, Block, Cell, Column, Document, Section, Table, TableRow, Tone};
use crate::sections::{findings, summary, tone};
use crate::{ReportForm, format, listed, meaning};

pub use compared::{NamedSet, render_suites};
pub use files::suite_xml;
pub use parts::{REPLACED, SUITE_PARTS, split_replaced, suite_of};
pub use programs::suite_schema;
pub use unmeasured::Unmeasured;

/// One test of a set.
pub struct SuiteTest<'a> {
    /// Its kind.
    pub kind: TestType,
    /// The folder of its run, as a link relative to the report.
    pub folder: String,
    /// Record and verdict, or why there are none.
    pub measured: Result<(&'a RunRecord, &'a Verdict), Unmeasured>,
}

impl SuiteTest<'_> {
    fn outcome(&self) -> Ruling {
        match &self.measured {
            Ok((_, verdict)) => verdict.outcome,
            Err(why) => why.ruling(),
        }
    }

    /// The outcome as the report of the test prints it, with its colour.
    fn shown_outcome(&self) -> Cell {
        match &self.measured {
            Ok((run, verdict)) => {
                Cell::plain(listed::verdict_name(run, verdict)).toned(listed::tone_of(run, verdict))
            }
            Err(_) if self.is_open() => Cell::plain("Not yet known"),
            Err(why) => Cell::plain(why.ruling().name()).toned(tone(why.ruling())),
        }
    }

    /// Whether its record is still to come.
    fn is_open(&self) -> bool {
        self.measured.as_ref().err().is_some_and(Unmeasured::is_to_come)
    }

    fn is_passed(&self) -> bool {
        self.outcome().exit_code() == 0
    }

    fn run(&self) -> Option<&RunRecord> {
        self.measured.as_ref().ok().map(|(run, _)| *run)
    }
}

/// The combined outcome of the tests.
pub fn suite_outcome(tests: &[SuiteTest<'_>]) -> Ruling {
    let outcomes: Vec<Ruling> = tests.iter().map(SuiteTest::outcome).collect();
    worst(&outcomes)
}

/// The report of a set of tests in a form; as comma-separated values, every interval of every test.
pub fn render_suite(form: ReportForm, tests: &[SuiteTest<'_>]) -> String {
    form.render(|| document(tests), || programs::render(tests), || files::csv(tests))
}

/// The closing lines on a terminal of a set of tests in `folder`, quoted for a shell.
pub fn suite_summary_in(tests: &[SuiteTest<'_>], folder: &str) -> String {
    let steps = next::steps(tests, Some(folder)).into_iter().map(|step| format!("Next: {step}\n"));
    std::iter::once(crate::summary::banner(&banner(tests))).chain(steps).collect()
}

fn document(tests: &[SuiteTest<'_>]) -> Document {
    let mut sections = vec![overview(tests)];
    sections.extend(next::section(tests));
    sections.extend(tables::sections(tests));
    sections.extend(tests.iter().filter_map(findings_of));
    let mut names = Vec::new();
    for run in tests.iter().filter_map(SuiteTest::run) {
        names.extend(summary::names(&run.start));
    }
    Document { banner: banner(tests), sections, names }
}

fn banner(tests: &[SuiteTest<'_>]) -> Banner {
    let outcome = suite_outcome(tests);
    let is_open = is_open(tests, outcome);
    let passed = tests.iter().filter(|test| test.is_passed()).count();
    let first = tests.iter().find_map(|test| test.measured.as_ref().ok());
    let first = first.map(|(run, verdict)| summary::banner(run, verdict));
    let (subject, started) =
        first.map_or_else(Default::default, |first| (first.subject, first.started));
    Banner {
        subject,
        started,
        verdict: headline(tests, outcome),
        tone: match lacking(tests, outcome) {
            _ if is_open => Tone::Plain,
            Some(_) => Tone::Warn,
            None => tone(outcome),
        },
        number: format!("{passed} of {}", tests.len()),
        number_unit: if is_open { "tests passed so far" } else { "tests passed" }.into(),
        number_metric: "tests-passed",
        meaning: meaning(tests),
        figures: Vec::new(),
    }
}

/// Whether the set has no verdict yet; a test that failed decides before the others have ended.
fn is_open(tests: &[SuiteTest<'_>], outcome: Ruling) -> bool {
    outcome != Ruling::Fail && tests.iter().any(SuiteTest::is_open)
}

/// The verdict on the set, followed by the requirement that it does not meet.
fn headline(tests: &[SuiteTest<'_>], outcome: Ruling) -> String {
    if is_open(tests, outcome) {
        return "Still running".to_owned();
    }
    listed::set_headline(outcome, judged(tests))
}

fn lacking(tests: &[SuiteTest<'_>], outcome: Ruling) -> Option<&'static str> {
    listed::set_lacking(outcome, judged(tests))
}

fn judged<'a>(tests: &'a [SuiteTest<'_>]) -> impl Iterator<Item = &'a Verdict> {
    tests.iter().filter_map(|test| Some(test.measured.as_ref().ok()?.1))
}

/// Meaning of each test: a line with its result, and a list of every reason if it did not pass.
fn meaning(tests: &[SuiteTest<'_>]) -> Vec<String> {
    tests.iter().flat_map(sentences).chain(at_the_same_time(tests)).collect()
}

/// States which tests ran on one volume at the same time.
fn at_the_same_time(tests: &[SuiteTest<'_>]) -> Vec<String> {
    let made = tests.iter().filter_map(|test| Some((test.kind.name(), test.run()?)));
    let (names, records): (Vec<_>, Vec<_>) = made.unzip();
    verdict::overlaps(&records)
        .iter()
        .map(|overlap| format!("{}.", overlap.words(|at| names[at].to_owned())))
        .collect()
}

/// Begins an item of a list in the sentences of a set.
const ITEM: &str = "- ";

fn sentences(test: &SuiteTest<'_>) -> Vec<String> {
    let mut said = match &test.measured {
        Ok((run, verdict)) if test.is_passed() && listed::lacking(verdict).is_none() => {
            meaning::brief(run, verdict)
        }
        Ok((run, verdict)) => meaning::sentences(run, verdict),
        Err(why) if why.is_to_come() => vec![format!("{}.", why.words())],
        Err(why) => vec![format!("Not run: {}.", why.words().trim_end_matches('.'))],
    };
    if let Some(own) = parts::replaced_by(&test.folder) {
        said.push(format!("This is {}, in place of {own}.", test.folder));
    }
    for (number, sentence) in said.iter_mut().enumerate() {
        let begin = if number == 0 { &format!("{}: ", test.kind.name()) } else { ITEM };
        sentence.insert_str(0, begin);
    }
    said
}

/// One row for each test.
fn overview(tests: &[SuiteTest<'_>]) -> Section {
    let columns = ["Test", "Outcome", "Result", "Started", "Report, or why there is none"];
    Section {
        id: "tests",
        title: "Tests",
        blocks: vec![Block::Table(Table {
            caption: "What each test of the set came to",
            columns: columns.map(Column::text).to_vec(),
            rows: tests.iter().map(row).collect(),
        })],
    }
}

fn row(test: &SuiteTest<'_>) -> TableRow {
    let result = test.run().map(summary::result);
    let started = test.run().map(|run| format::started(&run.start));
    let report = match (&test.measured, parts::replaced_by(&test.folder)) {
        (Ok(_), None) => format!("{}/report.html", test.folder),
        (Ok(_), Some(own)) => format!("{}/report.html, in place of {own}", test.folder),
        (Err(why), _) => why.words().to_owned(),
    };
    TableRow::body(vec![
        Cell::plain(test.kind.name()),
        test.shown_outcome(),
        Cell::or_none(result),
        Cell::or_none(started),
        Cell::plain(report),
    ])
}

/// The findings of a test, as in its own report.
fn findings_of(test: &SuiteTest<'_>) -> Option<Section> {
    let (run, verdict) = test.measured.as_ref().ok()?;
    let (id, title) = match test.kind {
        TestType::Performance => ("findings-performance", "Findings of the performance test"),
        TestType::Stress => ("findings-stress", "Findings of the stress test"),
        TestType::Backup => ("findings-backup", "Findings of the database backup"),
        TestType::Checksum => ("findings-checksum", "Findings of the checksum test"),
        TestType::Recovery => ("findings-recovery", "Findings of the soft recovery"),
    };
    Some(Section { id, title, ..findings::section(run, verdict) })
}
