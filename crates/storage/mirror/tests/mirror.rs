//! Runs two hosts under faults in virtual time, for several hundred seeds: every promise is kept,
//! and the specification, which is searched exhaustively, allows every change.

mod model;
mod world;

use model::{SMALL, explore};
use world::{Tally, run};

#[test]
fn random_worlds_keep_every_promise() {
    let specification = explore(&SMALL);
    assert_eq!(specification.fault, None, "after {} states", specification.states);
    assert!(specification.states > 70_000, "{}", specification.states);
    let mut all = Tally::default();
    for seed in 1..=200 {
        match run(seed, &specification) {
            Ok(tally) => all.add(&tally),
            Err(broken) => panic!("{broken}"),
        }
    }
    assert!(all.acknowledged > 300_000 && all.reads > 1_000_000, "{all:?}");
    assert!(all.takeovers > 1_000 && all.power_losses > 1_000 && all.pauses > 400, "{all:?}");
    assert!(all.cuts > 1_000 && all.registry_cuts > 1_000, "{all:?}");
    assert!(all.flash_failures > 300 && all.hand_overs > 400 && all.drains > 100, "{all:?}");
    assert!(all.steps_in_write_back > 1_000_000 && all.steps_in_resync > 50_000, "{all:?}");
    assert!(all.faults_in_resync > 100 && all.faults_in_hand_over > 200, "{all:?}");
    assert!(all.specified_changes > 1_000 && all.fetched > 100_000, "{all:?}");
    assert!(all.destaged > 100_000 && all.refused_by_fence > 50, "{all:?}");
}

#[test]
fn histories_that_once_broke_a_promise_keep_it() {
    let specification = explore(&SMALL);
    // Seeds that have exposed errors. 3505: a peer's longer tail surfaced after a read. 8416: a new
    // owner declared the store complete after the entries it knew to be committed, before those it
    // had inherited. 3497: a copy counted without entries that were on their way to the backing
    // store.
    for seed in [3497, 3505, 8416] {
        if let Err(broken) = run(seed, &specification) {
            panic!("{broken}");
        }
    }
}
