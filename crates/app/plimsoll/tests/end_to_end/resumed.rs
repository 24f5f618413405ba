//! Runs that were killed and go on, and those that must not.

use std::fs;
use std::process::Child;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::scene::{Ran, Scene};
use crate::signals::send;

/// A run of twelve seconds.
const RUN: [&str; 6] = ["run", "plan.toml", "-o", "out", "--duration", "12s"];

fn journal(scene: &Scene) -> String {
    fs::read_to_string(scene.path("out/record.jsonl")).unwrap_or_default()
}

/// Kills a run once its journal holds this many samples of the measurement.
fn kill_after(scene: &Scene, mut child: Child, samples: usize) {
    let measured = || journal(scene).matches("\"phase\":\"measure\",\"from_ns\"").count();
    while measured() < samples && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

fn cut_off(name: &str) -> Scene {
    let scene = Scene::prepared(name);
    let child = scene.start(RUN);
    kill_after(&scene, child, 4);
    scene
}

fn resume(scene: &Scene) -> Ran {
    scene.run(["run", "--resume", "out", "--quiet"])
}

fn report(scene: &Scene) -> Value {
    serde_json::from_str(&scene.run(["report", "out", "--format", "json"]).out).unwrap()
}

#[test]
fn a_killed_run_is_completed_and_its_report_tells_the_break() {
    let scene = cut_off("resumed");
    let before = journal(&scene);
    let cut = report(&scene);
    assert_eq!(cut["exit_code"], 2, "{}", cut["findings"]);
    scene.run(["report", "out"]).expect_out(&["run --resume out"]);
    let completed = "complete it: plimsoll run --resume ./out";
    scene.run(["list"]).expect_code(0).expect_out(&["Cut off", completed]);
    let listed = scene.run(["list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.out).unwrap();
    assert_eq!(listed["runs"][0]["state"], "cut_off", "{listed}");
    assert_eq!(listed["runs"][0]["resume"], "plimsoll run --resume ./out", "{listed}");
    // A second kill, during the remaining measurement.
    let child = scene.start(["run", "--resume", "out"]);
    kill_after(&scene, child, 7);
    let ran = resume(&scene);
    assert!(journal(&scene).starts_with(&before[..=before.rfind('\n').unwrap()]));
    let whole = report(&scene);
    assert_eq!(whole["run"]["seal"], "whole", "{}", ran.err);
    assert_eq!(whole["run"]["breaks"].as_array().unwrap().len(), 2, "{}", ran.err);
    // With intervals that are left out since the machine was busy.
    let intervals = whole["intervals"].as_array().unwrap().iter();
    let measured_ns: u64 = intervals
        .filter(|interval| interval["phase"] == "measure")
        .map(|one| one["to_ns"].as_u64().unwrap() - one["from_ns"].as_u64().unwrap())
        .sum();
    assert!((11_900_000_000..20_000_000_000).contains(&measured_ns), "{measured_ns} ns");
    let rule = |rule: &str| {
        let mut findings = whole["findings"].as_array().unwrap().iter();
        let found = findings.find(|finding| finding["rule"] == rule);
        found.map_or(Value::Null, |finding| finding["outcome"].clone())
    };
    assert_eq!(rule("completed"), "pass");
    assert_eq!(rule("resumed"), "warning");
    assert_eq!(rule("input-output-errors"), "pass", "{}", whole["issues"]);
    assert_eq!(rule("checksums"), "pass");
    let text = String::from_utf8(scene.read("out/report.txt")).unwrap();
    assert!(text.contains("Cut Off And Resumed"), "{text}");
    scene.run(["run", "--resume", "out"]).expect_refusal(&["out/record.jsonl", "is complete"]);
    let listed = scene.run(["list"]);
    assert!(!listed.out.contains("Cut off") && !listed.out.contains("--resume"), "{}", listed.out);
}

/// Ctrl-C closes the databases; the run resumes from them as from a crash.
#[test]
fn a_stopped_run_is_completed_until_something_opens_its_databases() {
    let scene = Scene::prepared("stopped-resumed");
    let stop_after = |child: Child, samples: usize| {
        let measured = || journal(&scene).matches("\"phase\":\"measure\",\"from_ns\"").count();
        while measured() < samples {
            thread::sleep(Duration::from_millis(20));
        }
        send("-INT", &child);
        Ran::of(&child.wait_with_output().unwrap()).expect_code(2);
    };
    stop_after(scene.start(RUN), 4);
    let stopped = journal(&scene);
    assert!(stopped.contains("\"was_stopped\":true"), "{stopped}");
    scene.run(["report", "out"]).expect_out(&["run --resume out"]);
    let completed = "complete it: plimsoll run --resume ./out";
    scene.run(["list"]).expect_out(&["Cannot judge", completed]);
    let ran = resume(&scene);
    let whole = report(&scene);
    let completed = whole["findings"].as_array().unwrap().iter();
    let completed = completed.clone().find(|of| of["rule"] == "completed").unwrap();
    assert_eq!(completed["outcome"], "pass", "{completed} {}", ran.err);
    assert_eq!(whole["run"]["breaks"].as_array().unwrap().len(), 1, "{}", ran.err);
    scene.run(["run", "--resume", "out"]).expect_refusal(&["out/record.jsonl", "is complete"]);
    // A stopped run whose databases another has used.
    fs::remove_dir_all(scene.path("out")).unwrap();
    stop_after(scene.start(RUN), 2);
    scene.run(["run", "plan.toml", "-o", "other", "--duration", "1s"]);
    resume(&scene).expect_refusal(&[".edb: has been opened since", "start it anew"]);
}

#[test]
fn what_must_not_go_on_is_refused_and_left_as_it_was() {
    let scene = cut_off("not-resumed");
    let as_cut = scene.read("out/record.jsonl");
    let refused = |parts: &[&str]| {
        resume(&scene).expect_refusal(parts);
    };
    scene
        .run(["run", "--resume", "out", "--seed", "9"])
        .expect_code(64)
        .expect_err(&["--seed has no effect on a resumed run"]);
    scene.change("plan.toml", |text| text.extend(b"checksum = false\n"));
    scene
        .run(["run", "plan.toml", "--resume", "out", "--duration", "12s"])
        .expect_refusal(&["plan.toml: is not the plan", "checksum = false"]);
    let raised = String::from_utf8_lossy(&as_cut).replace("20000000", "90000000");
    scene.write("out/record.jsonl", raised.as_bytes());
    refused(&["was changed after it was written, from line 1 on"]);
    scene.write("out/record.jsonl", b"{\"event\":\"start\",");
    refused(&["the run never began"]);
    scene.write("out/record.jsonl", &as_cut);
    let moved = scene.path("moved.edb");
    fs::rename(scene.path("Plimsoll001.edb"), &moved).unwrap();
    refused(&["Plimsoll001.edb"]);
    fs::rename(&moved, scene.path("Plimsoll001.edb")).unwrap();
    assert_eq!(scene.read("out/record.jsonl"), as_cut, "left as it was");
    scene.run(["recover", "Plimsoll001.edb"]).expect_code(0);
    refused(&["Plimsoll001.edb: has been opened since", "start it anew"]);
    assert_eq!(scene.read("out/record.jsonl"), as_cut, "left as it was");
}

/// Storage that confirms log writes and loses them when power fails.
#[test]
fn a_log_that_is_shorter_than_it_was_durable_is_an_error() {
    let scene = Scene::prepared("lost-log");
    // So slow that the log of the last sample is still the current file, and its pages in memory.
    let child = scene.start(RUN.iter().chain(&["--target-iops", "60"]));
    kill_after(&scene, child, 4);
    let journal = journal(&scene);
    let whole = &journal[..journal.rfind('\n').unwrap()];
    let sample = whole.lines().rfind(|line| line.contains("log_durable_to")).unwrap();
    let sample: Value = serde_json::from_str(sample).unwrap();
    let gauges = &sample["databases"][0]["gauges"];
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let segment = number(&gauges["log_segment_bytes"]);
    let durable_to = number(&gauges["log_durable_to"]["segment"]) * segment;
    scene.change("E00.plg", |bytes| bytes[durable_to - segment..].fill(0));
    let ran = resume(&scene);
    let issues = report(&scene)["issues"].to_string();
    assert!(issues.contains("has lost writes that it had confirmed"), "{issues}\n{}", ran.err);
    assert!(issues.contains("lost_flush"), "{issues}");
    ran.expect_code(1);
}
