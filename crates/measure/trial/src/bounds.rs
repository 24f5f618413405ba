//! Time limits for each part of a run. Without them, storage that answers every request late would
//! keep a run going for hours after its planned end.

use std::collections::BTreeMap;

use plan::Plan;
use record::Phase;
use units::Nanos;

use crate::policy;
use crate::tune;

/// Shortest time limit of any part; parts with much data get more.
const FINISH: Nanos = Nanos::from_secs(300);

/// Assumed rate of a pass over whole databases, in bytes per second: a tenth of what one disk reads
/// from its innermost tracks.
const PASS_BYTES_PER_SECOND: u64 = 8 << 20;

/// Assumed rate of writing out a cache, or filling one in a recovery, in bytes per second: 32 pages
/// of 32 KiB, less than half of the random rate of one 7.2K disk.
const RANDOM_BYTES_PER_SECOND: u64 = 1 << 20;

/// Time to generate or replay one log file: 1 MiB is some 2,000 random requests, and one 7.2K disk
/// does 75 per second.
const OF_A_LOG: Nanos = Nanos::from_secs(30);

/// Longest time limit of any part, unless the plan gives one.
const DAY: Nanos = Nanos::from_secs(24 * 3600);

/// The search for the best number of sessions waits this long for surplus sessions to end, then
/// continues alongside any that take longer.
const LINGER: Nanos = Nanos::from_secs(10);

/// A part of a run with a time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunStage {
    /// Every database is opened, and recovered if necessary.
    Opening,
    /// Sessions end, databases are closed and read to their end.
    Finishing,
    /// The single pass that makes up the test.
    Passing,
    /// Logs are generated for replay.
    Generating,
    /// Logs are replayed.
    Replaying,
}

/// Maximum duration of `part` of a run of `plan`.
pub(crate) fn longest(plan: &Plan, part: RunStage) -> Nanos {
    let cache = time_for(cache_bytes(plan), RANDOM_BYTES_PER_SECOND);
    let pass = time_for(database_bytes(plan), PASS_BYTES_PER_SECOND);
    let needed = match part {
        RunStage::Opening if plan.test.replayed_copy().is_some() => cache + pass,
        RunStage::Opening => cache,
        RunStage::Finishing => match plan.test.finish {
            Some(given) => return given,
            None if plan.test.checksum => cache + pass,
            None => cache,
        },
        RunStage::Passing => pass,
        RunStage::Generating | RunStage::Replaying => {
            let logs = u64::from(plan.test.replay_logs).saturating_mul(databases(plan));
            Nanos(OF_A_LOG.0.saturating_mul(logs))
        }
    };
    needed.clamp(FINISH, DAY)
}

/// Maximum duration of each phase of a run of `plan`; phases that last exactly as long as the plan
/// says are omitted.
pub fn of_phases(plan: &Plan) -> BTreeMap<Phase, Nanos> {
    let mut limits = BTreeMap::from([
        (Phase::Open, longest(plan, RunStage::Opening)),
        (Phase::Warm, plan.test.warm_up_limit),
        (Phase::Tune, longest_search(plan)),
        (Phase::Drain, longest(plan, RunStage::Finishing)),
        (Phase::Backup, longest(plan, RunStage::Passing)),
        (Phase::Recover, longest(plan, RunStage::Replaying)),
    ]);
    let check = if plan.test.kind.is_load() { RunStage::Finishing } else { RunStage::Passing };
    limits.insert(Phase::Check, longest(plan, check));
    if plan.test.is_recovery() {
        limits.insert(Phase::Measure, longest(plan, RunStage::Generating));
    }
    limits
}

/// Maximum duration of the search for the number of sessions.
pub(crate) fn longest_search(plan: &Plan) -> Nanos {
    let step = policy::tuning_step(plan.test.duration);
    let each = step + Nanos(step.0 / 4) + linger(plan);
    Nanos(each.0 * (tune::MOST_STEPS as u64 + 1))
}

/// Time to wait for sessions to end during a load.
pub(crate) fn linger(plan: &Plan) -> Nanos {
    policy::tuning_step(plan.test.duration).max(LINGER)
}

fn databases(plan: &Plan) -> u64 {
    plan.databases.len() as u64
}

fn database_bytes(plan: &Plan) -> u64 {
    plan.size.0.saturating_mul(databases(plan))
}

fn cache_bytes(plan: &Plan) -> u64 {
    plan.cache.maximum.0.min(plan.size.0).saturating_mul(databases(plan))
}

fn time_for(bytes: u64, bytes_per_second: u64) -> Nanos {
    Nanos::from_secs((bytes / bytes_per_second).min(DAY.0 / 1_000_000_000))
}

#[cfg(test)]
mod tests {
    use plan::Plan;
    use record::Phase;
    use units::Nanos;

    use super::{RunStage, longest, longest_search, of_phases};

    fn plan(size: &str, cache: &str, test: &str) -> Plan {
        let text = format!(
            "[databases]\nfolders = [\"/a\"]\nsize = \"{size}\"\n[engine]\n\
             cache_minimum = \"1MiB\"\ncache_maximum = \"{cache}\"\n[test]\n{test}"
        );
        Plan::parse("test", &text).unwrap()
    }

    #[test]
    fn a_small_run_ends_within_five_minutes_and_a_large_one_has_time_for_its_bytes() {
        let small = plan("64MiB", "4MiB", "");
        for part in [RunStage::Opening, RunStage::Finishing, RunStage::Passing] {
            assert_eq!(longest(&small, part), Nanos::from_secs(300), "{part:?}");
        }
        let large = plan("1TiB", "1GiB", "");
        assert_eq!(longest(&large, RunStage::Opening), Nanos::from_secs(1_024));
        assert_eq!(longest(&large, RunStage::Finishing), Nanos::from_secs(86_400));
        let unread = plan("1TiB", "1GiB", "checksum = false\n");
        assert_eq!(longest(&unread, RunStage::Finishing), Nanos::from_secs(1_024));
    }

    #[test]
    fn what_the_plan_gives_stands() {
        let given = plan("1TiB", "1GiB", "finish = \"20s\"\n");
        assert_eq!(longest(&given, RunStage::Finishing), Nanos::from_secs(20));
        assert_eq!(longest(&given, RunStage::Opening), Nanos::from_secs(1_024));
    }

    #[test]
    fn no_part_lasts_for_ever() {
        let huge = plan("16TiB", "64GiB", "type = \"recovery\"\nreplay_logs = 100000\n");
        for part in
            [RunStage::Opening, RunStage::Passing, RunStage::Generating, RunStage::Replaying]
        {
            assert!(longest(&huge, part) <= Nanos::from_secs(86_400), "{part:?}");
        }
        assert!(longest_search(&huge) < Nanos::from_secs(600));
        let limits = of_phases(&huge);
        let all = [Phase::Open, Phase::Warm, Phase::Tune, Phase::Measure, Phase::Drain];
        let all = all.into_iter().chain([Phase::Backup, Phase::Recover, Phase::Check]);
        all.for_each(|phase| assert!(limits.contains_key(&phase), "{phase:?}"));
    }
}
