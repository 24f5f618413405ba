//! Databases that are to be larger, and the volumes that they need.

use verdict::judge;

use super::cases::crowded_and_busy;
use crate::next::passed::larger_databases;
use crate::next::steps;
use crate::tests::passing;

/// The databases had just filled the volume.
#[test]
fn larger_databases_that_do_not_fit_need_larger_volumes() {
    let mut run = passing();
    let said = larger_databases(&run, &judge(&run)).to_string();
    assert!(said.contains("disks and arrays. Set `size` in the plan"), "{said}");
    let size = run.start.databases[0].initial_bytes / 100;
    for facts in &mut run.start.databases {
        facts.initial_bytes = size;
        facts.volume.free_bytes = 0;
        facts.volume.mount = "/mnt/a".to_owned();
    }
    let said = larger_databases(&run, &judge(&run)).to_string();
    assert!(said.contains("disks and arrays. Take volumes of "), "{said}");
    assert!(said.contains(" or more in all, and set `size` in the plan"), "{said}");
}

/// With a larger cache the same load would keep the processors busy again.
#[test]
fn a_larger_cache_comes_with_less_load_if_that_is_asked_too() {
    let run = crowded_and_busy();
    let steps = steps(&run, &judge(&run));
    let cached = steps.iter().find(|of| of.contains("set `cache_maximum`")).expect("a step");
    assert!(cached.contains("Use a faster machine, or make less load"), "{steps:?}");
    assert_eq!(steps.concat().matches("--target-iops").count(), 1, "{steps:?}");
}
