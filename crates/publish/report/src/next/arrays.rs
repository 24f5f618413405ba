//! Larger disk sets for a simulated array, as keys that the simulation accepts.

use record::RunRecord;

use super::command::again;
use super::step::{NextStep, StepKind};

/// Largest factor by which the number of disks is increased in a proposal.
const MOST_TIMES: u64 = 64;

/// Proposes more disks for the array, which may carry a load that failed: the multiple that the
/// missed load needs, and one and a half times that, but at least double and triple.
pub(super) fn other(run: &RunRecord) -> NextStep {
    other_for(run, missed_times(run))
}

/// Proposes to search for the sessions that a target takes, for `duration` if the time was too
/// short as well.
pub(super) fn more_sessions(run: &RunRecord, duration: Option<String>) -> NextStep {
    let words = "Every latency was kept, so the storage waited for the sessions. Find out whether \
                 more of them make the load";
    let longer = duration.map(|duration| ("--duration", duration));
    let searched = ("--threads", "auto".to_owned());
    let changes: Vec<_> = longer.into_iter().chain([searched]).collect();
    StepKind::MoreSessions.with(words, again(run, &changes))
}

/// The same for a load that needs `missed_times` as many requests as were made.
pub(super) fn other_for(run: &RunRecord, missed_times: u64) -> NextStep {
    let words =
        "See what would carry it before you buy, with more disks or other keys of the array";
    let array = run.simulated().map(|simulation| simulation.array_text.as_str());
    let changes = array.and_then(|array| more_disks(array, missed_times));
    let Some(changes) = changes else {
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

/// Ratio of the target to the achieved load, rounded up; 1 without a target.
fn missed_times(run: &RunRecord) -> u64 {
    let target = run.start.settings.target_iops.unwrap_or(0.0);
    times(run.achieved_transactional_iops(), target)
}

/// Ratio of two rates, rounded up.
pub(super) fn times(achieved: f64, target: f64) -> u64 {
    let achieved = achieved.max(1.0);
    (1..MOST_TIMES).find(|times| achieved * *times as f64 >= target).unwrap_or(MOST_TIMES)
}

/// Whether a change `KEY=VALUES` is to a key that the step changes.
fn is_changed(change: &str) -> bool {
    let change = change.strip_prefix("array.").unwrap_or(change);
    matches!(change.split('=').next(), Some("raid.level" | "raid.disks"))
}

/// Larger sets of the same level; two mirrored disks become stripes over several pairs. `None` if
/// the description has no set of disks.
fn more_disks(array: &str, missed_times: u64) -> Option<Vec<String>> {
    let level = raid_key(array, "level")?;
    let disks = raid_key(array, "disks").filter(|&disks| disks > 0)?;
    let level = if level == 1 { 10 } else { level };
    let times = missed_times.max(2);
    let half_more = times + times / 2;
    let [least, more] = [times, half_more].map(|times| disks.saturating_mul(times));
    let larger = format!("raid.disks={least},{more}");
    Some(vec![format!("raid.level={level}"), larger])
}

/// A number from the `[raid]` section.
fn raid_key(array: &str, key: &str) -> Option<u64> {
    array_value(array, "raid", key)?.parse().ok()
}

/// A value from a section, in the format in which the program writes array descriptions.
pub(super) fn array_value<'a>(array: &'a str, section: &str, key: &str) -> Option<&'a str> {
    let heading = format!("[{section}]");
    let mut lines = array.lines().map(str::trim).skip_while(|line| *line != heading).skip(1);
    let section = lines.by_ref().take_while(|line| !line.starts_with('['));
    let mut pairs = section.filter_map(|line| line.split_once('='));
    pairs.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::{missed_times, more_disks, other_for};
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
            other_for(&run, 1).command.as_deref(),
            Some(
                "plimsoll simulate plan.toml --array array.toml --duration 1h --what-if \
                 disk.rpm=10000 --what-if raid.level=5 --what-if raid.disks=14,21"
            )
        );
    }

    #[test]
    fn a_mirror_of_two_disks_becomes_several() {
        let array = "name = \"a\"\n[disk]\ndisks = 9\n[raid]\nlevel = 1\ndisks = 2\n";
        let changes = more_disks(array, 1);
        assert_eq!(changes.unwrap_or_default(), ["raid.level=10", "raid.disks=4,6"]);
        assert_eq!(more_disks("[disk]\ndisks = 9\n", 1), None);
    }

    #[test]
    fn a_target_far_above_the_load_needs_as_many_times_the_disks() {
        let mut run = simulated();
        run.start.settings.target_iops = Some(run.achieved_transactional_iops() * 18.5);
        let step = other_for(&run, missed_times(&run)).command.unwrap_or_default();
        assert!(step.ends_with("raid.disks=133,196"), "{step}");
    }
}
