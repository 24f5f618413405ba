//! What a person's signals do to a run, and what another look at it says meanwhile.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use crate::scene::{Ran, Scene};

const ANSWER: &str = "stopping cleanly, in seconds unless the storage is slow; again ends at once";

pub(crate) fn send(signal: &str, child: &Child) {
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
}

/// Whether this test was started with hang-ups ignored, which its children inherit.
fn is_under_nohup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1)
}

#[test]
fn the_first_signal_is_answered_and_stops_cleanly() {
    // Under `nohup` the program rightly lets a hang-up pass.
    let hang_up = (!is_under_nohup()).then_some("-HUP");
    for signal in ["-INT", "-TERM"].into_iter().chain(hang_up) {
        let scene = Scene::prepared("signal");
        let child = scene.start_load(&["run", "plan.toml"]);
        send(signal, &child);
        let ran = Ran::of(&child.wait_with_output().unwrap());
        ran.expect_code(2).expect_err(&[ANSWER]);
        let report = String::from_utf8(scene.read("out/report.txt")).unwrap();
        assert!(report.to_lowercase().contains("interrupt"), "{report}");
        assert!(report.contains("stopped by the user"), "{report}");
        ran.expect_out(&["Next: Complete it", ": plimsoll run --resume out"]);
        for file in ["Plimsoll001.edb", "Plimsoll002.edb"] {
            scene.run(["header", file]).expect_code(0).expect_out(&["Clean Shutdown"]);
            scene.run(["check", file]).expect_code(0);
        }
    }
}

#[test]
fn the_answer_comes_at_once_and_a_second_signal_ends_at_once() {
    let scene = Scene::prepared("twice");
    let mut child = scene.start_load(&["run", "plan.toml"]);
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    send("-INT", &child);
    let answered = said.any(|line| line.unwrap().starts_with(ANSWER));
    assert!(answered);
    send("-INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(2));
    // Storage may have been faster than the second signal.
    if !scene.path("out/report.txt").exists() {
        let dirty = scene.run(["header", "Plimsoll001.edb"]);
        dirty.expect_out(&["Dirty Shutdown"]);
    }
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let scene = Scene::prepared("nohup");
    let mut command = Command::new("nohup");
    command.arg0("nohup").arg(env!("CARGO_BIN_EXE_plimsoll"));
    command.args(["run", "plan.toml", "-o", "out", "--duration", "4s"]);
    command.current_dir(&scene.folder).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let journal = scene.path("out/record.jsonl");
    while !journal.exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    send("-HUP", &child);
    let ran = Ran::of(&child.wait_with_output().unwrap());
    let journal = fs::read_to_string(journal).unwrap();
    assert!(journal.contains("\"interrupted\":false"), "{}", ran.err);
}

#[test]
fn a_report_of_a_live_run_says_so_and_writes_nothing() {
    let scene = Scene::prepared("live");
    let mut child = scene.start_load(&["run", "plan.toml"]);
    let ran = scene.run(["report", "out"]);
    ran.expect_code(2).expect_out(&["plimsoll watch out follows it until then"]);
    assert!(ran.out.starts_with("STILL RUNNING  "), "{}", ran.out);
    let judged = ["CANNOT JUDGE", "stopped", "Next: ", "--resume"];
    assert!(judged.iter().all(|words| !ran.out.contains(words)), "{}", ran.out);
    scene.run(["report", "out", "--format", "csv"]).expect_code(2).expect_err(&["run is live"]);
    let refused = scene.run(["report", "out", "--format", "json"]);
    refused.expect_code(2).expect_err(&["out: the run is live and has no verdict yet"]);
    assert!(!scene.path("out/report.html").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = scene.run(["report", "out"]);
    assert!(!ran.err.contains("live"), "{}", ran.err);
    assert!(scene.path("out/report.html").exists());
}

#[test]
fn a_report_finds_the_newest_run_in_a_folder() {
    let scene = Scene::prepared("newest");
    for folder in ["one", "two"] {
        scene.run(["run", "plan.toml", "-q", "-o", folder]);
    }
    let ran = scene.run(["report", "."]);
    ran.expect_err(&["two, the newest of 2."]);
    ran.expect_out(&["two/report.html"]);
    fs::create_dir(scene.path("empty")).unwrap();
    scene
        .run(["report", "empty"])
        .expect_refusal(&["empty: no record.jsonl is in it", "name the folder of a run"]);
}
