//! A load that is held at a target, in virtual time.

use record::{Event, Phase, Series};

use super::{PLAN, RunSummary, issues, prepared, run_once};

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
