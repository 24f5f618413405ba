//! Sets of tests side by side: the result of each test in each set, and each test's comparison.

use record::TestType;
use serde_json::{Value, json};
use units::plain_json;
use verdict::{NamedRun, NotComparable, Ruling, RunComparison, compare};

use super::{SuiteTest, suite_outcome};
use crate::comparison::{self, LETTERS, lettered, of_one_outcome, only_passing, upper_first};
use crate::document::{Banner, Block, Cell, Column, Document, Section, Table, TableRow, Tone};
use crate::sections::summary;
use crate::{ReportForm, SUITE_PARTS, format, json as report_json};

/// A set of tests under the name that readers see.
pub struct NamedSet<'a> {
    /// Its name.
    pub name: String,
    /// Its tests.
    pub tests: Vec<SuiteTest<'a>>,
}

impl<'a> NamedSet<'a> {
    fn outcome(&self) -> Ruling {
        suite_outcome(&self.tests)
    }

    fn headline(&self) -> String {
        super::headline(&self.tests, self.outcome())
    }

    fn test(&self, kind: TestType) -> Option<&SuiteTest<'a>> {
        self.tests.iter().find(|test| test.kind == kind)
    }
}

/// One test of every set, or why it is not compared.
struct ComparedTest {
    kind: TestType,
    compared: Result<(Vec<NamedRun>, RunComparison), String>,
}

