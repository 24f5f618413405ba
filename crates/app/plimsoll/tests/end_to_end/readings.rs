//! Tests that read every database once: what they ask, what they report, and that they write
//! nothing into a database.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use testkit::fault_volume::FaultVolume;

use crate::mount::{EXT4, Mount, fault_volume};
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
    // The test's own machine may have been slow, and that exonerates the storage.
    if outcome("read-rate") == "cannot_judge" {
        ran.expect_code(2).expect_out(&["Inconclusive"]);
        return;
    }
    let said = ["FAIL", "Slowest database read", "Too slow to be read like this"];
    ran.expect_code(1).expect_out(&said);
}

#[test]
fn what_is_not_whole_or_not_meant_is_refused() {
    let scene = Scene::prepared("unclean");
    let ran = scene.run(["run", "plan.toml", "--test", "backup", "--duration", "5s"]);
    ran.expect_code(64).expect_err(&["--duration", "backup", "leave it out"]);
    let ran = scene.run(["run", "plan.toml", "--test", "tape"]);
    ran.expect_wrong_usage(&["tape", "checksum"]);
    scene.kill_run(&["run", "plan.toml"]);
    let before = of_databases(&scene);
    let ran = scene.run(["run", "plan.toml", "--test", "checksum", "-o", "run"]);
    ran.expect_refusal(&["was not closed properly", "plimsoll recover"]);
    assert!(before == of_databases(&scene), "a refusal writes nothing");
}

/// A prepared scene whose backups are copied to `copies`.
fn copying(name: &str) -> Scene {
    let scene = Scene::prepared(name);
    std::fs::create_dir(scene.path("copies")).unwrap();
    let plan = String::from_utf8(scene.read("plan.toml")).unwrap();
    let copies = format!(
        "[databases]\nbackup_folders = [{:?}]\n",
        scene.path("copies").display().to_string()
    );
    scene.write("plan.toml", plan.replace("[databases]\n", &copies).as_bytes());
    scene
}

const BACKUP: [&str; 6] = ["run", "plan.toml", "--test", "backup", "-o", "run"];

#[test]
fn a_backup_copies_what_it_reads_and_reads_it_back() {
    let scene = copying("backup-copy");
    for again in [false, true] {
        if again {
            std::fs::remove_dir_all(scene.path("run")).unwrap();
        }
        let ran = scene.run(BACKUP);
        ran.expect_code(0).expect_out(&["PASS", "as copies", "read them back whole"]);
        for file in ["Plimsoll001.edb", "Plimsoll002.edb"] {
            assert!(scene.read(file) == scene.read(format!("copies/{file}")), "{file}");
        }
    }
    let report = json(&scene);
    assert_eq!(report["backup_copies"].as_array().unwrap().len(), 2);
    assert_eq!(report["copy_checksums"][0]["seen_pages"], report["backups"][0]["seen_pages"]);
    let writes = reads(&report, "backup", "backup_copy_write");
    assert!(writes["average_bytes"].as_f64().unwrap() > 200_000.0, "{writes}");
    assert!(reads(&report, "check", "backup_copy_read")["count"].as_u64().unwrap() > 1);
    assert!(reads(&report, "backup", "database_write").is_null(), "a database is only read");
    let text = String::from_utf8(scene.read("run/report.txt")).unwrap();
    for said in ["Copies of the Backup", "copies/Plimsoll002.edb", "of reading the copies back"] {
        assert!(text.contains(said), "{said}:\n{text}");
    }
    scene.run(["check", "copies/Plimsoll001.edb"]).expect_code(0);
}

#[test]
fn a_copy_takes_the_place_of_nothing_but_an_earlier_one() {
    let scene = copying("backup-foreign");
    scene.write("copies/Plimsoll002.edb", b"of another program");
    let before = scene.snapshot();
    let ran = scene.run(BACKUP);
    ran.expect_refusal(&["Plimsoll002.edb", "is no copy", "nothing was written"]);
    assert!(before == scene.snapshot(), "nothing is written before all places are proved");
    std::fs::remove_file(scene.path("copies/Plimsoll002.edb")).unwrap();
    scene.run(BACKUP).expect_code(0);
    // Of other databases of the same names.
    std::fs::remove_dir_all(scene.path("run")).unwrap();
    let other = copying("backup-other");
    let plan = String::from_utf8(other.read("plan.toml")).unwrap();
    let [own, theirs] =
        [other.path("copies"), scene.path("copies")].map(|path| format!("{path:?}"));
    other.write("plan.toml", plan.replace(&own, &theirs).as_bytes());
    let before = scene.snapshot();
    other.run(BACKUP).expect_refusal(&["is the place of copies of", "Name another folder"]);
    assert!(before == scene.snapshot());
    // A copy that is another database by now, though the file beside it says that it is one.
    let database = scene.read("Plimsoll001.edb");
    scene.write("copies/Plimsoll002.edb", &database);
    scene.run(BACKUP).expect_refusal(&["is no copy that a backup of this database made"]);
    assert!(scene.read("copies/Plimsoll002.edb") == database);
}

