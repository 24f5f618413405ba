//! How to run the tests of a set that a crash or a stop left out. A set is read from the folders of
//! its runs, so each test can be run alone and the set be reported afterwards.

use record::{RunRecord, TestType};

use super::command::command;
use super::step::{FOLDER, NextStep, OF_THIS_SET, StepKind};

/// A test of a set that was not run.
#[derive(Clone, Copy)]
pub(crate) struct MissingTest<'a> {
    /// Its kind.
    pub kind: TestType,
    /// The folder that its run will have, relative to that of the set.
    pub folder: &'a str,
}

/// A step for each of the `missing` tests of the set of which `run` is one; `set` is its folder, if
/// that is known.
pub(crate) fn rest_of_set(
    run: &RunRecord,
    missing: &[MissingTest<'_>],
    set: Option<&str>,
) -> Vec<String> {
    let mut steps = Vec::new();
    for test in missing {
        let step = step(run, *test);
        let step = if let Some(set) = set { step.for_run_in(set) } else { step };
        steps.push(format!("{}: {step}", test.kind.name()));
    }
    steps
}

fn step(run: &RunRecord, test: MissingTest<'_>) -> NextStep {
    let mut words = vec![command(run).to_owned()];
    words.extend(options(run, test.kind).iter().map(|(option, value)| format!("{option} {value}")));
    words.push(format!("--output {FOLDER}/{}", test.folder));
    let advice =
        format!("Run it, and then report the whole set (plimsoll report {FOLDER}){OF_THIS_SET}");
    StepKind::RestOfSet.with(advice, words.join(" "))
}

/// The options of the test in the set. Records of earlier releases lack those of other tests: only
/// name and tags are common to all.
fn options(run: &RunRecord, kind: TestType) -> Vec<(String, String)> {
    let of_set = run.start.set.iter().find(|of| of.test == kind);
    of_set.map_or_else(
        || {
            let given = run.start.options.iter();
            let common = given.filter(|(option, _)| matches!(option.as_str(), "--name" | "--tag"));
            let test = ("--test".to_owned(), word(kind).to_owned());
            std::iter::once(test).chain(common.cloned()).collect()
        },
        |of| of.options.clone(),
    )
}

/// The kind as `run --test` takes it.
pub(super) const fn word(kind: TestType) -> &'static str {
    match kind {
        TestType::Performance => "performance",
        TestType::Stress => "stress",
        TestType::Backup => "backup",
        TestType::Checksum => "checksum",
        TestType::Recovery => "recovery",
    }
}

#[cfg(test)]
mod tests {
    use record::{TestOfSet, TestType};

    use super::{MissingTest, rest_of_set};
    use crate::tests::passing;

    fn options(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(option, value)| ((*option).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_test_that_is_missing_is_run_with_its_options_in_its_folder() {
        let stress = MissingTest { kind: TestType::Stress, folder: "2-stress" };
        let backup = MissingTest { kind: TestType::Backup, folder: "3-backup" };
        let mut run = passing();
        run.start.options =
            options(&[("--test", "performance"), ("--duration", "2h"), ("--tag", "rack-3")]);
        let alone = rest_of_set(&run, &[backup], None);
        let expected = "Database backup: Run it, and then report the whole set (plimsoll report \
                        FOLDER), with the folder of this set for FOLDER: plimsoll run plan.toml \
                        --test backup --tag rack-3 --output FOLDER/3-backup";
        assert_eq!(alone, [expected], "a record of an earlier release");
        run.start.set = vec![TestOfSet {
            test: TestType::Stress,
            options: options(&[("--test", "stress"), ("--duration", "6h"), ("--tag", "rack-3")]),
        }];
        let known = rest_of_set(&run, &[stress], Some("'my set'"));
        let expected = "Stress: Run it, and then report the whole set (plimsoll report 'my set'): \
                        plimsoll run plan.toml --test stress --duration 6h --tag rack-3 --output \
                        'my set'/2-stress";
        assert_eq!(known, [expected]);
    }
}
