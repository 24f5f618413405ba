//! Tests of `figures`.

use record::Histogram;

use super::{ComparedKind, ComparedTally, KindFigures, LevelFigures, compared};

/// Figures whose 99th percentile is its mean, and certain.
fn figures(count: f64, ms: f64) -> KindFigures {
    KindFigures { count, average_ms: ms, p99_ms: ms, p99_range_ms: (ms, ms) }
}

fn kind(count: f64, engine_ms: f64, operations_ms: f64) -> ComparedKind {
    let figures = |average_ms| figures(count, average_ms);
    ComparedKind {
        name: "reads",
        engine: figures(engine_ms),
        operations: figures(operations_ms),
        spread_percent: [0.0; 2],
    }
}

#[test]
fn means_are_near_or_apart() {
    assert!(kind(1e9, 10.0, 10.49).is_near());
    assert!(!kind(1e9, 10.0, 10.51).is_near());
    assert!(!kind(1e9, 10.0, 9.49).is_near());
    assert!(kind(1e9, 10.0, 10.51).to_string().contains("APART"));
}

#[test]
fn few_requests_may_be_further_apart() {
    // 300 / sqrt(450) = 14 %.
    assert!(kind(900.0, 10.0, 11.9).is_mean_near());
    assert!(!kind(900.0, 10.0, 12.0).is_mean_near());
}

/// Latencies of which `slow` take `slow_ns` and the others 0.1 ms.
fn step(count: u64, slow: u64, slow_ns: u64) -> KindFigures {
    let mut latencies = Histogram::new();
    (slow..count).for_each(|_| latencies.record(100_000));
    (0..slow).for_each(|_| latencies.record(slow_ns));
    KindFigures::of(&latencies).expect("latencies")
}

fn both(engine: KindFigures, operations: KindFigures) -> ComparedKind {
    ComparedKind { name: "log", engine, operations, spread_percent: [0.0; 2] }
}

/// Of 10,000 requests the share above the 99th percentile is 1 % give or take 0.1, three times that
/// divided by the root of two for each level.
#[test]
fn a_percentile_at_a_step_is_near_if_chance_could_put_it_on_either_side() {
    let (above, below) = (step(10_000, 110, 500_000), step(10_000, 90, 500_000));
    assert!((above.p99_ms - 0.5).abs() < 0.001 && (below.p99_ms - 0.1).abs() < 0.001);
    assert!(both(above, below).is_p99_near());
    // Three times as many slow ones are no chance, and neither are slower ones.
    assert!(!both(step(10_000, 160, 500_000), step(10_000, 50, 500_000)).is_p99_near());
    assert!(!both(step(10_000, 300, 500_000), step(10_000, 300, 530_000)).is_p99_near());
    assert!(both(step(10_000, 300, 500_000), step(10_000, 300, 520_000)).is_p99_near());
    // Of a hundred times as many the share is ten times as certain.
    assert!(!both(step(1_000_000, 11_000, 500_000), step(1_000_000, 9_000, 500_000)).is_p99_near());
}

#[test]
fn a_percentile_is_near_or_apart_on_its_own() {
    let of = |p99_ms| {
        let mut kind = kind(20_000.0, 10.0, 10.0);
        (kind.engine.p99_ms, kind.engine.p99_range_ms) = (40.0, (39.0, 41.0));
        (kind.operations.p99_ms, kind.operations.p99_range_ms) = (p99_ms, (p99_ms - 1.0, 50.0));
        kind
    };
    assert!(of(44.0).is_near(), "43.0 of 43.05");
    assert!(of(44.8).is_mean_near() && !of(44.8).is_near());
    assert!(of(44.8).to_string().contains("(p99 40.00 ms +12.0 % APART)"));
    let mut tally = ComparedTally::default();
    tally.add(&[of(44.0)]);
    tally.add(&[of(44.8)]);
    let text = tally.to_string();
    assert!(text.contains("reads: of 2 plans 2 means are near"), "{text}");
    assert!(text.contains("and 1 99th percentiles"), "{text}");
}

/// Medians over three seeds are compared, and the spread between the engine's seeds is allowed.
#[test]
fn seeds_that_differ_widen_the_tolerance() {
    let seeds = |p99s: [f64; 3]| {
        p99s.map(|p99_ms| {
            let kind = KindFigures { average_ms: 1.0, ..figures(1e9, p99_ms) };
            LevelFigures([Some(kind), None, None])
        })
    };
    let near = |engine, operations| {
        let rows = compared(&seeds(engine), &seeds(operations));
        assert_eq!(rows.len(), 1, "no kind that a level lacks");
        rows[0].is_near()
    };
    assert!(near([1.0, 1.0, 1.0], [9.0, 1.04, 1.0]), "by the median");
    assert!(!near([1.0, 1.0, 1.0], [1.1, 1.1, 1.1]));
    assert!(near([1.0, 1.2, 0.9], [1.1, 1.1, 1.1]), "15 % and 5 %");
    assert!(!near([1.0, 1.2, 0.9], [1.21, 1.21, 1.21]));
}
