//! Tests of soft recovery through the program: their reports, the state after an interruption, and
//! that an idle replay does not pass.

use std::fs;
use std::process::Child;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::mount::fault_volume;
use crate::scene::{Ran, Scene};
use crate::signals::send;

const RUN: [&str; 6] = ["run", "plan.toml", "--test", "recovery", "-o", "run"];

/// A plan whose test replays `logs` logs.
fn with_logs(scene: &Scene, logs: u32, more: &str) {
    let plan = String::from_utf8(scene.read("plan.toml")).unwrap();
    let test = format!("[test]\nreplay_logs = {logs}\n{more}");
    scene.write("plan.toml", plan.replace("[test]\n", &test).as_bytes());
}

fn json(scene: &Scene) -> Value {
    serde_json::from_slice(&scene.read("run/report.json")).unwrap()
}

/// Starts the test, and waits until it is in `phase`.
fn start_until(scene: &Scene, phase: &str) -> Child {
    let mut child = scene.start(RUN.iter().chain(&["-q"]));
    let journal = scene.path("run/record.jsonl");
    let mark = format!("\"phase\":\"{phase}\",\"edge\":\"begin\"");
    let begun = || fs::read_to_string(&journal).is_ok_and(|text| text.contains(&mark));
    while !begun() && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(2));
    }
    child
}

#[track_caller]
fn expect_clean(scene: &Scene) {
    for file in ["Plimsoll001.edb", "Plimsoll002.edb"] {
        scene.run(["header", file]).expect_code(0).expect_out(&["Clean Shutdown"]);
        scene.run(["check", file]).expect_code(0);
        scene.run(["verify", file]).expect_code(0);
    }
}

#[test]
fn logs_are_replayed_into_the_databases_or_into_copies_of_them() {
    let scene = Scene::prepared("replay");
    with_logs(&scene, 6, "");
    scene.run(RUN).expect_code(0).expect_out(&["PASS", "s per log file", "Replayed", "--test"]);
    let report = json(&scene);
    assert_eq!(report["run"]["test"], "recovery");
    let replays = report["replays"].as_array().unwrap();
    assert!(replays.len() == 2 && replays.iter().all(|of| of["logs"].as_u64().unwrap() >= 7));
    assert!(replays[0]["pages_up_to_date"].as_u64().unwrap() > 0);
    let series = &report["databases"][0]["recover"]["series"];
    assert!(series["log_read"]["count"].as_u64().unwrap() >= 7 * 4, "{series}");
    for form in ["run/report.txt", "run/report.html"] {
        let text = String::from_utf8(scene.read(form)).unwrap();
        assert!(text.contains("SoftRecovery Statistics"), "{form}");
        assert!(text.contains("Recovery I/O Performance"), "{form}");
    }
    expect_clean(&scene);
    let _ = fs::remove_dir_all(scene.path("run"));
    let plan = String::from_utf8(scene.read("plan.toml")).unwrap();
    let into_copies = plan.replace("[test]\n", "[test]\npassive_copy = \"5MiB\"\n");
    scene.write("plan.toml", into_copies.as_bytes());
    scene.run(RUN).expect_code(0).expect_out(&["PASS"]);
    let report = json(&scene);
    assert_eq!(report["replays"][1]["pages_up_to_date"], 0);
    assert_eq!(report["run"]["settings"]["passive_copy_depth_bytes"], 5 << 20);
    assert!(!scene.listing().iter().any(|(name, _)| name.ends_with(".passive")));
    expect_clean(&scene);
}

#[test]
fn a_replay_that_is_slower_than_the_plan_says_fails() {
    let scene = Scene::prepared("slow-replay");
    with_logs(&scene, 2, "");
    let mut plan = scene.read("plan.toml");
    plan.extend_from_slice(b"[limits]\nreplay = \"1us\"\n");
    scene.write("plan.toml", &plan);
    let ran = scene.run(RUN);
    // The test's own machine may have been slow.
    if ran.out.contains("Inconclusive") && ran.code == Some(2) {
        return;
    }
    ran.expect_code(1).expect_out(&["FAIL", "Slowest replay of a log file", "Too slow to recover"]);
    expect_clean(&scene);
}

#[test]
fn a_test_that_is_broken_off_leaves_databases_that_can_be_used() {
    for (phase, more) in
        [("measure", ""), ("recover", ""), ("recover", "passive_copy = \"5MiB\"\n")]
    {
        for signal in ["-INT", "-KILL"] {
            let scene = Scene::prepared("broken-replay");
            scene.load_fully();
            with_logs(&scene, 15, more);
            let child = start_until(&scene, phase);
            send(signal, &child);
            let ran = Ran::of(&child.wait_with_output().unwrap());
            if signal == "-INT" {
                ran.expect_code(2);
                let report = String::from_utf8(scene.read("run/report.txt")).unwrap();
                assert!(report.contains("stopped by the user"), "{report}");
            }
            scene.run(["recover", "Plimsoll001.edb"]).expect_code(0);
            scene.run(["recover", "Plimsoll002.edb"]).expect_code(0);
            expect_clean(&scene);
        }
    }
}

#[test]
fn a_log_that_comes_back_wrong_fails_the_test() {
    let Some((volume, scene)) = fault_volume("wrong-log") else { return };
    scene.run(["prepare", "plan.toml"]).expect_code(0);
    with_logs(&scene, 20, "give_up = \"3s\"\n");
    let child = start_until(&scene, "drain");
    volume.set(vec!["log read flip".parse().unwrap()]);
    let ran = Ran::of(&child.wait_with_output().unwrap());
    volume.set(Vec::new());
    ran.expect_code(1).expect_out(&["FAIL", "Not fit to hold data"]);
}

#[test]
fn options_of_a_load_are_refused() {
    let scene = Scene::prepared("replay-options");
    for option in [["--duration", "5s"], ["--target-iops", "100"]] {
        let ran = scene.run(["run", "plan.toml", "--test", "recovery"].iter().chain(&option));
        ran.expect_code(64).expect_err(&[option[0], "recovery", "leave it out"]);
    }
}
