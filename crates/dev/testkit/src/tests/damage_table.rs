//! All damage is found and classified correctly; `cargo xtask damage` does the same 10,000 times.

use crate::damage::{DamageOptions, run};
use units::Seed;

#[test]
fn every_injected_damage_is_found_and_named() {
    let times = 200;
    let seed = Seed(1);
    let table = run(&DamageOptions { seed, times }).expect("a database at work");
    assert!(table.is_clean(), "{table}");
    assert!(table.rows.iter().all(|row| row.injected == times), "{table}");
    assert_eq!(table.sound, times);
}
