//! Finds how many sessions a database carries: tries numbers until the limits are reached, as a
//! function of the results so far.

use std::collections::BTreeMap;

use units::Nanos;

/// Sessions that the search begins with, and that load a database during the warm-up: the
/// original's `ThreadCount`.
pub(crate) const FIRST_SESSIONS: u32 = 4;

/// Maximum number of sessions to try.
const MOST_SESSIONS: u32 = 256;

/// The search ends after this many tries, whatever they showed.
pub(crate) const MOST_STEPS: usize = 12;

/// Share of a limit that an average may reach during the search: a few seconds see fewer of a
/// disk's bad moments than the hours that are judged.
const MARGIN: f64 = 0.9;

/// Factor by which twice the sessions must raise throughput; otherwise the storage is saturated.
const WORTHWHILE: f64 = 1.05;

/// Fewer sessions that are slower by at most this factor are measured again before deciding for
/// more: a one-second step has such an error, above all the first one, right after the warm-up.
const IN_DOUBT: f64 = 1.1;

/// Limit on page-fault stalls per second of a step, looser than the judged one: two in half a
/// second may be the only ones in a minute.
const SHORT_LOOK_STALLS: f64 = 4.0;

/// Result of one number of sessions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TuneStep {
    /// Sessions of each database.
    pub sessions: u32,
    /// Database reads and writes per second, over all databases.
    pub iops: f64,
    /// Average latency of a database read.
    pub read_average: Nanos,
    /// Average latency of a log write.
    pub log_write_average: Nanos,
    /// Pages per second, over all databases, that had to wait for a free slot in their cache.
    pub stalls_per_second: f64,
}

/// Goal of the search for the number of sessions.
#[derive(Clone, Copy, Debug)]
pub struct SearchGoal {
    /// Upper limit for the average latency of database reads.
    pub read_average: Nanos,
    /// The same for log writes.
    pub log_write_average: Nanos,
    /// IOPS over all databases at which the search stops; `None` to find the maximum within the
    /// limits.
    pub enough_iops: Option<f64>,
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Load each database with this many sessions, and measure.
    Try(u32),
    /// The search has ended with this number.
    Settle(u32),
}

/// The step after `steps`, in any order: doubles or halves until the limits lie between two
/// numbers, then closes in to a quarter; ends earlier if more sessions add no throughput, or the
/// goal is reached.
pub fn advise(steps: &[TuneStep], goal: SearchGoal) -> Advice {
    let tried = by_sessions(steps);
    let good = tried.iter().filter(|step| goal.hold(step));
    let Some(best) = good.clone().map(|step| step.sessions).max() else {
        return after_failures(&tried);
    };
    // Under a pace, sessions beyond those that it needs only wait.
    if let Some(enough) = good.clone().find(|step| goal.is_reached_by(step)) {
        return Advice::Settle(enough.sessions);
    }
    if steps.len() >= MOST_STEPS {
        return Advice::Settle(fewest(&tried, goal, WORTHWHILE));
    }
    let bad = tried.iter().filter(|step| !goal.hold(step));
    let bad = bad.map(|step| step.sessions).filter(|&count| count > best);
    match bad.min() {
        Some(bad) if bad - best > (best / 4).max(1) => Advice::Try(u32::midpoint(best, bad)),
        None if best < MOST_SESSIONS && !is_saturated(&tried, best) => Advice::Try(best * 2),
        _ => settle(steps, &tried, goal),
    }
}

/// Result of each number of sessions, over all measurements of it.
pub fn by_sessions(steps: &[TuneStep]) -> Vec<TuneStep> {
    let mut looks: BTreeMap<u32, Vec<&TuneStep>> = BTreeMap::new();
    for step in steps {
        looks.entry(step.sessions).or_default().push(step);
    }
    looks.values().map(|of_one| mean(of_one)).collect()
}

fn mean_of(looks: &[&TuneStep], nanos: fn(&TuneStep) -> Nanos) -> Nanos {
    Nanos(looks.iter().map(|look| nanos(look).0).sum::<u64>() / looks.len() as u64)
}

fn mean(looks: &[&TuneStep]) -> TuneStep {
    let count = looks.len() as u64;
    TuneStep {
        sessions: looks[0].sessions,
        iops: looks.iter().map(|look| look.iops).sum::<f64>() / count as f64,
        read_average: mean_of(looks, |look| look.read_average),
        log_write_average: mean_of(looks, |look| look.log_write_average),
        stalls_per_second: looks.iter().map(|look| look.stalls_per_second).sum::<f64>()
            / count as f64,
    }
}

