//! Steps after a set of tests: a step that several tests ask for is printed once, with one command.

use record::{RunRecord, TestType};
use verdict::Verdict;

use super::advice_beside;
use super::command::{again, folder_after, with_distinct_folders, within_set, without_output};
use super::passed::more_room;
use super::rest_of_set::word;
use super::step::{NextStep, StepKind, one_for_each_command};
use crate::suite_of;

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

/// The steps of `tests`, each with the names of the tests that ask for it, in the set of `all`
/// tests that lies in the folder `set`, if that is known.
pub(crate) fn steps_of_set(
    tests: &[JudgedTest<'_>],
    all: &[JudgedTest<'_>],
    set: Option<&str>,
) -> Vec<String> {
    let (mut names, mut steps): (Vec<Vec<TestType>>, Vec<NextStep>) = Default::default();
    for asked in asked(tests, all) {
        let step = asked.step(all);
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

/// Equal steps of several tests; their commands differ at most in the test and its length.
struct StepOfSet<'a> {
    asked: Vec<(JudgedTest<'a>, NextStep)>,
}

impl StepOfSet<'_> {
    fn is_same(&self, other: &NextStep) -> bool {
        self.asked.iter().all(|(_, step)| {
            let is_of_damage = [step, other].iter().all(|of| of.kind == StepKind::FindCause);
            is_of_damage || (step.is_alike(other) && is_of_one_plan(step, other))
        })
    }

    fn is_of_room(&self) -> bool {
        self.asked.iter().any(|(_, step)| step.kind == StepKind::FindRoom)
    }

    fn kinds(&self) -> impl Iterator<Item = TestType> {
        self.asked.iter().map(|(test, _)| test.kind)
    }

    /// The step with its command: of the test that the set takes instead, or of the whole set.
    fn step(&self, all: &[JudgedTest<'_>]) -> NextStep {
        // Damage that one test found as such is there for all of them.
        let refills = self.asked.iter().find(|(_, step)| step.fills_anew());
        let said = refills.unwrap_or(&self.asked[0]).1.clone();
        let (mut commands, mut tests) = (Vec::new(), Vec::new());
        for command in self.asked.iter().filter_map(|(_, step)| step.command.as_deref()) {
            commands.push(command);
            tests.push(TestCommand::of(command));
        }
        let is_of_test = self
            .asked
            .iter()
            .zip(&tests)
            .all(|((test, _), command)| command.test.as_deref() == Some(word(test.kind)));
        let is_one = commands.windows(2).all(|two| two[0] == two[1]);
        match (&self.asked[..], &commands[..]) {
            (_, []) => said,
            _ if is_one && !is_of_test => said,
            ([(test, _)], [command]) if said.kind.keeps_plan() => {
                said.replacing(test.folder, within_set(command, test.folder))
            }
            _ => said.by(command_of_set(&tests, all)),
        }
    }
}

/// Whether the commands of two steps are the same, or differ only in test, length and folder, which
/// those of the set replace.
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

/// The command that repeats the whole set with what `commands` change, in the folder after that of
/// the set.
fn command_of_set(commands: &[TestCommand], all: &[JudgedTest<'_>]) -> String {
    let most = commands.iter().max_by_key(|command| command.rest.len());
    let mut words = vec![most.map_or_else(String::new, |command| command.rest.clone())];
    for option in ["--threads", "--target-iops"] {
        let value = all.iter().find_map(|test| given(test.run, option));
        let value = value.filter(|_| !words[0].contains(option));
        words.extend(value.map(|value| format!("{option} {value}")));
    }
    words.push("--test all".to_owned());
    let lengths: Vec<String> = [TestType::Performance, TestType::Stress]
        .into_iter()
        .filter_map(|kind| Some(format!("{}={}", word(kind), length(kind, commands, all)?)))
        .collect();
    words.extend((!lengths.is_empty()).then(|| format!("--duration {}", lengths.join(","))));
    words.extend(folder(commands, all).map(|folder| format!("--output {folder}")));
    words.join(" ")
}

/// The length of a load: the one that a command asks for, or else the one that was given.
fn length(kind: TestType, commands: &[TestCommand], all: &[JudgedTest<'_>]) -> Option<String> {
    let asked = commands.iter().find(|command| command.test.as_deref() == Some(word(kind)));
    let own = all.iter().find(|test| test.kind == kind);
    let sets = all.iter().flat_map(|test| &test.run.start.set);
    asked
        .and_then(|command| command.duration.clone())
        .or_else(|| given(own?.run, "--duration").map(str::to_owned))
        .or_else(|| {
            let mut options = sets.filter(|of| of.test == kind).flat_map(|of| &of.options);
            options.find(|(option, _)| option == "--duration").map(|(_, value)| value.clone())
        })
}

/// The folder for the set that follows; `None` if the present one has the usual name.
fn folder(commands: &[TestCommand], all: &[JudgedTest<'_>]) -> Option<String> {
    let mut of_set = all.iter().filter(|test| !test.run.start.set.is_empty());
    match of_set.next() {
        Some(test) => given(test.run, "--output").map(folder_after),
        // Records of earlier releases: the run of a test that was made alone names its own folder.
        None => commands
            .first()?
            .output
            .clone()
            .filter(|folder| suite_of(folder.trim_matches(['\'', '"'])).is_none()),
    }
}

fn given<'a>(run: &'a RunRecord, option: &str) -> Option<&'a str> {
    let mut options = run.start.options.iter();
    options.find(|(name, _)| name == option).map(|(_, value)| value.as_str())
}

/// A command without its test, length and folder.
struct TestCommand {
    rest: String,
    test: Option<String>,
    duration: Option<String>,
    output: Option<String>,
}

impl TestCommand {
    fn of(command: &str) -> Self {
        let (command, output) = without_output(command);
        let (mut test, mut duration, mut rest) = (None, None, Vec::new());
        let mut words = command.split(' ');
        while let Some(word) = words.next() {
            match word {
                "--test" => test = words.next().map(str::to_owned),
                "--duration" => duration = words.next().map(str::to_owned),
                word => rest.push(word),
            }
        }
        Self { rest: rest.join(" "), test, duration, output: output.map(str::to_owned) }
    }
}

#[cfg(test)]
mod tests {
    use record::{RunRecord, TestOfSet, TestType};
    use verdict::judge;

    use super::{JudgedTest, steps_of_set};
    use crate::next::tests::cases::crowded_out;
    use crate::tests::{failing, too_small};
    use record::synthetic::Synthetic;

    fn options(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(option, value)| ((*option).to_owned(), (*value).to_owned())).collect()
    }

    /// A test of a set of 12 s for each load, in the folder `runs/a`.
    fn of_set(run: RunRecord, test: TestType, kind: &str) -> RunRecord {
        let mut run = run;
        run.start.test = test;
        run.start.options = options(&[("--test", kind), ("--output", "runs/a")]);
        if matches!(test, TestType::Performance | TestType::Stress) {
            run.start.options.insert(1, ("--duration".to_owned(), "12s".to_owned()));
        }
        run.start.set = [(TestType::Performance, "performance"), (TestType::Stress, "stress")]
            .map(|(test, kind)| TestOfSet {
                test,
                options: options(&[("--test", kind), ("--duration", "12s")]),
            })
            .to_vec();
        run
    }

    fn short(test: TestType, kind: &str) -> RunRecord {
        let mut run = Synthetic { measure_intervals: 1, ..Synthetic::default() }.run();
        run.start.settings.measure_ns = 15_000_000_000;
        of_set(run, test, kind)
    }

    fn told(runs: &[(RunRecord, &str)], set: Option<&str>) -> Vec<String> {
        let verdicts: Vec<_> = runs.iter().map(|(run, _)| judge(run)).collect();
        let tests: Vec<JudgedTest<'_>> = runs
            .iter()
            .zip(&verdicts)
            .map(|((run, folder), verdict)| JudgedTest {
                kind: run.start.test,
                run,
                verdict,
                folder,
            })
            .collect();
        steps_of_set(&tests, &tests, set)
    }

    #[test]
    fn one_test_that_was_too_short_is_repeated_within_its_set() {
        let stress = short(TestType::Stress, "stress");
        let steps = told(&[(stress.clone(), "2-stress")], Some("'my set'"));
        let expected = "Stress: Measure for longer, until enough is seen for a verdict. This run \
                        replaces 2-stress in the set (plimsoll report 'my set'): plimsoll run \
                        plan.toml --test stress --duration 30s --output 'my set'/2-stress-2";
        assert_eq!(steps, [expected]);
        let mut again = stress;
        again.start.set.clear();
        let steps = told(&[(again, "2-stress-2")], None);
        assert!(steps[0].contains("(plimsoll report FOLDER), with the folder of this set"));
        assert!(steps[0].ends_with(" --output FOLDER/2-stress-3"), "{}", steps[0]);
    }

    #[test]
    fn a_cause_and_the_time_that_lacked_are_one_step() {
        let mut stress = short(TestType::Stress, "stress");
        stress.start.settings.thresholds.read_average_ns = 1;
        crowded_out(&mut stress);
        let steps = told(&[(stress, "2-stress")], Some("st"));
        let expected = "Stress: End the other programs on this machine. Measure for longer, ";
        assert!(steps.len() == 1 && steps[0].starts_with(expected), "{steps:?}");
    }

    #[test]
    fn a_repeated_set_has_the_length_of_every_load() {
        let mut performance = short(TestType::Performance, "performance");
        performance.start.options = options(&[
            ("--test", "performance"),
            ("--duration", "20s"),
            ("--threads", "8"),
            ("--target-iops", "60"),
            ("--output", "runs/a"),
        ]);
        let runs = [
            (performance, "1-performance"),
            (of_set(failing(), TestType::Recovery, "recovery"), "4-recovery"),
        ];
        let steps = told(&runs, None);
        let damaged = steps.iter().find(|of| of.starts_with("Soft recovery")).expect("a step");
        let command = "(plimsoll prepare plan.toml --reset); then: plimsoll run plan.toml \
                       --threads 8 --target-iops 60 --test all --duration \
                       performance=20s,stress=12s --output runs/a-2";
        assert!(damaged.ends_with(command), "{damaged}");
    }

    #[test]
    fn room_that_a_passed_test_found_missing_is_a_step_of_every_set() {
        let passed = of_set(too_small(), TestType::Performance, "performance");
        let stress = short(TestType::Stress, "stress");
        let runs = [(stress, "2-stress"), (passed, "1-performance")];
        let verdicts = runs.each_ref().map(|(run, _)| judge(run));
        let tests = [0, 1].map(|at| JudgedTest {
            kind: runs[at].0.start.test,
            run: &runs[at].0,
            verdict: &verdicts[at],
            folder: runs[at].1,
        });
        let steps = steps_of_set(&tests[..1], &tests, None);
        assert!(steps[0].starts_with("Stress: Measure for longer"), "{steps:?}");
        assert!(steps[1].starts_with("Performance: Take volumes of"), "{steps:?}");
        assert_eq!(steps.len(), 2, "{steps:?}");
    }

    /// Some tests see damaged pages, others only that requests failed.
    #[test]
    fn damaged_databases_are_filled_anew_in_one_step() {
        let mut failed = of_set(failing(), TestType::Performance, "performance");
        failed.checksums.clear();
        failed.start.options.push(("--target-iops".to_owned(), "60".to_owned()));
        let backup = of_set(failing(), TestType::Backup, "backup");
        let steps = told(&[(failed, "1-performance"), (backup, "3-backup")], None);
        assert_eq!(steps.len(), 1, "{steps:?}");
        assert!(steps[0].starts_with("Performance, Database backup: Do not put data"));
        assert!(steps[0].contains(" --reset); then: plimsoll run plan.toml --target-iops 60 "));
        assert_eq!(steps[0].matches("Do not put data").count(), 1, "{steps:?}");
    }
}
