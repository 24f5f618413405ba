//! `run --test all`: every test of the set, one report, and what is said of tests not run.

use std::fs;

use serde_json::Value;

use crate::scene::{PAGE_BYTES, Ran, Scene};
use crate::signals::send;

/// A prepared scene whose plan has short tests; `more` stands at the plan's end.
fn scene(name: &str, more: &str) -> Scene {
    let scene = Scene::prepared(name);
    scene.replay_logs(3);
    scene.change("plan.toml", |plan| plan.extend_from_slice(more.as_bytes()));
    scene
}

fn json(scene: &Scene) -> Value {
    serde_json::from_slice(&scene.read("set/report.json")).unwrap()
}

#[test]
fn all_tests_are_made_and_reported_as_one() {
    let scene = scene("set", "");
    let words = ["run", "plan.toml", "--test", "all", "--duration", "2s", "-o", "set"];
    // Two seconds of a load prove nothing; the other two tests pass.
    let ran = scene.run(words);
    ran.expect_code(2)
        .expect_out(&["CANNOT JUDGE  2 of 4 tests passed", "Soft recovery: Replayed"]);
    let report = json(&scene);
    assert_eq!(report["exit_code"], 2);
    let tests = report["tests"].as_array().unwrap();
    let seen: Vec<(&str, &str)> = tests
        .iter()
        .map(|test| (test["test"].as_str().unwrap(), test["verdict"].as_str().unwrap()))
        .collect();
    let unjudged = "cannot_judge";
    let expected =
        [("performance", unjudged), ("stress", unjudged), ("backup", "pass"), ("recovery", "pass")];
    assert_eq!(seen, expected);
    assert_eq!(tests[1]["report"]["run"]["settings"]["thresholds"]["name"], "lenient");
    assert_eq!(tests[0]["report"]["checksums"].as_array().unwrap().len(), 2);
    for (number, kind) in ["performance", "stress", "backup", "recovery"].iter().enumerate() {
        let own = scene.read(format!("set/{}-{kind}/report.txt", number + 1));
        assert!(!own.is_empty());
    }
    let text = String::from_utf8(scene.read("set/report.txt")).unwrap();
    for part in ["Storage Performance Results", "Log Recovery/Replay", "3-backup/report.html"] {
        assert!(text.contains(part), "{part}");
    }
    // The same from the journals, years later.
    let page = scene.read("set/report.html");
    for form in ["report.txt", "report.html", "report.json"] {
        fs::remove_file(scene.path("set").join(form)).unwrap();
    }
    scene.run(["report", "set"]).expect_code(2).expect_out(&["2 of 4 tests passed"]);
    assert!(scene.read("set/report.html") == page);
    let shown = scene.run(["report", "set", "--format", "text"]);
    assert_eq!(shown.expect_code(2).out, text);
}

#[test]
fn one_failed_test_fails_the_set() {
    let scene = scene("failed-set", "");
    scene.change("Plimsoll002.edb", |bytes| bytes[40 * PAGE_BYTES + 900] ^= 0x55);
    let words = ["run", "plan.toml", "--test", "all", "--duration", "1s", "-q", "-o", "set"];
    let ran = scene.run(words);
    ran.expect_code(1).expect_out(&["FAIL", "Performance: Not fit to hold data"]);
    assert!(json(&scene)["tests"][1]["report"].is_object(), "the tests behind it are made");
}

#[test]
fn what_is_broken_off_says_which_tests_were_not_run() {
    let scene = scene("broken-set", "");
    let child =
        scene.start(["run", "plan.toml", "--test", "all", "--duration", "60s", "-o", "set"]);
    let journal = scene.path("set/1-performance/record.jsonl");
    while !fs::read_to_string(&journal).is_ok_and(|text| text.contains("\"measure\"")) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    send("-INT", &child);
    let ran = Ran::of(&child.wait_with_output().unwrap());
    ran.expect_code(2).expect_out(&["0 of 4 tests passed", "Not run: a person asked to stop"]);
    let report = json(&scene);
    assert_eq!(report["tests"][2]["not_run"], "a person asked to stop");
    assert!(!scene.path("set/2-stress").exists());
}

#[test]
fn what_cannot_be_run_at_all_is_refused_before_the_first_test() {
    let scene = scene("no-room-set", "");
    let plan = String::from_utf8(scene.read("plan.toml")).unwrap();
    let endless = plan.replace("replay_logs = 3", "replay_logs = 100000");
    scene.write("plan.toml", endless.as_bytes());
    let ran = scene.run(["run", "plan.toml", "--test", "all", "-o", "set"]);
    ran.expect_refusal(&["are free"]);
    assert!(!scene.path("set").exists());
    let ran = scene.run(["run", "plan.toml", "--test", "all", "--acknowledge", "x"]);
    ran.expect_code(64).expect_err(&["--acknowledge", "leave it out"]);
}
