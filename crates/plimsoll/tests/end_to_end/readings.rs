//! Tests that read every database once: what they ask, what they report, and that they write
//! nothing into a database.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use serde_json::Value;

use crate::scene::{PAGE_BYTES, Scene};

/// What must be the same before and after: everything but the folder of the run.
fn of_databases(scene: &Scene) -> BTreeMap<PathBuf, (SystemTime, Vec<u8>)> {
    let mut all = scene.snapshot();
    let run = scene.path("run");
    all.retain(|path, _| !path.starts_with(&run));
    all
}

fn json(scene: &Scene) -> Value {
    serde_json::from_slice(&scene.read("run/report.json")).unwrap()
}

/// The reads of database 0 in the phase object `phase`.
fn reads<'a>(report: &'a Value, phase: &str, series: &str) -> &'a Value {
    &report["databases"][0][phase]["series"][series]
}

#[test]
fn a_backup_reads_every_database_and_writes_none() {
    let scene = Scene::prepared("backup");
    let before = of_databases(&scene);
    let ran = scene.run(["run", "plan.toml", "--test", "backup", "-o", "run"]);
    ran.expect_code(0).expect_out(&[
        "PASS",
        "MiB/s",
        "Read 2 databases to the end",
        "--test performance",
    ]);
    assert!(before == of_databases(&scene), "a backup writes nothing");
    let report = json(&scene);
    assert_eq!(report["run"]["test"], "backup");
    assert_eq!(report["backups"].as_array().unwrap().len(), 2);
    assert!(report["backups"][1]["seen_pages"].as_u64().unwrap() > 500);
    assert!(report["checksums"].as_array().unwrap().is_empty());
    let of_backup = reads(&report, "backup", "backup_read");
    let size = of_backup["average_bytes"].as_f64().unwrap();
    assert!((200_000.0..=262_144.0).contains(&size), "{of_backup}");
    for form in ["run/report.txt", "run/report.html"] {
        shows_a_backup(&scene, form);
    }
}

fn shows_a_backup(scene: &Scene, form: &str) {
    let text = String::from_utf8(scene.read(form)).unwrap();
    for section in ["Backup Statistics", "Performance (of backup)"] {
        assert!(text.contains(section), "{form}: {section}");
    }
    assert!(!text.contains("Transactional I/O Performance"), "{form}");
}

#[test]
fn a_checksum_test_reads_in_small_pieces_and_names_a_bad_page() {
    let scene = Scene::prepared("checksum-test");
    let whole = ["run", "plan.toml", "--test", "checksum", "-o", "run"];
    let before = of_databases(&scene);
    scene.run(whole).expect_code(0).expect_out(&["PASS", "MiB/s"]);
    assert!(before == of_databases(&scene), "a checksum test writes nothing");
    let report = json(&scene);
    let of_pass = reads(&report, "check", "checksum_read");
    let size = of_pass["average_bytes"].as_f64().unwrap();
    assert!((60_000.0..=65_536.0).contains(&size), "{of_pass}");
}

#[test]
fn a_page_that_is_damaged_fails_a_test_that_reads_it() {
    let scene = Scene::prepared("damaged-read");
    scene.change("Plimsoll002.edb", |bytes| {
        bytes[40 * PAGE_BYTES + 900] ^= 0x55;
    });
    for test in ["checksum", "backup"] {
        let _ = std::fs::remove_dir_all(scene.path("run"));
        let ran = scene.run(["run", "plan.toml", "--test", test, "-o", "run"]);
        ran.expect_code(1).expect_out(&["FAIL", "Damaged pages", "Plimsoll002"]);
        let text = String::from_utf8(scene.read("run/report.txt")).unwrap();
        assert!(text.contains("page 39"), "{test}:\n{text}");
    }
}

#[test]
fn the_plan_says_how_fast_a_database_must_be_read() {
    let scene = Scene::prepared("read-rate");
    let mut plan = String::from_utf8(scene.read("plan.toml")).unwrap();
    plan.push_str("[limits]\nread_rate = \"500GiB\"\n");
    scene.write("plan.toml", plan.as_bytes());
    let ran = scene.run(["run", "plan.toml", "--test", "backup", "-o", "run"]);
    ran.expect_code(1).expect_out(&[
        "FAIL",
        "Slowest database read",
        "Too slow to be read like this",
    ]);
}

#[test]
fn what_is_not_whole_or_not_meant_is_refused() {
    let scene = Scene::prepared("unclean");
    let ran = scene.run(["run", "plan.toml", "--test", "backup", "--duration", "5s"]);
    ran.expect_refusal(&["--duration", "backup", "leave it out"]);
    let ran = scene.run(["run", "plan.toml", "--test", "tape"]);
    ran.expect_refusal(&["tape", "checksum"]);
    scene.kill_run(&["run", "plan.toml"]);
    let before = of_databases(&scene);
    let ran = scene.run(["run", "plan.toml", "--test", "checksum", "-o", "run"]);
    ran.expect_refusal(&["was not closed properly", "plimsoll recover"]);
    assert!(before == of_databases(&scene), "a refusal writes nothing");
}
