//! Tests of `bounds`.

use simdisk::ArrayDescription;

use super::{bounds_ms, shipped};

fn bounds(text: &str) -> (f64, f64) {
    bounds_ms(&ArrayDescription::parse("array", text, &[]).expect("an array that ships"))
}

/// At least 0.8 ms and half of 8.33 ms; at most twice 8.5 ms, half of 8.33 ms and a page; plus the
/// path.
#[test]
fn a_disk_turns_half_a_revolution_after_a_seek() {
    let (least, most) = bounds(include_str!("../../../../../../arrays/disk-7200.toml"));
    assert!((4.96..5.06).contains(&least), "{least}");
    assert!((26.0..27.2).contains(&most), "{most}");
}

#[test]
fn every_array_that_ships_has_a_bound_above_nothing() {
    let all = shipped().expect("arrays that parse");
    assert!(all.len() >= 10, "{}", all.len());
    for array in all {
        let (least, most) = bounds_ms(&array.description);
        assert!(least > 0.0 && most > least, "{}: {least} to {most}", array.name);
    }
}