impl SearchGoal {
    fn is_reached_by(self, step: &TuneStep) -> bool {
        self.enough_iops.is_some_and(|enough| step.iops >= enough)
    }

    fn hold(self, step: &TuneStep) -> bool {
        is_within(step.read_average, self.read_average)
            && is_within(step.log_write_average, self.log_write_average)
            && step.stalls_per_second <= SHORT_LOOK_STALLS
    }
}

fn is_within(seen: Nanos, ceiling: Nanos) -> bool {
    (seen.0 as f64) <= ceiling.0 as f64 * MARGIN
}

/// No tried number meets the limits: tries fewer, down to one.
fn after_failures(steps: &[TuneStep]) -> Advice {
    match steps.iter().map(|step| step.sessions).min() {
        None => Advice::Try(FIRST_SESSIONS),
        Some(1) => Advice::Settle(1),
        Some(least) => Advice::Try(least / 2),
    }
}

/// Whether `best` sessions achieve hardly more than half as many do.
fn is_saturated(steps: &[TuneStep], best: u32) -> bool {
    let half = steps.iter().find(|step| step.sessions == best / 2);
    let whole = steps.iter().find(|step| step.sessions == best);
    half.zip(whole).is_some_and(|(half, whole)| whole.iops < half.iops * WORTHWHILE)
}

/// Ends with the fewest sessions that achieve nearly the maximum, after a second measurement of any
/// smaller number that might do so.
fn settle(steps: &[TuneStep], tried: &[TuneStep], goal: SearchGoal) -> Advice {
    let chosen = fewest(tried, goal, WORTHWHILE);
    let doubtful = fewest(tried, goal, IN_DOUBT);
    let looks = steps.iter().filter(|step| step.sessions == doubtful).count();
    if doubtful < chosen && looks == 1 {
        return Advice::Try(doubtful);
    }
    Advice::Settle(chosen)
}

