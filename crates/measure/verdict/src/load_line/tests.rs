//! The position of the line for given steps.

use record::synthetic::Synthetic;
use record::{Phase, Series};

use super::{LoadStep, knee};
use crate::samples::Estimate;

fn step(asked: f64, reached: f64, read_ms: f64) -> LoadStep {
    LoadStep {
        asked_iops: Some(asked),
        iops: Estimate { mean: reached, half_width: None },
        holds: Some(read_ms <= 20.0 && reached >= asked * 0.95),
        readings: vec![("read-latency-average", read_ms, 20.0)],
        ..LoadStep::default()
    }
}

#[test]
fn the_line_lies_where_the_first_rule_reaches_its_limit() {
    let steps = [step(200.0, 200.0, 10.0), step(300.0, 300.0, 30.0), step(100.0, 100.0, 8.0)];
    let found = knee(&steps).unwrap();
    assert!((found.iops - 250.0).abs() < 1e-9, "{found:?}");
    assert!((found.held_iops - 200.0).abs() < 1e-9 && found.is_passed);
}

#[test]
fn a_load_that_was_not_reached_counts_as_what_was() {
    let steps = [step(900.0, 900.0, 2.0), step(1_200.0, 1_000.0, 4.0)];
    let found = knee(&steps).unwrap();
    assert!((found.iops - 1_000.0).abs() < 1e-9, "{found:?}");
}

#[test]
fn nothing_above_that_failed_is_no_knee_but_a_bound() {
    assert!(!knee(&[step(900.0, 900.0, 2.0)]).unwrap().is_passed);
    let unjudged = LoadStep { holds: None, ..step(950.0, 950.0, 90.0) };
    assert!(!knee(&[step(900.0, 900.0, 2.0), unjudged]).unwrap().is_passed);
    assert_eq!(knee(&[step(900.0, 900.0, 40.0)]), None);
}

#[test]
fn a_load_that_waits_for_the_storage_does_not_lift_the_line() {
    let free = LoadStep { asked_iops: None, holds: Some(true), ..step(0.0, 511.0, 17.0) };
    let steps = [free.clone(), step(440.0, 452.0, 16.0), step(459.0, 473.0, 26.0)];
    let found = knee(&steps).unwrap();
    assert!(found.is_passed && (452.0..473.0).contains(&found.iops), "{found:?}");
    let alone = knee(&[free, step(459.0, 473.0, 26.0)]).unwrap();
    assert!((alone.iops - 511.0).abs() < 1e-9 && !alone.is_passed, "{alone:?}");
}

#[test]
fn the_latencies_of_a_step_are_those_of_its_report() {
    let mut run =
        Synthetic { warm_intervals: 1, measure_intervals: 4, ..Synthetic::default() }.run();
    // An interval with few and slow requests hardly moves the mean of all.
    let measured = run.intervals.iter_mut().filter(|row| row.phase == Phase::Measure);
    let last = measured.last().unwrap();
    let reads = last.series.get_mut(&Series::DatabaseRead).unwrap();
    reads.latency.mean_ns *= 50.0;
    let step = LoadStep::of(&run, &crate::judge(&run));
    let sum = run.sum_of(Phase::Measure);
    let mean = sum.series[&Series::DatabaseRead].latency.mean_ns() / 1e6;
    assert!((step.read_ms.mean - mean).abs() < 1e-9, "{:?} {mean}", step.read_ms);
}
