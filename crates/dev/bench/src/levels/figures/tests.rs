//! Tests of `figures`.

use super::{ComparedKind, KindFigures};

fn kind(count: f64, engine_ms: f64, operations_ms: f64) -> ComparedKind {
    let figures = |average_ms| KindFigures { count, average_ms, p99_ms: average_ms };
    ComparedKind { name: "reads", engine: figures(engine_ms), operations: figures(operations_ms) }
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
