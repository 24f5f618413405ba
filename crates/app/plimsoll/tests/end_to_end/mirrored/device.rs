//! The device behind a volume after both copies were destroyed, without a file system: a database
//! on it recovers.

use std::fs;
use std::thread;
use std::time::Duration;

use super::{HOSTS, Pair};

/// Enough for two small databases and their logs.
const DISK_BYTES: u64 = 256 << 20;

#[test]
fn a_database_behind_two_destroyed_copies_recovers() {
    let Some(mut pair) = Pair::of_size("mirror-device", true, DISK_BYTES) else { return };
    pair.start(0);
    pair.start(1);
    let export = pair.address(pair.wait_for_both());
    pair.scene.write_plan(&export);
    pair.scene.load_fully();
    pair.scene.run(["format", &export]).expect_code(0);
    pair.scene.run(["prepare", "plan.toml"]).expect_code(0);
    let mut run = pair.scene.start_load(&["run", "plan.toml"]);
    thread::sleep(Duration::from_millis(500));
    // What only flash has is lost with it.
    pair.kill(0);
    pair.kill(1);
    run.kill().unwrap();
    run.wait().unwrap();
    for host in HOSTS {
        fs::remove_file(pair.scene.path(format!("{host}.flash"))).unwrap();
    }
    for file in ["raw:disk.img/Plimsoll001.edb", "raw:disk.img/Plimsoll002.edb"] {
        pair.scene.run(["recover", file]).expect_code(0);
        pair.scene.run(["check", file]).expect_code(0).expect_out(&[", 0 bad"]);
    }
}
