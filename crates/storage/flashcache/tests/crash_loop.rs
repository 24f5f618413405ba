//! Runs several hundred lives that end with power failures, and checks every promise.

mod crash;

use crash::{Tally, run};

#[test]
fn random_lives_survive() {
    let mut all = Tally::default();
    for seed in 1..=300 {
        match run(seed) {
            Ok(tally) => all.add(&tally),
            Err(broken) => panic!("{broken}"),
        }
    }
    assert!(all.crashes > 800 && all.in_recovery > 100 && all.closed > 300, "{all:?}");
    assert!(all.warm_blocks > 10_000 && all.dropped_blocks > 1_000, "{all:?}");
    assert!(all.replayed > 100 && all.checkpoints > 1_000, "{all:?}");
    assert!(all.hits > 10_000 && all.evicted > 1_000 && all.moved > 100, "{all:?}");
    assert!(all.damaged > 50 && all.durable_units > 10_000, "{all:?}");
}
