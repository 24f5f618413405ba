//! Databases with unequal shares of the load, in virtual time.

use record::{Event, Phase, Series};

use super::{PLAN, RunSummary, issues, prepared, run_once};

/// Database reads and writes of two databases with these weights during the measurement.
fn measured(workload: &str) -> [f64; 2] {
    let text = PLAN
        .replace("size", "weights = [1, 3]\nsize")
        .replace("threads = 2", workload)
        .replace("1500ms", "10s");
    let (summary, events) = run_once(&prepared(&text), None);
    assert_eq!((issues(&events), summary), (Vec::new(), RunSummary::default()));
    let mut requests = [0; 2];
    for event in &events {
        let Event::Interval(interval) = event else {
            continue;
        };
        for database in interval.databases.iter().filter(|_| interval.phase == Phase::Measure) {
            let sum = &mut requests[database.index as usize];
            *sum += database.count(Series::DatabaseRead) + database.count(Series::DatabaseWrite);
        }
    }
    requests.map(|requests| requests as f64 / 10.0)
}

#[test]
fn a_held_load_is_dealt_out_by_weight() {
    let [light, heavy] = measured("threads = 4\ntarget_iops = 400");
    assert!((95.0..107.0).contains(&light), "{light} of 100");
    assert!((290.0..315.0).contains(&heavy), "{heavy} of 300");
}

#[test]
fn sessions_are_dealt_out_by_weight() {
    // Two sessions for the light one and six for the heavy one. The storage is never busy, so load
    // follows sessions.
    let [light, heavy] = measured("threads = 4");
    assert!((2.3..3.4).contains(&(heavy / light)), "{heavy} by {light}");
}