/// The fewest sessions that meet the limits and whose IOPS, times `nearly`, reach the highest IOPS
/// within the limits.
fn fewest(tried: &[TuneStep], goal: SearchGoal, nearly: f64) -> u32 {
    let good = tried.iter().filter(|step| goal.hold(step));
    let most = good.clone().map(|step| step.iops).fold(0.0, f64::max);
    let enough = good.filter(|step| step.iops * nearly >= most);
    enough.map(|step| step.sessions).min().expect("invariant: a good step is there")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use units::Nanos;

    use super::{Advice, MOST_STEPS, SearchGoal, TuneStep, advise};

    const GOAL: SearchGoal = SearchGoal {
        read_average: Nanos::from_millis(20),
        log_write_average: Nanos::from_millis(10),
        enough_iops: None,
    };

    /// A disk with this many requests per second: latency is proportional to the queue.
    fn searched(disk_iops: f64, alone: Nanos) -> (u32, Vec<TuneStep>) {
        let mut steps = Vec::new();
        loop {
            assert!(steps.len() <= MOST_STEPS, "{steps:?}");
            match advise(&steps, GOAL) {
                Advice::Settle(sessions) => return (sessions, steps),
                Advice::Try(sessions) => {
                    let looks = steps.iter().filter(|step: &&TuneStep| step.sessions == sessions);
                    assert!(looks.count() < 2, "{sessions}: {steps:?}");
                    let unlimited = f64::from(sessions) * 1e9 / alone.0 as f64;
                    let iops = unlimited.min(disk_iops);
                    let waiting = Duration::from_secs_f64(f64::from(sessions) / iops);
                    let read_average = Nanos(u64::try_from(waiting.as_nanos()).unwrap());
                    steps.push(TuneStep {
                        sessions,
                        iops,
                        read_average,
                        log_write_average: Nanos::from_millis(1),
                        stalls_per_second: 0.0,
                    });
                }
            }
        }
    }

    #[test]
    fn a_slow_disk_gets_one_session() {
        assert_eq!(searched(40.0, Nanos::from_millis(25)).0, 1);
    }

    #[test]
    fn a_disk_is_driven_up_to_its_limit_and_not_over_it() {
        // 200 requests a second: 3.6 sessions wait 18 ms, nine tenths of the limit.
        let (sessions, _) = searched(200.0, Nanos::from_millis(5));
        assert_eq!(sessions, 2, "three reach no more than two");
        // Alone 17 ms, with enough spindles for 40 sessions.
        let (sessions, _) = searched(2400.0, Nanos::from_millis(17));
        assert!((32..=43).contains(&sessions), "{sessions}");
    }

    #[test]
    fn sessions_that_bring_nothing_are_not_added() {
        let (sessions, steps) = searched(20_000.0, Nanos::from_micros(400));
        assert_eq!(sessions, 8);
        assert_eq!(steps.last().map(|step| step.sessions), Some(16));
    }

    /// The decision and the number of steps if four sessions achieve these rates, step by step, and
    /// eight achieve 1,561 while sixteen are too slow.
    fn settled(of_four: [f64; 2]) -> (u32, usize) {
        let mut steps = Vec::new();
        loop {
            let sessions = match advise(&steps, GOAL) {
                Advice::Settle(sessions) => return (sessions, steps.len()),
                Advice::Try(sessions) => sessions,
            };
            let earlier = steps.iter().filter(|step: &&TuneStep| step.sessions == sessions).count();
            steps.push(TuneStep {
                sessions,
                iops: if sessions == 4 { of_four[earlier] } else { 1_561.0 },
                read_average: Nanos::from_millis(2 * u64::from(sessions)),
                log_write_average: Nanos::from_millis(1),
                stalls_per_second: 0.0,
            });
        }
    }

    #[test]
    fn fewer_sessions_get_a_second_look_where_the_first_may_have_been_off() {
        assert_eq!(settled([1_480.0, 1_569.0]), (4, 6), "the first look was low");
        assert_eq!(settled([1_480.0, 1_450.0]), (8, 6), "the gain was real");
        assert_eq!(settled([1_549.0, 0.0]), (4, 2), "no gain, no doubt");
        assert_eq!(settled([1_400.0, 0.0]), (8, 5), "no doubt of the gain");
    }

    #[test]
    fn a_load_that_is_held_needs_no_more_sessions_than_bring_its_target() {
        let step = |sessions, iops| TuneStep {
            sessions,
            iops,
            read_average: Nanos::from_millis(5),
            log_write_average: Nanos::from_millis(1),
            stalls_per_second: 0.0,
        };
        let goal = SearchGoal { enough_iops: Some(980.0), ..GOAL };
        assert_eq!(advise(&[step(4, 1_000.0)], goal), Advice::Settle(4));
        assert_eq!(advise(&[step(4, 600.0)], goal), Advice::Try(8));
        assert_eq!(advise(&[step(4, 600.0), step(8, 1_000.0)], goal), Advice::Settle(8));
        let free = [step(4, 1_000.0)];
        assert_eq!(advise(&free, GOAL), Advice::Try(8));
    }

    #[test]
    fn slow_log_writes_count_as_much_as_slow_reads() {
        let step = |sessions, log_write_average| TuneStep {
            sessions,
            iops: f64::from(sessions),
            read_average: Nanos::from_millis(1),
            log_write_average,
            stalls_per_second: 0.0,
        };
        let steps = [step(4, Nanos::from_millis(2)), step(8, Nanos::from_millis(11))];
        assert_eq!(advise(&steps, GOAL), Advice::Try(6));
    }

    #[test]
    fn sessions_that_the_cache_has_no_room_for_are_too_many() {
        let step = |sessions, stalls_per_second| TuneStep {
            sessions,
            iops: f64::from(sessions),
            read_average: Nanos::from_millis(1),
            log_write_average: Nanos::from_millis(1),
            stalls_per_second,
        };
        let after = |stalls| advise(&[step(4, 0.0), step(8, stalls)], GOAL);
        assert_eq!(after(500.0), Advice::Try(6));
        assert_eq!(after(4.0), Advice::Try(16), "a look is short");
    }

    proptest! {
        #[test]
        fn every_search_ends_within_the_limits(
            disk_iops in 1.0..1e6_f64,
            alone in 10_000_u64..50_000_000,
        ) {
            let (sessions, steps) = searched(disk_iops, Nanos(alone));
            let chosen = steps.iter().find(|step| step.sessions == sessions);
            let chosen = chosen.expect("what is chosen was tried");
            prop_assert!(GOAL.hold(chosen) || sessions == 1, "{chosen:?}");
        }
    }
}
