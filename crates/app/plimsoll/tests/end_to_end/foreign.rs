//! Databases of other engines, and of other plans: looked at as often as one likes, and never
//! written.

use std::fs;
use std::path::Path;

use testkit::samples::databases;

use crate::samples::unpack;
use crate::scene::{Scene, small_plan};

/// Every verb that can be pointed at a database or at its folder.
fn verbs() -> Vec<Vec<&'static str>> {
    let of_file = ["check", "verify", "header", "schema", "space", "export", "recover"];
    let mut all: Vec<Vec<&str>> =
        of_file.iter().map(|verb| vec![*verb, "Plimsoll001.edb"]).collect();
    all.extend([
        vec!["dump", "Plimsoll001.edb", "--page", "1"],
        vec!["export", "Plimsoll001.edb", "--table", "MSysObjects"],
        vec!["header", "E00.log"],
        vec!["header", "E00.chk"],
        vec!["recover", "Plimsoll001.edb", "--log-base", "E00"],
        vec!["report", "Plimsoll001.edb"],
        vec!["inspect", "."],
        vec!["prepare", "plan.toml"],
        vec!["run", "plan.toml", "-o", "run"],
        vec!["quick", ".", "--size", "16MiB"],
    ]);
    all
}

/// A database of another engine, where a plan's first one would be.
fn place(packed: &Path, scene: &Scene) {
    unpack(packed, scene);
    fs::rename(scene.path("sample.edb"), scene.path("Plimsoll001.edb")).unwrap();
}

#[test]
fn no_verb_writes_a_database_of_another_engine() {
    for packed in databases() {
        let scene = Scene::new("foreign");
        scene.write("plan.toml", small_plan(&scene.folder).as_bytes());
        place(&packed, &scene);
        for beside in [&[][..], &["Plimsoll001.jfm", "E00.log", "E00.chk"]] {
            for name in beside {
                scene.write(name, &b"of another engine".repeat(500));
            }
            let before = scene.snapshot();
            let elsewhere = Scene::new("foreign-tables").path("tables");
            let tables = elsewhere.display().to_string();
            let all = vec!["export", "Plimsoll001.edb", "--all", "-o", &tables];
            for words in verbs().into_iter().chain([all]) {
                scene.run(&words);
                assert!(scene.snapshot() == before, "{words:?} on {packed:?}");
            }
        }
    }
}

#[test]
fn a_clean_database_of_our_own_is_not_written_by_recover() {
    let scene = Scene::prepared("recover-clean");
    let before = scene.snapshot();
    scene
        .run(["recover", "Plimsoll001.edb"])
        .expect_code(0)
        .expect_out(&["was closed properly", "plimsoll check"]);
    assert!(scene.snapshot() == before);
}

#[test]
fn what_neither_manifest_nor_log_proves_to_be_ours_is_not_recovered() {
    let scene = Scene::prepared("recover-unproven");
    scene.kill_run(&["run", "plan.toml"]);
    let elsewhere = Scene::new("recover-unproven-copy");
    elsewhere.write("mail.edb", &scene.read("Plimsoll001.edb"));
    elsewhere.write("E00.log", b"of another engine");
    let before = elsewhere.snapshot();
    elsewhere.run(["recover", "mail.edb"]).expect_refusal(&[
        "mail.edb: Dirty Shutdown",
        "proves that plimsoll made it",
        "esentutl /r",
    ]);
    assert!(elsewhere.snapshot() == before);
    // Its log is proof enough.
    let log = scene.folder.display().to_string();
    let words = ["recover", "mail.edb", "--log-folder", &log, "--log-base", "E00"];
    elsewhere.run(words).expect_code(0).expect_out(&["recovered from log generations"]);
}

#[test]
fn a_manifest_beside_another_database_is_no_proof() {
    for packed in databases().iter().take(2) {
        let scene = Scene::prepared("exchanged");
        place(packed, &scene);
        let before = scene.snapshot();
        scene
            .run(["run", "plan.toml", "-o", "run"])
            .expect_refusal(&["Plimsoll001.edb", "manifest was written for"]);
        // The plan's other database is ours, and was opened.
        let after = scene.snapshot();
        for name in ["Plimsoll001.edb", "Plimsoll001.jfm"] {
            assert!(after.get(&scene.path(name)) == before.get(&scene.path(name)));
        }
        assert!(!scene.path("E00.plg").exists());
    }
}

