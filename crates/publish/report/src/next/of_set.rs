//! Steps after a set of tests: a step that several tests ask for is printed once, with one command.

use record::{RunRecord, TestType};
use verdict::Verdict;

use super::advice_beside;
use super::command::with_distinct_folders;
use super::step::NextStep;

/// A test of a set that was run.
#[derive(Clone, Copy)]
pub(crate) struct JudgedTest<'a> {
    /// Its kind.
    pub kind: TestType,
    /// Its record.
    pub run: &'a RunRecord,
    /// The verdict on it.
    pub verdict: &'a Verdict,
    /// The folder of its run, relative to that of the set.
    pub folder: &'a str,
}

/// The steps of `tests`, each with the names of the tests that ask for it, in a set that holds
/// tests of `kinds` and lies in the folder `set`, if that is known.
pub(crate) fn steps_of_set(
    tests: &[JudgedTest<'_>],
    kinds: &[TestType],
    set: Option<&str>,
) -> Vec<String> {
    let mut merged: Vec<StepOfSet> = Vec::new();
    for test in tests {
        for step in advice_beside(test.run, test.verdict, kinds) {
            let step = step.in_set(test.folder);
            match merged.iter_mut().find(|of| of.is_same(&step)) {
                Some(same) => same.add(test.kind, step),
                None => merged.push(StepOfSet { kinds: vec![test.kind], steps: vec![step] }),
            }
        }
    }
    let mut steps: Vec<NextStep> = merged.iter().map(StepOfSet::step).collect();
    with_distinct_folders(&mut steps);
    let steps = steps.into_iter().map(|step| match set {
        Some(set) => step.for_run_in(set),
        None => step,
    });
    merged.iter().zip(steps).map(|(of, step)| format!("{}: {step}", of.names())).collect()
}

/// Equal steps of several tests; their commands differ at most in the test and its length.
struct StepOfSet {
    kinds: Vec<TestType>,
    steps: Vec<NextStep>,
}

impl StepOfSet {
    fn is_same(&self, other: &NextStep) -> bool {
        self.steps.iter().all(|step| step.is_alike(other) && is_of_one_plan(step, other))
    }

    fn add(&mut self, kind: TestType, step: NextStep) {
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
        self.steps.push(step);
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
        names.join(", ")
    }

    fn step(&self) -> NextStep {
        let mut step = self.steps[0].clone();
        let commands = self.steps.iter().filter_map(|step| step.command.as_deref());
        step.command = command_of_set(&commands.collect::<Vec<&str>>());
        step
    }
}

/// Whether the commands of two steps are the same, or differ only in test and length, which `--test
/// all` combines.
fn is_of_one_plan(one: &NextStep, other: &NextStep) -> bool {
    match (&one.command, &other.command) {
        (None, None) => true,
        (Some(one), Some(other)) => {
            let (one, other) = (TestCommand::of(one), TestCommand::of(other));
            one.rest == other.rest && one.test.is_some() == other.test.is_some()
        }
        _ => false,
    }
}

/// One command in place of several of one plan: the command of the whole set, unless all are equal.
fn command_of_set(commands: &[&str]) -> Option<String> {
    let first = *commands.first()?;
    if commands.iter().all(|command| *command == first) {
        return Some(first.to_owned());
    }
    let mut lengths: Vec<String> = Vec::new();
    for command in commands {
        let TestCommand { test, duration, .. } = TestCommand::of(command);
        let length = test.zip(duration).map(|(test, duration)| format!("{test}={duration}"));
        lengths.extend(length.filter(|length| !lengths.contains(length)));
    }
    let mut words = vec![TestCommand::of(first).rest, "--test all".to_owned()];
    words.extend((!lengths.is_empty()).then(|| format!("--duration {}", lengths.join(","))));
    Some(words.join(" "))
}

/// A command without its test and length.
struct TestCommand<'a> {
    rest: String,
    test: Option<&'a str>,
    duration: Option<&'a str>,
}

impl<'a> TestCommand<'a> {
    fn of(command: &'a str) -> Self {
        let (mut test, mut duration, mut rest) = (None, None, Vec::new());
        let mut words = command.split(' ');
        while let Some(word) = words.next() {
            match word {
                "--test" => test = words.next(),
                "--duration" => duration = words.next(),
                word => rest.push(word),
            }
        }
        Self { rest: rest.join(" "), test, duration }
    }
}

#[cfg(test)]
mod tests {
    use super::command_of_set;

    #[test]
    fn commands_of_several_tests_become_that_of_the_set() {
        let performance = "plimsoll run 'my plan.toml' --test performance --duration 35s -o a";
        let stress = "plimsoll run 'my plan.toml' --test stress --duration 2min -o a";
        assert_eq!(command_of_set(&[performance, performance]).as_deref(), Some(performance));
        let both = "plimsoll run 'my plan.toml' -o a --test all --duration \
                    performance=35s,stress=2min";
        assert_eq!(command_of_set(&[performance, stress]).as_deref(), Some(both));
        let backup = "plimsoll run p.toml --test backup";
        let recovery = "plimsoll run p.toml --test recovery";
        let all = "plimsoll run p.toml --test all";
        assert_eq!(command_of_set(&[backup, recovery]).as_deref(), Some(all));
        assert_eq!(command_of_set(&[]), None);
    }
}
