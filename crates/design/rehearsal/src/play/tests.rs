//! Groups at work: shared and separate arrays, failures, and skipped time.

use simdisk::operations::ColdCache;
use units::{Nanos, Seed};

use super::{GroupOutcome, PlayOrder, play};
use crate::figures::PieceKind;
use crate::fixture::{deployment, disk, hour, occurrence};
use crate::{
    Happening, HostRow, Judgement, Limits, Occurrence, PlayedDeployment, PlayedRules, groups,
    judge, replay_of, timeline,
};

const LIMITS: Limits = Limits { reads_ms: 20.0, log_ms: 10.0, reached: 0.95 };

fn played(
    deployment: &PlayedDeployment,
    occurrences: &[Occurrence],
    (length, steady): (Nanos, Nanos),
) -> (Vec<GroupOutcome>, Judgement) {
    deployment.check().expect("a sound deployment");
    let replays: Vec<_> = deployment.profiles.iter().map(replay_of).collect();
    let stretches = timeline(deployment, occurrences, length);
    let order = PlayOrder {
        deployment,
        replays: &replays,
        stretches: &stretches,
        scan: None,
        rest_percent: 0,
        transition: Nanos::from_secs(60),
        steady,
        seed: Seed(1),
    };
    let mut outcomes = Vec::new();
    for group in groups(deployment) {
        outcomes.push(play(&order, &group, &mut ()).expect("it can be played"));
    }
    let judgement = judge(deployment, (&stretches, occurrences), &outcomes, &LIMITS);
    (outcomes, judgement)
}

fn rows(of: &Judgement, host: usize) -> Vec<&HostRow> {
    of.rows.iter().filter(|row| row.host == host).collect()
}

#[test]
fn a_lost_host_is_silent_and_its_databases_load_the_next_one() {
    let lost = [occurrence(hour(1), Some(hour(2)), Happening::HostLost { host: 0 })];
    let (_, judgement) =
        played(&deployment(3, 2, PlayedRules::default()), &lost, (hour(4), Nanos::from_secs(60)));
    let next = rows(&judgement, 1);
    assert!((next[0].settled.iops / 20.0 - 1.0).abs() < 0.05, "{:?}", next[0].settled);
    assert!((next[0].settled.replay_iops / 20.0 - 1.0).abs() < 0.1, "{:?}", next[0].settled);
    assert!((next[1].settled.iops / 40.0 - 1.0).abs() < 0.05, "{:?}", next[1].settled);
    let silent = rows(&judgement, 0)[1];
    assert!(silent.settled.iops < 0.5 && silent.active == 0, "{silent:?}");
    let catching_up = rows(&judgement, 0)[2];
    assert!(catching_up.settled.replay_iops > 90.0, "{:?}", catching_up.settled);
    let back = judgement.recoveries[0].redundant_after.expect("it recovers");
    assert_eq!(back, hour(1) + Nanos::from_secs(1_800));
}

/// Of the reads until the cache is warm, 6,000 times ln 2 are the load's own: 312 s at 13.3 a
/// second, to within one piece of a minute.
#[test]
fn a_copy_that_takes_over_has_a_cold_cache_for_a_while() {
    let lost = [occurrence(hour(1), None, Happening::HostLost { host: 0 })];
    let mut deployment = deployment(3, 2, PlayedRules::default());
    deployment.profiles[0].cold = ColdCache { pages: 6_000, extra_reads: 1.0 };
    let (outcomes, judgement) = played(&deployment, &lost, (hour(4), Nanos::from_secs(60)));
    let own = outcomes[1].pieces.iter().filter(|piece| piece.stretch == 1);
    let filling = own.filter(|piece| piece.kind == PieceKind::Transition).map(|piece| piece.to);
    let warm = filling.max().expect("a piece").since(hour(1)).as_secs_f64();
    assert!((warm - 312.0).abs() < 60.0, "{warm} s");
    let next = rows(&judgement, 1);
    assert!((next[1].settled.iops / 40.0 - 1.0).abs() < 0.05, "{:?}", next[1].settled);
    let (at, worst) = next[1].worst.expect("reads");
    assert!(at < hour(1) + Nanos::from_secs(180), "{at:?}");
    let settled = next[1].settled.reads_ms.expect("reads");
    assert!(worst > 1.03 * settled, "{worst} ms, {settled} ms settled");
}

