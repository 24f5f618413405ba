//! Steps after a set of tests: a step that several tests ask for is printed once, with one command.

use record::TestType;

use super::advice_beside;
use super::command::{again, with_distinct_folders, within_set};
use super::passed::more_room;
use super::rest_of_set::word;
use super::set_command::{JudgedTest, SetCommand, TestCommand, is_of_one_plan};
use super::step::{NextStep, StepKind, one_for_each_command};

/// The steps of `tests`, each with the names of the tests that ask for it, in the set of `all`
/// tests that lies in the folder `set`, if that is known.
pub(crate) fn steps_of_set(
    tests: &[JudgedTest<'_>],
    all: &[JudgedTest<'_>],
    set: Option<&str>,
) -> Vec<String> {
    let (mut names, mut steps): (Vec<Vec<TestType>>, Vec<NextStep>) = Default::default();
    let all_asked = asked(tests, all);
    let mut commands = Vec::new();
    commands.extend(all_asked.iter().flat_map(StepOfSet::commands));
    let repeated = SetCommand { commands: &commands, all };
    for asked in &all_asked {
        let step = asked.step(repeated);
        if let Some(at) = steps.iter_mut().position(|of| of.absorb(&step)) {
            names[at].extend(asked.kinds());
        } else {
            names.push(asked.kinds().collect());
            steps.push(step);
        }
    }
    with_distinct_folders(&mut steps);
    let mut printed = Vec::new();
    for (kinds, step) in names.iter().zip(steps) {
        let step = match set {
            Some(set) => step.for_run_in(set),
            None => step,
        };
        printed.push(format!("{}: {step}", names_of(all, kinds)));
    }
    printed
}

/// The names of those `tests` that are of `kinds`.
fn names_of(tests: &[JudgedTest<'_>], kinds: &[TestType]) -> String {
    let mut names = Vec::new();
    for test in tests.iter().filter(|test| kinds.contains(&test.kind)) {
        names.push(test.kind.name());
    }
    names.join(", ")
}

/// What the tests ask for, each step once.
fn asked<'a>(tests: &[JudgedTest<'a>], all: &[JudgedTest<'a>]) -> Vec<StepOfSet<'a>> {
    let mut kinds = Vec::new();
    kinds.extend(all.iter().map(|test| test.kind));
    let mut asked: Vec<StepOfSet<'a>> = Vec::new();
    for test in tests {
        for step in one_for_each_command(advice_beside(test.run, test.verdict, &kinds)) {
            let outside = again(test.run, &[]);
            let within = within_set(&outside, test.folder);
            let step = step.in_set(test.folder, (&outside, &within));
            match asked.iter_mut().find(|of| of.is_same(&step)) {
                Some(same) => same.asked.push((*test, step)),
                None => asked.push(StepOfSet { asked: vec![(*test, step)] }),
            }
        }
    }
    asked.extend(room_beside(tests, all).filter(|_| !asked.iter().any(StepOfSet::is_of_room)));
    asked
}

/// The room that a test beside `tests` found missing: storage that is too small is so whatever the
/// other tests came to.
fn room_beside<'a>(tests: &[JudgedTest<'_>], all: &[JudgedTest<'a>]) -> Option<StepOfSet<'a>> {
    let mut others = all.iter().filter(|of| tests.iter().all(|test| test.kind != of.kind));
    others.find_map(|test| {
        let step = more_room(test.run, test.verdict)?;
        Some(StepOfSet { asked: vec![(*test, step)] })
    })
}

/// Steps of several tests to one end, of which the set takes the one that asks most.
struct StepOfSet<'a> {
    asked: Vec<(JudgedTest<'a>, NextStep)>,
}

impl StepOfSet<'_> {
    fn is_same(&self, other: &NextStep) -> bool {
        self.asked.iter().all(|(_, step)| {
            let is_of_damage = [step, other].iter().all(|of| of.kind == StepKind::FindCause);
            let is_one_ranked = step.kind == other.kind && step.rank.is_some();
            is_of_damage || is_one_ranked || (step.is_alike(other) && is_of_one_plan(step, other))
        })
    }

    fn is_of_room(&self) -> bool {
        self.asked.iter().any(|(_, step)| step.kind == StepKind::FindRoom)
    }

    fn kinds(&self) -> impl Iterator<Item = TestType> {
        self.asked.iter().map(|(test, _)| test.kind)
    }

    fn commands(&self) -> impl Iterator<Item = TestCommand> {
        self.asked.iter().filter_map(|(_, step)| step.command.as_deref()).map(TestCommand::of)
    }

    /// The step with its command: of the test that the set takes instead, or of the whole set.
    fn step(&self, repeated: SetCommand<'_>) -> NextStep {
        let said = self.most().clone();
        let Some(command) = said.command.clone() else { return said };
        let is_of_test = self
            .asked
            .iter()
            .zip(self.commands())
            .all(|((test, _), command)| command.test.as_deref() == Some(word(test.kind)));
        let is_one = self.asked.iter().all(|(_, step)| step.command == said.command);
        match &self.asked[..] {
            _ if is_one && !is_of_test => said,
            [(test, _)] if said.kind.keeps_plan() => {
                said.replacing(test.folder, within_set(&command, test.folder))
            }
            _ => said.by(repeated.with(&TestCommand::of(&command))),
        }
    }

    /// The step that asks most of the person.
    fn most(&self) -> &NextStep {
        // Damage that one test found as such is there for all of them.
        let most = self.asked.iter().min_by_key(|(_, step)| (!step.fills_anew(), step.rank));
        &most.expect("invariant: a step of one test or more").1
    }
}
