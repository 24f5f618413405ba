//! The command that repeats a test.

use record::RunRecord;

/// Shown for records of earlier releases, which lack the command.
pub(super) const SOME_PLAN: &str = "plimsoll run PLAN";

/// The command that started the test, without its options.
pub(super) fn command(run: &RunRecord) -> &str {
    match run.start.command.as_str() {
        "" => SOME_PLAN,
        command => command,
    }
}

/// The command that repeats the test with `changes` to its options.
pub(super) fn again(run: &RunRecord, changes: &[(&str, String)]) -> String {
    with_options(run, &[], changes)
}

/// The same for a test of another kind, without the options that only a load takes.
pub(super) fn as_test(run: &RunRecord, kind: &str) -> String {
    let of_loads = ["--duration", "--target-iops", "--threads"];
    with_options(run, &of_loads, &[("--test", kind.to_owned())])
}

fn with_options(run: &RunRecord, without: &[&str], changes: &[(&str, String)]) -> String {
    let mut words = vec![command(run).to_owned()];
    for (option, value) in &run.start.options {
        let is_changed = changes.iter().any(|(changed, _)| changed == option);
        if !is_changed && !without.contains(&option.as_str()) {
            words.push(format!("{option} {value}"));
        }
    }
    words.extend(changes.iter().map(|(option, value)| format!("{option} {value}")));
    words.join(" ")
}

/// Whether the test has a plan that the user can edit.
pub(super) fn has_plan(run: &RunRecord) -> bool {
    command(run).starts_with("plimsoll run ")
}

/// The command that searches the load line of the plan; `None` without a plan.
pub(super) fn line(run: &RunRecord) -> Option<String> {
    has_plan(run).then(|| command(run).replacen("run", "line", 1))
}

/// The command that shows the storage underneath the databases.
pub(super) fn inspect(run: &RunRecord) -> String {
    let first = run.start.databases.first();
    let mount = first.map_or("DIR", |facts| facts.volume.mount.as_str());
    format!("plimsoll inspect {mount}")
}