/// Sends the copies of `scene` to another folder.
fn copy_to(scene: &Scene, folder: &Path) {
    let plan = String::from_utf8(scene.read("plan.toml")).unwrap();
    let own = format!("{:?}", scene.path("copies").display().to_string());
    scene.write(
        "plan.toml",
        plan.replace(&own, &format!("{:?}", folder.display().to_string())).as_bytes(),
    );
}

#[test]
fn copies_need_a_folder_and_room_before_anything_is_written() {
    let scene = copying("backup-room");
    std::fs::remove_dir(scene.path("copies")).unwrap();
    scene.run(BACKUP).expect_refusal(&["copies", "no such folder"]);
    // Two databases of 16 MiB.
    let Some(volume) = Mount::new(&scene, &EXT4, 24) else { return };
    copy_to(&scene, &volume.0);
    scene.run(BACKUP).expect_refusal(&["the copies of the backup need", "another volume"]);
    let entries = std::fs::read_dir(&volume.0).unwrap();
    let names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["lost+found"]);
}

#[test]
fn a_copy_that_is_not_what_was_written_fails() {
    let Some((volume, other)) = fault_volume("backup-lost") else { return };
    let scene = copying("backup-lies");
    copy_to(&scene, &other.path("disk"));
    volume.set(vec!["database write drop from=20".parse().unwrap()]);
    let ran = scene.run(BACKUP);
    ran.expect_code(1).expect_out(&["FAIL", "Damaged pages", "Not fit to hold data"]);
    let report = json(&scene);
    assert_eq!(report["backups"][0]["bad_pages"], 0, "what was read is whole");
    let found = &report["copy_checksums"][0];
    assert_ne!(found["lost_flush_pages"], 0, "zeros where pages had been written: {found}");
}

#[test]
fn a_slow_volume_of_copies_is_blamed_in_place_of_that_of_the_databases() {
    let Some((volume, other)) = fault_volume("backup-slow") else { return };
    let scene = copying("backup-held-back");
    copy_to(&scene, &other.path("disk"));
    let plan = String::from_utf8(scene.read("plan.toml")).unwrap();
    scene.write("plan.toml", format!("{plan}\n[limits]\nread_rate = \"4MiB\"\n").as_bytes());
    // 64 blocks of each database, two at a time.
    volume.set(vec!["database write delay=200ms".parse().unwrap()]);
    let ran = scene.run(BACKUP);
    let report = json(&scene);
    // Beside busy processors nothing is judged, and it is said all the same what the limit was.
    if ran.code == Some(1) {
        ran.expect_out(&["FAIL", "Too slow to be copied", "disk: that folder's volume is"]);
    }
    for (rule, words) in
        [("read-rate", "held back by the copy"), ("copy-rate", "/disk: that folder's")]
    {
        let mut findings = report["findings"].as_array().unwrap().iter();
        let finding = findings.find(|finding| finding["rule"] == rule).unwrap();
        assert!(finding["evidence"][0].as_str().unwrap().contains(words), "{finding}");
        assert!(rule != "read-rate" || finding["outcome"] == "cannot_judge", "{finding}");
    }
    let copy = &report["backup_copies"][0];
    let seconds = copy["reads_waited_ns"].as_u64().unwrap() as f64 / 1e9;
    assert!((5.0..60.0).contains(&seconds), "62 of 64 writes wait for one of two: {copy}");
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
        assert!(text.contains("stopped by the user"), "{test}:\n{text}");
        let report = json(&scene);
        for passes in ["backups", "checksums"] {
            assert!(report[passes].as_array().unwrap().is_empty(), "{test}: {report}");
        }
        assert!(before == of_databases(&scene), "{test}: nothing is written");
        volume.set(Vec::new());
        let _ = std::fs::remove_dir_all(scene.path("run"));
        // What FUSE reads is not counted: every page is whole, and the storage not judged.
        scene.run(["run", "plan.toml", "--test", test, "-o", "run"]).expect_code(2);
        let report = json(&scene);
        let objections = report["findings"].as_array().unwrap().iter();
        let objections: Vec<_> =
            objections.filter(|one| one["outcome"] == "cannot_judge").collect();
        assert_eq!(objections.len(), 1, "{test}: {objections:?}");
        assert_eq!(objections[0]["rule"], "caches", "{test}");
    }
}
