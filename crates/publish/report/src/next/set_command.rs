//! The command that repeats a whole set of tests, with what one of their steps changes.

use plan::{parse_duration, write_duration};
use record::{RunRecord, TestType};
use units::Nanos;
use verdict::Verdict;

use super::command::{folder_after, without_output};
use super::rest_of_set::word;
use super::step::NextStep;
use super::time;
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

/// A set of tests that is repeated.
#[derive(Clone, Copy)]
pub(super) struct SetCommand<'a> {
    /// The commands that the steps of its tests ask for.
    pub commands: &'a [TestCommand],
    /// Its tests.
    pub all: &'a [JudgedTest<'a>],
}

impl SetCommand<'_> {
    /// The command that repeats the set with what `changed` changes, in the folder after its own.
    pub(super) fn with(self, changed: &TestCommand) -> String {
        let mut words = vec![changed.rest.clone()];
        for option in ["--threads", "--target-iops"] {
            let value = self.all.iter().find_map(|test| given(test.run, option));
            let value = value.filter(|_| !words[0].contains(option));
            words.extend(value.map(|value| format!("{option} {value}")));
        }
        words.push("--test all".to_owned());
        let lengths: Vec<String> = [TestType::Performance, TestType::Stress]
            .into_iter()
            .filter_map(|kind| Some(format!("{}={}", word(kind), self.length(kind)?)))
            .collect();
        words.extend((!lengths.is_empty()).then(|| format!("--duration {}", lengths.join(","))));
        words.extend(self.folder(changed).map(|folder| format!("--output {folder}")));
        words.join(" ")
    }

    /// The length of a load: the longest that a step asks for or its verdict needs, or else the one
    /// that was given.
    fn length(self, kind: TestType) -> Option<String> {
        let own = self.all.iter().find(|test| test.kind == kind);
        let of_kind = self.commands.iter().filter(|of| of.test.as_deref() == Some(word(kind)));
        let asked = of_kind.filter_map(|of| parse_duration(of.duration.as_deref()?));
        let needed: Option<Nanos> =
            own.and_then(|test| time::time_for_verdict(test.run, test.verdict));
        let sets = self.all.iter().flat_map(|test| &test.run.start.set);
        let longest = asked.chain(needed).max().map(write_duration);
        longest.or_else(|| given(own?.run, "--duration").map(str::to_owned)).or_else(|| {
            let mut options = sets.filter(|of| of.test == kind).flat_map(|of| &of.options);
            options.find(|(option, _)| option == "--duration").map(|(_, value)| value.clone())
        })
    }

    /// The folder for the set that follows; `None` if the present one has the usual name.
    fn folder(self, changed: &TestCommand) -> Option<String> {
        let mut of_set = self.all.iter().filter(|test| !test.run.start.set.is_empty());
        match of_set.next() {
            Some(test) => given(test.run, "--output").map(folder_after),
            // Records of earlier releases: the run of a test that was made alone names its own
            // folder.
            None => changed
                .output
                .clone()
                .filter(|folder| suite_of(folder.trim_matches(['\'', '"'])).is_none()),
        }
    }
}

fn given<'a>(run: &'a RunRecord, option: &str) -> Option<&'a str> {
    let mut options = run.start.options.iter();
    options.find(|(name, _)| name == option).map(|(_, value)| value.as_str())
}

/// A command without its test, length and folder.
pub(super) struct TestCommand {
    /// Its other words.
    rest: String,
    /// Its `--test`.
    pub test: Option<String>,
    duration: Option<String>,
    output: Option<String>,
}

impl TestCommand {
    pub(super) fn of(command: &str) -> Self {
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

/// Whether the commands of two steps are the same, or differ only in test, length and folder, which
/// those of the set replace.
pub(super) fn is_of_one_plan(one: &NextStep, other: &NextStep) -> bool {
    match (&one.command, &other.command) {
        (None, None) => true,
        (Some(one), Some(other)) => {
            let (one, other) = (TestCommand::of(one), TestCommand::of(other));
            one.rest == other.rest && one.test.is_some() == other.test.is_some()
        }
        _ => false,
    }
}
