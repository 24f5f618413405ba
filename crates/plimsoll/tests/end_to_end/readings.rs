//! Tests that read every database once: what they ask, what they report, and that they write
//! nothing into a database.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use testkit::fault_volume::FaultVolume;

use crate::mount::fault_volume;
use crate::scene::{PAGE_BYTES, Ran, Scene};
use crate::signals::send;

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
    let report = json(&scene);
    let outcome = |rule: &str| {
        let mut findings = report["findings"].as_array().unwrap().iter();
        let of_rule = findings.find(|finding| finding["rule"] == rule);
        of_rule.map_or("none", |finding| finding["outcome"].as_str().unwrap())
    };
    assert_eq!(report["findings"][1]["limit"], 512_000.0);
    // The test's own machine may be what was slow, and that takes the blame from the storage.
    if outcome("generator-limited") == "cannot_judge" {
        ran.expect_code(2).expect_out(&["Processor time of the load generator"]);
        return assert_eq!(outcome("read-rate"), "cannot_judge");
    }
    let said = ["FAIL", "Slowest database read", "Too slow to be read like this"];
    ran.expect_code(1).expect_out(&said);
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

/// A prepared database of 64 MiB on a volume with faults, which gives up after three seconds.
fn on_faulty_volume(name: &str) -> Option<(FaultVolume, Scene)> {
    let (volume, scene) = fault_volume(name)?;
    let plan = String::from_utf8(scene.read("plan.toml")).unwrap();
    let plan = plan.replace("16MiB", "64MiB").replace("interval", "give_up = \"3s\"\ninterval");
    scene.write("plan.toml", plan.as_bytes());
    scene.run(["prepare", "plan.toml"]).expect_code(0);
    Some((volume, scene))
}

/// Starts a test that reads, and waits until it does.
fn start_reading(scene: &Scene, test: &str, phase: &str) -> Child {
    let mut child = scene.start(["run", "plan.toml", "--test", test, "-o", "run", "-q"]);
    let journal = scene.path("run/record.jsonl");
    let mark = format!("\"phase\":\"{phase}\",\"edge\":\"begin\"");
    let begun = || std::fs::read_to_string(&journal).is_ok_and(|text| text.contains(&mark));
    while !begun() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

#[test]
fn a_read_that_is_never_answered_ends_a_test_that_reads_with_a_verdict() {
    for (test, phase) in [("backup", "backup"), ("checksum", "check")] {
        let Some((volume, scene)) = on_faulty_volume("stalled-read") else { return };
        volume.set(vec!["database read hang from=20".parse().unwrap()]);
        let child = start_reading(&scene, test, phase);
        let began = Instant::now();
        while !scene.path("run/report.json").exists() {
            assert!(began.elapsed() < Duration::from_secs(30), "{test}: no report");
            std::thread::sleep(Duration::from_millis(50));
        }
        volume.set(Vec::new());
        let ran = Ran::of(&child.wait_with_output().unwrap());
        ran.expect_code(1).expect_out(&["FAIL"]);
        let text = String::from_utf8(scene.read("run/report.txt")).unwrap();
        assert!(text.contains("no answer to the read of"), "{test}:\n{text}");
    }
}

#[test]
fn a_person_may_stop_a_test_that_reads_and_it_passes_nothing() {
    for (test, phase) in [("backup", "backup"), ("checksum", "check")] {
        let Some((volume, scene)) = on_faulty_volume("stopped-read") else { return };
        volume.set(vec!["database read delay=100ms from=4".parse().unwrap()]);
        let before = of_databases(&scene);
        let child = start_reading(&scene, test, phase);
        send("-INT", &child);
        let ran = Ran::of(&child.wait_with_output().unwrap());
        ran.expect_code(2).expect_out(&["CANNOT JUDGE"]);
        let text = String::from_utf8(scene.read("run/report.txt")).unwrap();
        assert!(text.contains("a person asked to stop"), "{test}:\n{text}");
        let report = json(&scene);
        for passes in ["backups", "checksums"] {
            assert!(report[passes].as_array().unwrap().is_empty(), "{test}: {report}");
        }
        assert!(before == of_databases(&scene), "{test}: nothing is written");
        volume.set(Vec::new());
        let _ = std::fs::remove_dir_all(scene.path("run"));
        scene.run(["run", "plan.toml", "--test", test, "-o", "run"]).expect_code(0);
    }
}
