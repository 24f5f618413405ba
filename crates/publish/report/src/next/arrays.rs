//! Larger disk sets for a simulated array, as keys that the simulation accepts.

use record::RunRecord;
use verdict::{Ruling, Verdict};

use super::command::again;
use super::step::{NextStep, StepKind};

/// Largest factor by which the number of disks is increased in a proposal.
const MOST_TIMES: u64 = 64;

/// Most sessions of a database that a proposal names.
const MOST_SESSIONS: u32 = 64;

/// Proposes what may carry a load that failed: more sessions if only its target was missed, since
/// disks within their latencies wait for requests; else more disks for the array, the multiple that
/// the missed load needs, and one and a half times that, but at least double and triple.
pub(super) fn other(run: &RunRecord, verdict: &Verdict) -> NextStep {
    more_sessions(run, verdict, "Simulate it").unwrap_or_else(|| other_for(run, missed_times(run)))
}

/// As many sessions as the missed load needs, and half as many again: with each more the requests
/// take longer. `None` if they were searched for, or if more than the target was missed.
pub(super) fn more_sessions(run: &RunRecord, verdict: &Verdict, how: &str) -> Option<NextStep> {
    let mut failing = verdict.findings.iter().filter(|of| of.outcome == Ruling::Fail);
    let is_target = failing.next()?.rule == "target-iops" && failing.next().is_none();
    let sessions = u64::from(run.sessions_per_database().max(1));
    let needed = u32::try_from((sessions * missed_times(run).max(2) * 3).div_ceil(2)).ok()?;
    let may_be = is_target && run.tuned.is_none() && needed <= MOST_SESSIONS;
    may_be.then(|| {
        let words = format!(
            "Only the target was missed, and each request was answered in time: the disks wait for \
             the sessions. {how} with more of them"
        );
        StepKind::MoreSessions.with(words, again(run, &[("--threads", needed.to_string())]))
    })
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
    use record::RunRecord;

    use super::{missed_times, more_disks, other, other_for};
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

    /// A run that missed nothing but a target this many times its load.
    fn short_of_target(times: f64) -> RunRecord {
        let mut run = simulated();
        run.start.settings.threads_per_database = 2;
        run.tuned = None;
        run.start.settings.target_iops = Some(run.achieved_transactional_iops() * times);
        run
    }

    /// Disks that answer in time are not too few: the sessions are.
    #[test]
    fn a_target_missed_within_every_latency_needs_more_sessions() {
        for (times, threads) in [(1.9, "--threads 6"), (2.9, "--threads 9")] {
            let run = short_of_target(times);
            let step = other(&run, &verdict::judge(&run));
            let command = step.command.clone().unwrap_or_default();
            assert!(command.ends_with(threads) && !command.contains("raid.disks"), "{command}");
            assert!(step.to_string().contains("more of them"), "{step}");
        }
    }

    /// Slow reads, or a target that no number of sessions reaches, are a matter of disks.
    #[test]
    fn a_latency_beyond_its_limit_needs_more_disks() {
        let mut slow = short_of_target(1.9);
        slow.start.settings.thresholds.read_average_ns = 1;
        for run in [slow, short_of_target(100.0)] {
            let command = other(&run, &verdict::judge(&run)).command.unwrap_or_default();
            assert!(command.contains("raid.disks=") && !command.contains("--threads"), "{command}");
        }
    }
}