/// The comparison of sets in a form; as comma-separated values, one line for each metric of each
/// test and set.
pub fn render_suites(form: ReportForm, sets: &[NamedSet<'_>]) -> String {
    form.render(|| document(sets), || json(sets), || csv(sets))
}

fn json(sets: &[NamedSet<'_>]) -> String {
    let names = sets.iter().zip(LETTERS).map(|(set, letter)| {
        let verdict = report_json::outcome_name(set.outcome());
        let headline = set.headline();
        json!({ "set": letter, "name": set.name, "verdict": verdict, "headline": headline })
    });
    let tests = compared(sets).into_iter().map(|of| test_json(sets, &of));
    let members = json!({
        "sets": names.collect::<Vec<Value>>(),
        "tests": tests.collect::<Vec<Value>>(),
    });
    let document = crate::answer("set_comparison", members);
    plain_json(&format!("{document:#}\n")).into_owned()
}

fn test_json(sets: &[NamedSet<'_>], of: &ComparedTest) -> Value {
    let verdicts: Vec<Option<&str>> = sets
        .iter()
        .map(|set| set.test(of.kind).map(|test| report_json::outcome_name(test.outcome())))
        .collect();
    json!({
        "test": of.kind,
        "verdicts": verdicts,
        "not_compared": of.compared.as_ref().err(),
        "comparison": of.compared.as_ref().ok().map(|(runs, of)| comparison::members(runs, of)),
    })
}

fn csv(sets: &[NamedSet<'_>]) -> String {
    let mut csv = String::new();
    for of in compared(sets) {
        let Ok((runs, comparison)) = &of.compared else { continue };
        let own = comparison::render_comparison(ReportForm::Csv, runs, comparison);
        for (number, line) in own.lines().enumerate() {
            match number {
                0 if csv.is_empty() => csv.extend(["test,", line, "\n"]),
                0 => {}
                _ => csv.extend([of.kind.name(), ",", line, "\n"]),
            }
        }
    }
    csv
}

fn compared(sets: &[NamedSet<'_>]) -> Vec<ComparedTest> {
    SUITE_PARTS
        .into_iter()
        .map(|(_, kind)| ComparedTest { kind, compared: compared_test(sets, kind) })
        .collect()
}

fn compared_test(
    sets: &[NamedSet<'_>],
    kind: TestType,
) -> Result<(Vec<NamedRun>, RunComparison), String> {
    let mut runs = Vec::new();
    for set in sets {
        let (record, verdict) = set
            .test(kind)
            .and_then(|test| test.measured.as_ref().ok())
            .ok_or_else(|| format!("it was not run in {}", set.name))?;
        let (record, verdict) = ((*record).clone(), (*verdict).clone());
        runs.push(NamedRun { name: set.name.clone(), record, verdict });
    }
    let comparison = compare(&runs).map_err(|error| match error {
        NotComparable::Kind { .. } => {
            "one result without a margin, so no change is judged; the table of tests shows both"
                .to_owned()
        }
        error => error.to_string(),
    })?;
    Ok((runs, comparison))
}

fn document(sets: &[NamedSet<'_>]) -> Document {
    let compared = compared(sets);
    let mut sections = vec![overview(sets)];
    sections.extend(compared.iter().map(section));
    let runs = sets.iter().flat_map(|set| &set.tests).filter_map(SuiteTest::run);
    let names = runs.flat_map(|run| summary::names(&run.start));
    let names = sets.iter().map(|set| set.name.clone()).chain(names).collect();
    Document { banner: banner(sets, &compared), sections, names }
}

fn banner(sets: &[NamedSet<'_>], compared: &[ComparedTest]) -> Banner {
    let names: Vec<&str> = sets[1..].iter().map(|set| set.name.as_str()).collect();
    let first = sets[0].tests.iter().find_map(SuiteTest::run);
    let is_doubtful = compared
        .iter()
        .any(|of| of.compared.as_ref().is_ok_and(|(_, comparison)| !comparison.doubts.is_empty()));
    Banner {
        subject: format!("{} beside {}", sets[0].name, names.join(", ")),
        started: first.map_or_else(String::new, |run| format::started(&run.start)),
        verdict: verdict(sets) + &caveats(sets),
        tone: if is_doubtful { Tone::Warn } else { Tone::Plain },
        number: passed(&sets[0]),
        number_unit: "tests passed in set A".into(),
        number_metric: "tests-passed",
        meaning: meaning(sets, compared),
        figures: Vec::new(),
    }
}

fn verdict(sets: &[NamedSet<'_>]) -> String {
    let outcomes: Vec<Ruling> = sets.iter().map(NamedSet::outcome).collect();
    match (only_passing(&outcomes), of_one_outcome(&outcomes)) {
        (Some(place), _) => format!("Only {} passes", LETTERS[place]),
        (None, Some(words)) => upper_first(words),
        (None, None) if outcomes.contains(&Ruling::CannotJudge) => {
            "Not all sets could be judged".to_owned()
        }
        (None, None) => {
            let passing = outcomes.iter().filter(|outcome| **outcome == Ruling::Pass).count();
            format!("{passing} of {} sets pass", sets.len())
        }
    }
}

/// What sets lack, to follow the verdict on all of them.
fn caveats(sets: &[NamedSet<'_>]) -> String {
    let mut caveats = String::new();
    for (set, letter) in sets.iter().zip(LETTERS) {
        if let Some((_, caveat)) = set.headline().split_once(", ") {
            caveats.extend([", ", letter, " ", caveat]);
        }
    }
    caveats
}

fn passed(set: &NamedSet<'_>) -> String {
    let passed = set.tests.iter().filter(|test| test.is_passed()).count();
    format!("{passed} of {}", set.tests.len())
}

fn meaning(sets: &[NamedSet<'_>], compared: &[ComparedTest]) -> Vec<String> {
    let mut said = Vec::new();
    for (set, letter) in sets.iter().zip(LETTERS) {
        let outcome = set.headline();
        said.push(format!("{letter} ({}): {outcome}, {} tests passed.", set.name, passed(set)));
    }
    for of in compared {
        let name = of.kind.name();
        match &of.compared {
            Ok((runs, comparison)) => {
                let changes = (1..runs.len()).map(|at| comparison::meaning(runs, comparison, at));
                said.extend(changes.map(|change| format!("{name}: {change}")));
            }
            Err(why) => said.push(format!("{name}: not compared: {why}.")),
        }
    }
    let mut runs = compared.iter().filter_map(|of| of.compared.as_ref().ok());
    said.extend(runs.find_map(|(runs, _)| comparison::reset_advice(runs)));
    said
}

/// A row for each test, a column for each set.
fn overview(sets: &[NamedSet<'_>]) -> Section {
    let mut columns = vec![Column::text("Test")];
    columns.extend(LETTERS.into_iter().take(sets.len()).map(Column::text));
    let mut rows = Vec::new();
    for (_, kind) in SUITE_PARTS {
        let mut cells = vec![Cell::plain(kind.name())];
        cells.extend(sets.iter().map(|set| cell(set.test(kind))));
        rows.push(TableRow::body(cells));
    }
    let names: Vec<String> =
        sets.iter().zip(LETTERS).map(|(set, letter)| lettered(letter, &set.name)).collect();
    let table = Table { caption: "What each test came to in each set", columns, rows };
    Section {
        id: "tests",
        title: "Tests",
        blocks: vec![Block::Table(table), Block::Note(names.join("; "))],
    }
}

fn cell(test: Option<&SuiteTest<'_>>) -> Cell {
    let Some(test) = test else { return Cell::none() };
    let outcome = test.shown_outcome();
    let text = match test.run() {
        Some(run) => format!("{}: {}", outcome.text, summary::result(run)),
        None => "not run".to_owned(),
    };
    Cell { text, ..outcome }
}

/// One test of every set: the comparison of its single runs.
fn section(of: &ComparedTest) -> Section {
    let (id, title) = match of.kind {
        TestType::Performance => ("compared-performance", "Performance"),
        TestType::Stress => ("compared-stress", "Stress"),
        TestType::Backup => ("compared-backup", "Database Backup"),
        TestType::Checksum => ("compared-checksum", "Checksum"),
        TestType::Recovery => ("compared-recovery", "Soft Recovery"),
    };
    let blocks = match &of.compared {
        Ok((runs, comparison)) => {
            let mut blocks = Vec::new();
            for section in comparison::document(runs, comparison).sections {
                blocks.extend(section.blocks);
            }
            blocks
        }
        Err(why) => vec![Block::Note(format!("Not compared: {why}."))],
    };
    Section { id, title, blocks }
}
