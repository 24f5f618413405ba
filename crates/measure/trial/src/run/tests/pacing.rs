//! A load that is held at a target, in virtual time.

use record::{Event, Phase, Series};
use units::Nanos;

use super::{PLAN, RunSummary, fill, issues, killed_after, prepared, run_once};
use crate::testing::World;

/// Database reads and writes per second of both databases over `duration`, with `sessions` each.
fn measured_iops(sessions: &str, target: &str, duration: &str) -> f64 {
    let workload = format!("threads = {sessions}\n{target}");
    let text = PLAN.replace("threads = 2", &workload).replace("1500ms", duration);
    let (summary, events) = run_once(&prepared(&text), None);
    assert_eq!((issues(&events), summary), (Vec::new(), RunSummary::default()));
    let (mut requests, mut nanos) = (0, 0);
    for event in &events {
        let Event::Interval(interval) = event else {
            continue;
        };
        if interval.phase != Phase::Measure {
            continue;
        }
        nanos += interval.to_ns - interval.from_ns;
        for series in interval.databases.iter().flat_map(|database| &database.series) {
            if matches!(series.series, Series::DatabaseRead | Series::DatabaseWrite) {
                requests += series.latency.count();
            }
        }
    }
    requests as f64 * 1e9 / nanos as f64
}

#[test]
fn a_load_is_held_at_its_target() {
    let free = measured_iops("2", "", "1500ms");
    assert!(free > 1200.0, "{free} IOPS without a target");
    let held = measured_iops("2", "target_iops = 600", "1500ms");
    assert!((570.0..690.0).contains(&held), "{held} IOPS");
}

#[test]
fn a_low_target_is_held_whatever_the_sessions() {
    for sessions in ["2", "24", "\"auto\""] {
        let held = measured_iops(sessions, "target_iops = 100", "30s");
        assert!((98.0..102.0).contains(&held), "{held} IOPS with {sessions} sessions");
    }
}

/// Database reads and writes per second as completed by the device, over at least `seconds` at a
/// time, and whether the load was measured then.
fn rates(events: &[Event], seconds: u64) -> Vec<(bool, f64)> {
    let mut rates = Vec::new();
    let (mut requests, mut nanos, mut is_measured) = (0, 0, false);
    for event in events {
        let Event::Interval(interval) = event else {
            continue;
        };
        if !matches!(interval.phase, Phase::Warm | Phase::Tune | Phase::Measure) {
            continue;
        }
        if is_measured != (interval.phase == Phase::Measure) {
            (requests, nanos, is_measured) = (0, 0, true);
        }
        nanos += interval.to_ns - interval.from_ns;
        for part in interval.databases.iter().flat_map(|database| &database.series) {
            if matches!(part.series, Series::DatabaseRead | Series::DatabaseWrite) {
                requests += part.latency.count();
            }
        }
        if nanos >= seconds * 1_000_000_000 {
            rates.push((is_measured, requests as f64 * 1e9 / nanos as f64));
            (requests, nanos) = (0, 0);
        }
    }
    rates
}

/// The plan of a load of 120 IOPS with `sessions` sessions, warmed up as `test` says, on storage
/// that can do more than twice as much.
fn held(sessions: &str, test: &str) -> String {
    let workload = format!("threads = {sessions}\ntarget_iops = 120");
    PLAN.replace("threads = 2", &workload)
        .replace("\"2MiB\"", "\"16MiB\"")
        .replace("1500ms", "60s")
        .replace("warm_up_limit = \"2s\"", &format!("warm_up_limit = \"1min\"\n{test}"))
}

/// The highest rate over `seconds` before the measurement of a run and in it.
fn highest_rates(world: &World, seconds: u64) -> [f64; 2] {
    let (summary, events) = run_once(world, None);
    assert_eq!((issues(&events), summary), (Vec::new(), RunSummary::default()));
    let rates = rates(&events, seconds);
    [false, true].map(|is_measured| {
        let of_part = rates.iter().filter(|rate| rate.0 == is_measured);
        of_part.map(|rate| rate.1).fold(0.0, f64::max)
    })
}

#[test]
fn a_load_keeps_to_its_target_from_its_first_request() {
    for sessions in ["2", "\"auto\""] {
        // One batch more or less per database is a sixteenth of the requests in five seconds.
        let [before, measured] = highest_rates(&prepared(&held(sessions, "")), 5);
        assert!((60.0..132.0).contains(&before), "{sessions}: {before} IOPS");
        assert!((114.0..132.0).contains(&measured), "{sessions}: {measured} IOPS");
    }
}

/// The clean-up after a crash makes as many requests as the storage answers. The cache is too small
/// to answer them.
#[test]
fn a_load_keeps_to_its_target_after_a_run_that_was_killed() {
    let large = PLAN
        .replace("\"a\", \"b\"", "\"a\"")
        .replace("16MiB", "64MiB")
        .replace("[engine]\n", "[engine]\ncheckpoint_depth = \"64MiB\"\n")
        .replace("1500ms", "20s");
    let free = large.replace("threads = 2", "threads = 32");
    let latency = Nanos::from_millis(5)..Nanos::from_millis(10);
    let mut world = fill(World::with_latency(&free, latency));
    killed_after(&world, Nanos::from_secs(18));
    let held = large.replace("threads = 2", "threads = 4\ntarget_iops = 120");
    world.plan = plan::Plan::parse("test", &held).unwrap();
    let (summary, events) = run_once(&world, None);
    assert_eq!((issues(&events), summary), (Vec::new(), RunSummary::default()));
    let said = |event: &&Event| matches!(event, Event::Log(of) if of.text.contains("cleaned up"));
    assert_eq!(events.iter().filter(said).count(), 1);
    let (seconds, spans) = (rates(&events, 1), rates(&events, 5));
    assert!(seconds.iter().all(|(_, iops)| (60.0..200.0).contains(iops)), "{seconds:?}");
    let measured: Vec<f64> = spans.into_iter().filter(|of| of.0).map(|of| of.1).collect();
    assert!(measured.len() == 4 && measured.iter().all(|iops| *iops > 100.0), "{measured:?}");
}

#[test]
fn a_plan_may_have_it_warmed_up_at_full_speed() {
    let [before, measured] = highest_rates(&prepared(&held("\"auto\"", "warm_up = \"full\"")), 1);
    assert!(before > 600.0, "{before} IOPS");
    assert!(measured < 240.0, "{measured} IOPS");
}