/// A plan of one database in the folder `name`, its log in the folder `log`.
fn plan_with_log(scene: &Scene, name: &str, log: &str) {
    let (folder, log) = (scene.path(name), scene.path(log));
    fs::create_dir_all(&folder).unwrap();
    fs::create_dir_all(&log).unwrap();
    let folders = format!("log_folders = [{:?}]\ncount = 1", log.display().to_string());
    let plan = small_plan(&folder).replace("count = 2", &folders);
    scene.write(&format!("{name}.toml"), plan.as_bytes());
}

#[test]
fn a_log_folder_of_another_plan_is_refused_before_there_is_a_log() {
    let scene = Scene::new("taken-log");
    for name in ["one", "two"] {
        plan_with_log(&scene, name, "log");
    }
    scene.run(["prepare", "one.toml"]).expect_code(0);
    let before = scene.snapshot();
    let refused = ["E00.owner.json", "one/Plimsoll001.edb keeps its log there"];
    scene.run(["prepare", "two.toml"]).expect_refusal(&refused);
    assert!(scene.snapshot() == before);
    scene.run(["prepare", "one.toml"]).expect_code(0);
    assert!(scene.snapshot() == before);

    fs::remove_file(scene.path("log/E00.owner.json")).unwrap();
    scene.run(["prepare", "two.toml"]).expect_code(0);
}

#[test]
fn the_log_of_another_plan_survives_an_interrupted_fill() {
    let scene = Scene::new("shared-log");
    for (name, log) in [("one", "log"), ("two", "another")] {
        plan_with_log(&scene, name, log);
        scene.run(["prepare", &format!("{name}.toml")]).expect_code(0);
    }
    plan_with_log(&scene, "two", "log");
    scene.kill_run(&["run", "one.toml"]);
    let manifest = String::from_utf8(scene.read("two/Plimsoll001.manifest.json")).unwrap();
    let manifest = manifest.replace("\"complete\"", "\"filling\" ");
    scene.write("two/Plimsoll001.manifest.json", manifest.as_bytes());
    let before = scene.snapshot();
    scene.run(["prepare", "two.toml"]).expect_refusal(&["log", "is the log of another database"]);
    assert!(scene.snapshot() == before);
    scene.run(["recover", "one/Plimsoll001.edb", "--log-folder", "log"]).expect_code(0);
    scene.run(["verify", "one/Plimsoll001.edb"]).expect_code(0);
}

#[test]
fn a_killed_database_is_not_closed_and_not_damaged() {
    let scene = Scene::prepared("killed");
    scene.kill_run(&["run", "plan.toml"]);
    let ran = scene.run(["check", "Plimsoll001.edb"]);
    ran.expect_code(2).expect_out(&[
        "Plimsoll001.edb: Dirty Shutdown, log 0x",
        " needed: run plimsoll recover",
        "uninitialised",
    ]);
    assert!(!ran.out.contains("wiped"), "{}", ran.out);
    let json = scene.run(["check", "--json", "Plimsoll001.edb"]);
    let answer: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(answer["files"][0]["not_closed"]["state"], "Dirty Shutdown");
    assert_eq!(answer["files"][0]["bad_pages"], 0);
    scene
        .run(["verify", "Plimsoll001.edb"])
        .expect_code(2)
        .expect_out(&["Plimsoll001.edb: Dirty Shutdown, log 0x", "run plimsoll recover"]);
    scene.run(["recover", "Plimsoll001.edb"]).expect_code(0);
    scene.run(["check", "Plimsoll001.edb"]).expect_code(0);
    scene.run(["verify", "Plimsoll001.edb"]).expect_code(0);
}

#[test]
fn what_is_read_of_a_killed_database_begins_with_its_state() {
    let scene = Scene::prepared("killed-read");
    scene.kill_run(&["run", "plan.toml"]);
    let file = "Plimsoll001.edb";
    for words in [
        vec!["export", file],
        vec!["export", file, "--table", "Messages"],
        vec!["schema", file, "Messages"],
        vec!["space", file],
        vec!["space", file, "--json"],
    ] {
        let ran = scene.run(&words);
        ran.expect_code(2);
        let first = ran.err.lines().next().unwrap_or_default();
        // For programs, a sentence is the text of an event.
        let event: Option<serde_json::Value> = serde_json::from_str(first).ok();
        let first = event.as_ref().map_or(first, |event| event["text"].as_str().unwrap());
        assert!(
            first.starts_with("plimsoll: Plimsoll001.edb: Dirty Shutdown, log 0x")
                && first.ends_with(": run plimsoll recover Plimsoll001.edb first"),
            "{words:?}: {}",
            ran.err
        );
    }
}
