//! Next steps after a set of tests: those of its worst test, which must be dealt with first.

use record::TestType;
use verdict::Ruling;

use super::SuiteTest;
use crate::document::{Block, Fact, Section};
use crate::{listed, next};

/// The steps of the worst test that has any, each with the name of its test. Empty if every test
/// passed and left no question open that the set does not answer.
pub(super) fn steps(tests: &[SuiteTest<'_>]) -> Vec<String> {
    let mut kinds: Vec<TestType> = Vec::new();
    let mut made: Vec<&SuiteTest<'_>> = Vec::new();
    for test in tests.iter().filter(|test| test.measured.is_ok()) {
        kinds.push(test.kind);
        made.push(test);
    }
    made.sort_by_key(|test| badness(test));
    made.into_iter()
        .map(|test| {
            let Ok((run, verdict)) = &test.measured else { return Vec::new() };
            next::steps_beside(run, verdict, &kinds)
                .into_iter()
                .map(|step| format!("{}: {step}", test.kind.name()))
                .collect::<Vec<String>>()
        })
        .find(|steps| !steps.is_empty())
        .unwrap_or_default()
}

/// The worst comes first.
fn badness(test: &SuiteTest<'_>) -> u8 {
    match &test.measured {
        Ok((_, verdict)) if verdict.outcome == Ruling::Fail => 0,
        Ok((_, verdict)) if verdict.outcome == Ruling::CannotJudge => 1,
        Ok((_, verdict)) if listed::lacking(verdict).is_some() => 2,
        _ => 3,
    }
}

pub(super) fn section(tests: &[SuiteTest<'_>]) -> Option<Section> {
    let facts: Vec<Fact> =
        steps(tests).into_iter().map(|step| Fact::new("Next step", step)).collect();
    (!facts.is_empty()).then(|| {
        let blocks = vec![Block::Facts(facts)];
        Section { id: "what-follows", title: "Next Steps", blocks }
    })
}
