//! Next steps after a set of tests: those of its worst tests, which must be dealt with first.

use std::collections::BTreeSet;

use record::TestType;
use verdict::{Ruling, Verdict};

use super::SuiteTest;
use crate::document::{Block, Fact, Section};
use crate::listed;
use crate::next::{self, JudgedTest};

/// The steps of the worst tests that have any, each printed once with the names of its tests. Empty
/// if every test passed and left no question open that the set does not answer.
pub(super) fn steps(tests: &[SuiteTest<'_>]) -> Vec<String> {
    let made: Vec<JudgedTest<'_>> = tests.iter().filter_map(judged).collect();
    let kinds: Vec<TestType> = made.iter().map(|test| test.kind).collect();
    made.iter()
        .map(|test| badness(test.verdict))
        .collect::<BTreeSet<u8>>()
        .into_iter()
        .map(|class| {
            let mut equally_bad = made.clone();
            equally_bad.retain(|test| badness(test.verdict) == class);
            next::steps_of_set(&equally_bad, &kinds)
        })
        .find(|steps| !steps.is_empty())
        .unwrap_or_default()
}

fn judged<'a>(test: &SuiteTest<'a>) -> Option<JudgedTest<'a>> {
    let (run, verdict) = test.measured.as_ref().ok()?;
    Some(JudgedTest { kind: test.kind, run, verdict })
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
        steps(tests).into_iter().map(|step| Fact::new("Next step", step)).collect();
    (!facts.is_empty()).then(|| {
        let blocks = vec![Block::Facts(facts)];
        Section { id: "what-follows", title: "Next Steps", blocks }
    })
}
