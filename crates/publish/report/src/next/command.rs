//! The command that repeats a test.

use std::ops::Range;

use record::{RunRecord, TestType};

use super::step::{FOLDER, NextStep};

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

/// The command that fills the databases of the plan anew.
pub(super) fn filled_anew(run: &RunRecord) -> String {
    format!("{} --reset", command(run).replacen("run", "prepare", 1))
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
        let is_kept = !is_changed && !without.contains(&option.as_str());
        if is_kept && !IDENTITY.contains(&option.as_str()) {
            // An option without a value is a word alone.
            words.push(format!("{option} {value}").trim_end().to_owned());
        }
    }
    words.extend(changes.iter().map(|(option, value)| format!("{option} {value}")));
    words.extend(identity(run));
    words.join(" ")
}

/// Options that name a run and its place, whatever it measures.
const IDENTITY: [&str; 3] = ["--name", "--tag", OUTPUT];
pub(super) const OUTPUT: &str = "--output";

/// The name, tags and output folder given for the run. Its folder is taken, so the next run gets
/// one next to it.
fn identity(run: &RunRecord) -> impl Iterator<Item = String> {
    let given = run.start.options.iter();
    given.filter(|(option, _)| IDENTITY.contains(&option.as_str())).map(|(option, value)| {
        let value = if option == OUTPUT { folder_after(value) } else { value.clone() };
        format!("{option} {value}")
    })
}

/// Gives each command of a list its own output folder: a reader who runs one after the other must
/// not be refused by a folder that the first one made.
pub(super) fn with_distinct_folders(steps: &mut [NextStep]) {
    let mut taken: Vec<String> = Vec::new();
    for command in steps.iter_mut().filter_map(|step| step.command.as_mut()) {
        let Some(place) = output_folder(command) else {
            continue;
        };
        let mut folder = command[place.clone()].to_owned();
        while taken.contains(&folder) {
            folder = folder_after(&folder);
        }
        command.replace_range(place, &folder);
        taken.push(folder);
    }
}

/// The `command` of the test in the folder `part` of a set, in the folder that follows it there.
pub(super) fn within_set(command: &str, part: &str) -> String {
    let (words, _) = without_output(command);
    format!("{words} --output {FOLDER}/{}", folder_after(part))
}

/// A command without its output folder, and that folder.
pub(super) fn without_output(command: &str) -> (String, Option<&str>) {
    let Some(place) = output_folder(command) else {
        return (command.to_owned(), None);
    };
    let before = command[..place.start].trim_end().trim_end_matches(OUTPUT).trim_end();
    (format!("{before}{}", &command[place.end..]), Some(&command[place]))
}

/// A word of a shell without the quote that ends it, and that quote.
pub(super) fn without_quote(word: &str) -> (&str, &str) {
    let quote = word.len() - usize::from(word.ends_with(['\'', '"']));
    word.split_at(quote)
}

/// The place of the output folder in a command; a quoted folder may contain spaces.
pub(super) fn output_folder(command: &str) -> Option<Range<usize>> {
    let option = format!(" {OUTPUT} ");
    let from = command.find(&option)? + option.len();
    let mut quote = None;
    let end = command[from..].find(|c| match (quote, c) {
        (None, '\'' | '"') => {
            quote = Some(c);
            false
        }
        (Some(open), c) if open == c => {
            quote = None;
            false
        }
        (None, ' ') => true,
        _ => false,
    });
    Some(from..end.map_or(command.len(), |end| from + end))
}

/// The folder after `folder`, a word of a shell: `runs/a-2` after `runs/a`, and so on.
pub(super) fn folder_after(folder: &str) -> String {
    let (name, end) = without_quote(folder);
    let numbered = name.rsplit_once('-').and_then(|(stem, number)| {
        // A date or a time at the end is no running number.
        let number: u32 = number.parse().ok().filter(|number| (2..1_000).contains(number))?;
        Some(format!("{stem}-{}{end}", number + 1))
    });
    numbered.unwrap_or_else(|| format!("{name}-2{end}"))
}

/// The plan of a simulation, quoted for a shell.
pub(super) fn simulated_plan(run: &RunRecord) -> &str {
    let words = command(run).strip_prefix("plimsoll simulate ");
    words.map_or("PLAN", |words| words.split_once(" --array ").map_or(words, |(plan, _)| plan))
}

/// The command that measures the simulated load on storage, with the options that `run` also takes.
pub(super) fn measured(run: &RunRecord, plan: &str) -> String {
    let taken: &[&str] = match run.start.test {
        TestType::Performance | TestType::Stress => {
            &["--test", "--duration", "--threads", "--target-iops", "--seed"]
        }
        TestType::Recovery => &["--test", "--threads", "--seed"],
        TestType::Backup | TestType::Checksum => &["--test", "--seed"],
    };
    let mut words = vec![format!("plimsoll run {plan}")];
    let given = run.start.options.iter().filter(|(option, _)| taken.contains(&option.as_str()));
    words.extend(given.map(|(option, value)| format!("{option} {value}")));
    words.extend(identity(run));
    words.join(" ")
}

/// Whether the test has a plan that the user can edit.
pub(super) fn has_plan(run: &RunRecord) -> bool {
    command(run).starts_with("plimsoll run ")
}

/// The command that searches the load line of the plan; `None` without a plan.
pub(super) fn line(run: &RunRecord) -> Option<String> {
    has_plan(run).then(|| {
        let line = command(run).replacen("run", "line", 1);
        std::iter::once(line).chain(identity(run)).collect::<Vec<String>>().join(" ")
    })
}

/// The command that shows the storage underneath the databases.
pub(super) fn inspect(run: &RunRecord) -> String {
    let first = run.start.databases.first();
    let mount = first.map_or("DIR", |facts| facts.volume.mount.as_str());
    format!("plimsoll inspect {mount}")
}

#[cfg(test)]
mod tests {

    use super::super::step::StepKind;
    use super::{folder_after, with_distinct_folders};

    #[test]
    fn each_command_of_a_list_has_its_own_folder() {
        let step = |command: &str| StepKind::FindLine.with("Find it", command.to_owned());
        let mut steps = vec![
            step("plimsoll line p.toml --output 'my set-3'"),
            StepKind::EndOthers.alone("End them"),
            step("plimsoll inspect /mnt"),
            step("plimsoll run p.toml --output 'my set-3' --test all"),
            step("plimsoll run p.toml --output 'my set-3'"),
        ];
        with_distinct_folders(&mut steps);
        let commands: Vec<&str> = steps.iter().filter_map(|of| of.command.as_deref()).collect();
        let expected = [
            "plimsoll line p.toml --output 'my set-3'",
            "plimsoll inspect /mnt",
            "plimsoll run p.toml --output 'my set-4' --test all",
            "plimsoll run p.toml --output 'my set-5'",
        ];
        assert_eq!(commands, expected);
    }

    #[test]
    fn the_next_folder_is_beside_the_one_that_is_taken() {
        for (taken, next) in [
            ("set", "set-2"),
            ("runs/a-2", "runs/a-3"),
            ("'my runs'", "'my runs-2'"),
            ("\"my runs-9\"", "\"my runs-10\""),
            ("rack-3/run-a-20261124-093000", "rack-3/run-a-20261124-093000-2"),
            ("array-1", "array-1-2"),
        ] {
            assert_eq!(folder_after(taken), next);
        }
    }
}
