//! Storage that acknowledges what it does not do, under the real program: a volume with faults,
//! where this user may mount one.

use testkit::fault_volume::FaultVolume;

use crate::mount::fault_volume;
use crate::scene::{Ran, Scene};

/// A scene whose one database and log lie on a volume with faults.
struct LyingDisk {
    // Before the scene: it must be unmounted before its folder goes.
    volume: FaultVolume,
    scene: Scene,
}

impl LyingDisk {
    /// A prepared database; none where no such volume can be mounted.
    fn prepared(name: &str) -> Option<Self> {
        let (volume, scene) = fault_volume(name)?;
        scene.run(["prepare", "plan.toml"]).expect_code(0);
        Some(Self { volume, scene })
    }

    /// A run on storage with a fault; its issues, one a line.
    fn run(&self, rule: &str) -> (Ran, String) {
        self.volume.set(vec![rule.parse().unwrap()]);
        let ran = self.scene.run(["run", "plan.toml", "-o", "out"]);
        self.volume.set(Vec::new());
        let journal = String::from_utf8(self.scene.read("out/record.jsonl")).unwrap();
        let issues = journal.lines().filter(|line| line.contains("\"issue\""));
        (ran, issues.collect::<Vec<_>>().join("\n"))
    }
}

/// A run on storage with that fault fails, and an issue holds every one of `parts`.
#[track_caller]
fn expect_failure(name: &str, rule: &str, parts: &[&str]) {
    let Some(disk) = LyingDisk::prepared(name) else {
        return;
    };
    let (ran, issues) = disk.run(rule);
    assert!(disk.volume.injected() > 0, "the fault never came");
    ran.expect_code(1);
    let names_all = |issue: &str| parts.iter().all(|part| issue.contains(part));
    assert!(issues.lines().any(names_all), "{parts:?} not in:\n{issues}");
    ran.expect_out(&["FAIL"]);
}

#[test]
fn a_sound_disk_behind_the_same_volume_is_not_accused() {
    let Some(disk) = LyingDisk::prepared("lies-none") else {
        return;
    };
    let (ran, issues) = disk.run("log write drop from=1000000");
    assert_eq!(disk.volume.injected(), 0);
    assert_eq!(issues, "");
    assert!(disk.volume.flushes() > 100, "every log write is flushed");
    let record = String::from_utf8(disk.scene.read("out/record.jsonl")).unwrap();
    assert!(record.contains("write and fdatasync"), "{record}");
    // Two seconds are too short for a verdict.
    ran.expect_code(2).expect_out(&["CANNOT JUDGE", "at least 30 s"]);
}

#[test]
fn log_writes_that_are_dropped_fail_the_run_and_name_the_log() {
    expect_failure(
        "lies-log-drop",
        "log write drop from=10",
        &["E00", ".plg", "log generation", "lost_flush", "offset_bytes"],
    );
}

#[test]
fn log_writes_with_a_flipped_bit_fail_the_run() {
    let rule = "log write flip from=10";
    expect_failure("lies-log-flip", rule, &[".plg", "segment"]);
}

#[test]
fn one_dropped_log_write_among_all_is_found() {
    // This log write follows the formatting of the first file and precedes that of the second.
    // Dropping a formatting write would lose nothing, because it is never read.
    let rule = "log write drop from=20 requests=1";
    expect_failure("lies-log-one", rule, &[".plg", "log generation"]);
}

#[test]
fn header_writes_that_are_dropped_fail_the_run() {
    let parts = ["Plimsoll001.edb", "copy of the header"];
    expect_failure("lies-header", "header write drop from=2", &parts);
}

#[test]
fn a_dropped_checkpoint_fails_the_run() {
    let rule = "checkpoint write drop from=2";
    expect_failure("lies-checkpoint", rule, &["E00.pck", "the checkpoint"]);
}

#[test]
fn a_dropped_flush_map_fails_the_run() {
    let parts = ["Plimsoll001.jfm", "the flush map"];
    expect_failure("lies-map", "flush-map write drop", &parts);
}

#[test]
fn database_pages_that_are_dropped_fail_the_run() {
    let rule = "database write drop from=5";
    expect_failure("lies-pages", rule, &["Plimsoll001.edb", "lost flush"]);
}

#[test]
fn reads_with_a_flipped_bit_fail_the_run() {
    let rule = "database read flip from=50";
    expect_failure("lies-reads", rule, &["Plimsoll001.edb"]);
}

/// A program that is killed on such a disk leaves a log that recovery needs and cannot use: the
/// storage is at fault, not the person who asks for recovery.
#[test]
fn recovery_from_a_log_with_lost_writes_fails_the_storage() {
    let Some(disk) = LyingDisk::prepared("lies-recover") else {
        return;
    };
    let plan = String::from_utf8(disk.scene.read("plan.toml")).unwrap();
    let long = plan.replace("\"2s\"", "\"60s\"");
    disk.scene.write("plan.toml", long.as_bytes());
    // This log write follows the formatting of the first file and precedes that of the second.
    // Dropping a formatting write would lose nothing, because it is never read.
    let rule = "log write drop from=20 requests=1";
    disk.volume.set(vec![rule.parse().unwrap()]);
    let mut child = disk.scene.start(["run", "plan.toml", "-o", "out"]);
    while disk.volume.injected() == 0 {
        std::thread::yield_now();
    }
    // Acknowledged writes behind the lost one show that it was no torn end.
    std::thread::sleep(std::time::Duration::from_millis(300));
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = disk.scene.run(["recover", "disk/Plimsoll001.edb"]);
    ran.expect_code(1).expect_err(&[".plg", "damaged"]);
}