/// Skipped time yields the same figures as played time, within 5 %.
#[test]
fn a_played_minute_represents_a_skipped_hour() {
    let deployment = deployment(2, 2, PlayedRules::default());
    let figures = |steady| {
        let (outcomes, judgement) = played(&deployment, &[], (hour(1), steady));
        (outcomes[0].events, rows(&judgement, 0)[0].settled.reads_ms.expect("reads"))
    };
    let (few, thinned) = figures(Nanos::from_secs(120));
    let (many, whole) = figures(hour(1));
    assert!(many > 8 * few, "{many} events, {few} of them");
    assert!((thinned / whole - 1.0).abs() < 0.05, "{thinned} ms, {whole} ms");
}

/// Criterion: the time is capacity divided by rate within 2 %, though most of it is skipped.
#[test]
fn a_rebuild_ends_when_its_rate_says_and_slows_reads_until_then() {
    let rules = PlayedRules { rebuild_rate: Some(20e6), ..PlayedRules::default() };
    let mut deployment = deployment(1, 1, rules);
    let set = [("disk.capacity_gb", "144"), ("raid.level", "5"), ("raid.disks", "5")];
    deployment.arrays[0] = disk(&set);
    let failed = [occurrence(hour(1), None, Happening::DiskFailed { array: 0 })];
    let (outcomes, judgement) = played(&deployment, &failed, (hour(5), Nanos::from_secs(60)));
    let took = outcomes[0].rebuilt[0].1.since(hour(1)).as_secs_f64();
    assert!((took / 7_200.0 - 1.0).abs() < 0.02, "{took} s");
    assert_eq!(judgement.recoveries[0].redundant_after.map(units::Nanos::as_secs_f64), Some(took));
    let mine = rows(&judgement, 0);
    let degraded: Vec<bool> = mine.iter().map(|row| row.is_degraded).collect();
    assert_eq!(degraded, [false, true, false]);
    let reads: Vec<f64> = mine.iter().filter_map(|row| row.settled.reads_ms).collect();
    assert!(reads[1] > 1.2 * reads[0] && reads[2] < 1.1 * reads[0], "{reads:?}");
    assert!(judgement.rows[1].usage.drives > mine[0].usage.drives, "{mine:?}");
}

/// Criterion: two hosts on one array equal one host with the databases of both, within 3 %.
#[test]
fn two_hosts_on_one_array_are_one_host_with_both_loads() {
    let mut two = deployment(2, 1, PlayedRules::default());
    two.databases[1].copies[0].place.array = 0;
    two.databases[1].copies[0].place.base = 400_000_000_000;
    two.databases[1].copies[0].log.array = 0;
    two.databases[1].copies[0].log.base = 600_000_000_000;
    let mut one = two.clone();
    one.databases[1].copies[0].host = 0;
    assert_eq!(groups(&two).len(), 1);
    let mean = |of: &PlayedDeployment| {
        let (_, judgement) = played(of, &[], (hour(1), Nanos::from_secs(600)));
        let rows: Vec<&HostRow> = judgement.rows.iter().filter(|row| row.active > 0).collect();
        let sum: f64 = rows.iter().filter_map(|row| row.settled.reads_ms).sum();
        (sum / rows.len() as f64, rows.iter().map(|row| row.settled.iops).sum::<f64>())
    };
    let (one, two) = (mean(&one), mean(&two));
    assert!((one.0 / two.0 - 1.0).abs() < 0.03, "{one:?} {two:?}");
    assert!((one.1 / two.1 - 1.0).abs() < 0.03, "{one:?} {two:?}");
}

/// Groups are independent: played alone, a group has the same figures, bit for bit.
#[test]
fn hosts_that_share_nothing_do_not_depend_on_each_other() {
    let several = deployment(3, 1, PlayedRules::default());
    let mut alone = several.clone();
    alone.databases.truncate(1);
    let piece = |of: &PlayedDeployment| {
        played(of, &[], (Nanos::from_secs(300), Nanos::from_secs(60))).0.swap_remove(0)
    };
    assert_eq!(piece(&several), piece(&alone));
}
