//! Searches on storage with a known line.

use proptest::prelude::*;

use super::{LineAdvice, MOST_STEPS, TRIES, TriedLoad, loads_left, next_load};

/// Storage with a maximum rate of `most` that meets the limits up to `line`.
fn searched(most: f64, line: f64, is_judged: impl Fn(usize) -> bool) -> Vec<TriedLoad> {
    let mut tried = Vec::new();
    loop {
        let asked_iops = match next_load(&tried) {
            LineAdvice::End => return tried,
            LineAdvice::Free => None,
            LineAdvice::Hold(iops) => Some(iops),
        };
        let wanted = asked_iops.map_or(most, f64::from);
        let holds = is_judged(tried.len()).then_some(wanted <= line);
        tried.push(TriedLoad { asked_iops, iops: wanted.min(most), holds });
        assert!(tried.len() <= MOST_STEPS, "{tried:?}");
    }
}

#[test]
fn the_line_is_enclosed() {
    let tried = searched(1_000.0, 870.0, |_| true);
    let held = tried.iter().filter(|load| load.holds == Some(true));
    let held = held.filter_map(|load| load.asked_iops).max().unwrap();
    let failed = super::lowest_failed(&tried).unwrap();
    assert!(held <= 870 && failed > 870 && failed - held < 60, "{tried:?}");
}

#[test]
fn what_cannot_be_judged_is_repeated_and_then_left_out() {
    let tried = searched(1_000.0, 870.0, |step| step != 1);
    assert_eq!(tried[1].asked_iops, tried[2].asked_iops);
    let none = searched(1_000.0, 870.0, |_| false);
    assert_eq!(none.len(), 2 * TRIES, "not held, and the lowest rung");
}

#[test]
fn a_storage_that_is_judged_only_where_it_is_held_has_a_line() {
    let tried = searched(1_000.0, 870.0, |step| step >= TRIES);
    assert!(tried.iter().any(|load| load.holds == Some(true)), "{tried:?}");
    assert!(super::lowest_failed(&tried).is_some(), "{tried:?}");
}

#[test]
fn before_anything_was_tried_the_whole_search_is_left() {
    let (fewest, most) = loads_left(&[]);
    assert!((4..=6).contains(&fewest) && (8..=MOST_STEPS).contains(&most), "{fewest} to {most}");
    let ended = searched(1_000.0, 870.0, |_| true);
    assert_eq!(loads_left(&ended), (0, 0));
}

proptest! {
    /// At every moment of a search without repeats, the remaining loads match the prediction.
    #[test]
    fn the_loads_that_come_are_as_many_as_were_said(
        most in 40.0..1e6_f64,
        share in 0.1..1.0_f64,
    ) {
        let tried = searched(most, most * share, |_| true);
        let mut spans = Vec::new();
        for made in 0..=tried.len() {
            let (fewest, at_most) = loads_left(&tried[..made]);
            let came = tried.len() - made;
            prop_assert!(fewest <= came && came <= at_most + 1, "{came}: {fewest} to {at_most}");
            spans.push(at_most - fewest);
        }
        prop_assert!(spans.last() == Some(&0), "{spans:?}");
    }

    #[test]
    fn every_search_ends_and_encloses_the_line(
        most in 40.0..1e6_f64,
        share in 0.1..1.3_f64,
    ) {
        let line = most * share;
        let tried = searched(most, line, |_| true);
        let held = tried.iter().filter(|load| load.holds == Some(true));
        let held = held.filter_map(|load| load.asked_iops).max().unwrap();
        prop_assert!(f64::from(held) > line * 0.88 - 2.0, "{line}: {tried:?}");
    }
}
