//! Paced sessions on storage of constant speed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use proptest::prelude::*;
use units::Nanos;

use super::Pacer;

const SECOND: Nanos = Nanos::from_secs(1);

/// Requests of one batch here.
const BATCH_REQUESTS: u64 = 36;

/// Result of paced sessions.
struct PacedLoad {
    /// Requests, by the second.
    by_second: Vec<u64>,
    /// Maximum number of batches under way at one time.
    most_under_way: u32,
}

impl PacedLoad {
    fn requests(&self) -> u64 {
        self.by_second.iter().sum()
    }
}

/// Simulates `sessions` at `target_iops` for the given seconds; each batch takes `service`, with
/// its requests spread over that time.
fn held(target_iops: f64, sessions: u32, service: Nanos, seconds: usize) -> PacedLoad {
    let mut pacer = Pacer::new(target_iops, sessions, 0, Nanos::ZERO);
    let mut requests = 0;
    let mut held = PacedLoad { by_second: vec![0; seconds], most_under_way: 0 };
    let mut under_way = 0;
    // Next start of each session, and the remainder of its batch.
    let mut states = BinaryHeap::from(vec![Reverse((Nanos::ZERO, 0)); sessions as usize]);
    loop {
        held.most_under_way = held.most_under_way.max(under_way);
        let mut first = states.peek_mut().unwrap();
        let Reverse((at, left)) = &mut *first;
        let Some(second) = held.by_second.get_mut((at.0 / SECOND.0) as usize) else {
            return held;
        };
        if *left > 0 {
            (*second, requests, *left) = (*second + 1, requests + 1, *left - 1);
            *at += Nanos(service.0 / BATCH_REQUESTS);
            under_way -= u32::from(*left == 0);
            continue;
        }
        let due = pacer.next_batch(requests, under_way, *at);
        if due <= *at {
            *left = BATCH_REQUESTS;
            under_way += 1;
        } else {
            // A session asks again after at most 50 ms.
            *at = due.min(*at + Nanos::from_millis(50));
        }
    }
}

#[test]
fn a_fast_storage_is_held_just_above_the_target() {
    let requests = held(300.0, 1, Nanos::from_millis(1), 100).requests();
    assert!((30_100..30_300).contains(&requests), "{requests}");
}

#[test]
fn a_slow_storage_is_not_held_at_all() {
    let requests = held(300.0, 1, Nanos::from_secs(1), 101).requests();
    assert!((3_590..=3_637).contains(&requests), "{requests}");
}

#[test]
fn many_sessions_begin_at_the_pace() {
    let requests = held(1_000.0, 20, Nanos::from_millis(200), 10).requests();
    assert!((9_800..=10_200).contains(&requests), "{requests} in ten seconds");
}

#[test]
fn sessions_that_are_too_many_for_a_low_target_do_not_begin_together() {
    let held = held(50.0, 64, Nanos::from_millis(20), 300);
    let requests = held.requests();
    assert!((15_000..15_150).contains(&requests), "{requests} in 300 seconds");
    assert_eq!(held.most_under_way, 1);
    let most = held.by_second.iter().max();
    assert!(most <= Some(&(2 * BATCH_REQUESTS)), "{most:?} in a second");
}

proptest! {
    #[test]
    fn sessions_that_can_reach_a_target_do_and_no_more_of_them_than_it_takes(
        target_iops in 20.0..5_000.0_f64,
        sessions in 1_u32..64,
        service_milliseconds in 2_u64..3_000,
    ) {
        let service = Nanos::from_millis(service_milliseconds);
        let able = f64::from(sessions) * BATCH_REQUESTS as f64 / service.as_secs_f64();
        let held = held(target_iops, sessions, service, 200);
        let later = held.by_second[100..].iter().sum::<u64>() as f64 / 100.0;
        let due = target_iops.min(able);
        let of_two_batches = 2.0 * BATCH_REQUESTS as f64 / 100.0;
        prop_assert!(later >= due * 0.97 - of_two_batches, "{later} of {due}");
        prop_assert!(later <= due * 1.02 + of_two_batches, "{later} of {due}");
        let needed = due / BATCH_REQUESTS as f64 * service.as_secs_f64();
        prop_assert!(f64::from(held.most_under_way) <= 2.0 * needed + 2.0);
    }
}

#[test]
fn a_stall_is_caught_up_for_a_second_and_no_more() {
    let mut pacer = Pacer::new(1_000.0, 1, 0, Nanos::ZERO);
    let stalled = Nanos(SECOND.0 * 60);
    let (mut now, mut requests) = (stalled, 0);
    while now < stalled + Nanos(SECOND.0 * 10) {
        now = now.max(pacer.next_batch(requests, 0, now)) + Nanos(1);
        requests += BATCH_REQUESTS;
    }
    assert!((11_000..11_150).contains(&requests), "{requests}");
}

#[test]
fn a_load_that_catches_up_does_not_flood() {
    let mut pacer = Pacer::new(1_000.0, 1, 0, Nanos::ZERO);
    let mut now = Nanos(SECOND.0 / 2);
    let (mut requests, mut caught_up_at) = (0, None);
    for _ in 0..200 {
        now = now.max(pacer.next_batch(requests, 0, now)) + Nanos(1);
        requests += BATCH_REQUESTS;
        let pace = now.0 as f64 * 1_005.0 / 1e9;
        if caught_up_at.is_none() && requests as f64 >= pace {
            caught_up_at = Some(now);
        }
    }
    // Half a second of work, done at a quarter above the pace.
    let caught_up_at = caught_up_at.unwrap();
    assert!((2.2..2.6).contains(&(caught_up_at.0 as f64 / 1e9)), "{caught_up_at:?}");
}
