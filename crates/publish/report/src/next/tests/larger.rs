//! Databases that are to be larger, and the volumes that they need.

use verdict::judge;

use crate::next::passed::larger_databases;
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
