//! Two hosts under faults in virtual time, some hundred seeds: every promise is kept.

mod world;

use world::{Tally, run};

#[test]
fn random_worlds_keep_every_promise() {
    let mut all = Tally::default();
    for seed in 1..=100 {
        match run(seed) {
            Ok(tally) => all.add(&tally),
            Err(broken) => panic!("{broken}"),
        }
    }
    println!("{all:#?}");
}
