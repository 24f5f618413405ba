//! Next steps after a set of tests: those of its worst tests, which must be dealt with first.

use std::collections::BTreeSet;

use verdict::{Kind, Ruling, Verdict};

use super::SuiteTest;
use crate::document::{Block, Fact, Section};
use crate::listed;
use crate::next::{self, JudgedTest, MissingTest};

/// The steps of a set in the folder `set`, if that is known: those of its worst tests that have
/// any, each printed once with the names of its tests, then the missing tests. Empty if
/// every test passed and left no question open that the set does not answer.
pub(super) fn steps(tests: &[SuiteTest<'_>], set: Option<&str>) -> Vec<String> {
    let mut steps = steps_of_worst(tests, set);
    // Storage that damages data is not loaded further, and a set that must be repeated will have
    // every test. One whose tests passed so far is completed first.
    let mut judged = tests.iter().filter_map(judged);
    let must_repeat = steps.iter().any(|step| step.contains(" --test all"))
        && judged.clone().any(|test| test.verdict.exit_code() != 0);
    if must_repeat || judged.any(|test| is_damaged(test.verdict)) {
        return steps;
    }
    let first = tests.iter().find_map(SuiteTest::run);
    steps.extend(first.map(|run| next::rest_of_set(run, &missing(tests), set)).unwrap_or_default());
    steps
}

fn is_damaged(verdict: &Verdict) -> bool {
    let mut findings = verdict.findings.iter();
    findings.any(|of| of.kind == Kind::Damage && of.outcome == Ruling::Fail)
}

/// The tests that were not run; none while one of the set is still running.
fn missing<'a>(tests: &'a [SuiteTest<'_>]) -> Vec<MissingTest<'a>> {
    let mut missing = Vec::new();
    for test in tests {
        match &test.measured {
            Err(_) if test.is_open() => return Vec::new(),
            Err(_) => missing.push(MissingTest { kind: test.kind, folder: &test.folder }),
            Ok(_) => {}
        }
    }
    missing
}

fn steps_of_worst(tests: &[SuiteTest<'_>], set: Option<&str>) -> Vec<String> {
    let mut made = Vec::new();
    made.extend(tests.iter().filter_map(judged));
    let mut classes = BTreeSet::new();
    classes.extend(made.iter().map(|test| badness(test.verdict)));
    for class in classes {
        let mut equally_bad = made.clone();
        equally_bad.retain(|test| badness(test.verdict) == class);
        let steps = next::steps_of_set(&equally_bad, &made, set);
        if !steps.is_empty() {
            return steps;
        }
    }
    Vec::new()
}

fn judged<'a>(test: &'a SuiteTest<'_>) -> Option<JudgedTest<'a>> {
    let (run, verdict) = test.measured.as_ref().ok()?;
    Some(JudgedTest { kind: test.kind, run, verdict, folder: &test.folder })
}

/// Sort key of a verdict, 0 for the worst.
fn badness(verdict: &Verdict) -> u8 {
    match verdict.outcome {
        Ruling::Fail => 0,
        Ruling::CannotJudge => 1,
        _ if listed::lacking(verdict).is_some() => 2,
        _ => 3,
    }
}

pub(super) fn section(tests: &[SuiteTest<'_>]) -> Option<Section> {
    let facts: Vec<Fact> =
        steps(tests, None).into_iter().map(|step| Fact::new("Next step", step)).collect();
    (!facts.is_empty()).then(|| {
        let blocks = vec![Block::Facts(facts)];
        Section { id: "what-follows", title: "Next Steps", blocks }
    })
}
