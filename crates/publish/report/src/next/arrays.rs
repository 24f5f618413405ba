//! Larger sets of the disks of a simulated array, as keys that the simulation takes.

use record::RunRecord;

use super::command::again;
use super::step::{NextStep, StepKind};

/// Two and three times the disks of the array that failed.
pub(super) fn other(run: &RunRecord) -> NextStep {
    let words =
        "See what would carry it before you buy, with more disks or other keys of the array";
    let array = run.simulated().map(|simulation| simulation.array_text.as_str());
    let Some(changes) = array.and_then(more_disks) else {
        return StepKind::OtherArray.alone(words);
    };
    let all: Vec<(&str, String)> = run
        .start
        .options
        .iter()
        .filter(|(option, change)| option == "--what-if" && !is_changed(change))
        .map(|(_, change)| change.clone())
        .chain(changes)
        .map(|change| ("--what-if", change))
        .collect();
    StepKind::OtherArray.with(words, again(run, &all))
}

/// Whether a change `KEY=VALUES` is to a key that the step changes.
fn is_changed(change: &str) -> bool {
    let change = change.strip_prefix("array.").unwrap_or(change);
    matches!(change.split('=').next(), Some("raid.level" | "raid.disks"))
}

/// Larger sets of the same level; of two mirrored disks, stripes over several pairs. `None` if the
/// description has no set of disks.
fn more_disks(array: &str) -> Option<Vec<String>> {
    let level = raid_key(array, "level")?;
    let disks = raid_key(array, "disks").filter(|&disks| disks > 0)?;
    let level = if level == 1 { 10 } else { level };
    let larger = format!("raid.disks={},{}", disks.saturating_mul(2), disks.saturating_mul(3));
    Some(vec![format!("raid.level={level}"), larger])
}

/// A number of the section `[raid]`, as the program writes descriptions of arrays.
fn raid_key(array: &str, key: &str) -> Option<u64> {
    let mut lines = array.lines().map(str::trim).skip_while(|line| *line != "[raid]").skip(1);
    let section = lines.by_ref().take_while(|line| !line.starts_with('['));
    let mut pairs = section.filter_map(|line| line.split_once('='));
    pairs.find(|(name, _)| name.trim() == key).and_then(|(_, value)| value.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::{more_disks, other};
    use crate::tests::simulated;

    #[test]
    fn the_printed_command_has_keys_and_values_of_the_array() {
        let mut run = simulated();
        let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        run.start.options = vec![
            option("--what-if", "disk.rpm=10000"),
            option("--what-if", "raid.disks=7"),
            option("--duration", "1h"),
        ];
        assert_eq!(
            other(&run).command.as_deref(),
            Some(
                "plimsoll simulate plan.toml --array array.toml --duration 1h --what-if \
                 disk.rpm=10000 --what-if raid.level=5 --what-if raid.disks=14,21"
            )
        );
    }

    #[test]
    fn a_mirror_of_two_disks_becomes_several() {
        let changes = more_disks("name = \"a\"\n[disk]\ndisks = 9\n[raid]\nlevel = 1\ndisks = 2\n");
        assert_eq!(changes.unwrap_or_default(), ["raid.level=10", "raid.disks=4,6"]);
        assert_eq!(more_disks("[disk]\ndisks = 9\n"), None);
    }
}
