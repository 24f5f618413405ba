//! Tests of `figures`.

use super::{ComparedKind, ComparedTally, KindFigures, LevelFigures, compared};

fn kind(count: f64, engine_ms: f64, operations_ms: f64) -> ComparedKind {
    let figures = |average_ms| KindFigures { count, average_ms, p99_ms: average_ms };
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
    assert!(kind(900.0, 10.0, 11.9).is_near());
    assert!(!kind(900.0, 10.0, 12.0).is_near());
}

/// 3 standard errors of a 99th percentile: 300 * sqrt(2 / 20,000) * 10 / 4.605 = 6.5 %.
#[test]
fn a_percentile_is_near_or_apart_on_its_own() {
    let of = |p99_ms| {
        let mut kind = kind(20_000.0, 10.0, 10.0);
        (kind.engine.p99_ms, kind.operations.p99_ms) = (40.0, p99_ms);
        kind
    };
    assert!(of(44.5).is_near());
    assert!(of(44.8).is_mean_near() && !of(44.8).is_near());
    assert!(of(44.8).to_string().contains("(p99 40.00 ms +12.0 % APART)"));
    let mut tally = ComparedTally::default();
    tally.add(&[of(44.5)]);
    tally.add(&[of(44.8)]);
    let text = tally.to_string();
    assert!(text.contains("reads: of 2 plans 2 means are near"), "{text}");
    assert!(text.contains("and 1 99th percentiles"), "{text}");
}

/// Medians over three seeds are compared, and the spread between the engine's seeds is allowed.
#[test]
fn seeds_that_differ_widen_the_tolerance() {
    let seeds = |p99s: [f64; 3]| {
        let of = |p99_ms| Some(KindFigures { count: 1e9, average_ms: 1.0, p99_ms });
        p99s.map(|p99_ms| LevelFigures([of(p99_ms), None, None]))
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
