//! Storage that stops, and a program that is stopped: on a real mounted volume, where this user may
//! mount one.

use std::fs;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use testkit::fault_volume::{FaultVolume, Rule};

use crate::mount::fault_volume;
use crate::scene::{Ran, Scene};

/// A prepared database on a volume whose storage can be stopped.
struct Storage {
    scene: Scene,
    volume: FaultVolume,
}

impl Storage {
    /// None where no such volume can be mounted.
    fn new(name: &str) -> Option<Self> {
        let (volume, scene) = fault_volume(name)?;
        let plan = String::from_utf8(scene.read("plan.toml")).unwrap();
        let plan = plan.replace("interval", "give_up = \"3s\"\ninterval");
        scene.write("plan.toml", (plan + "[workload]\nthreads = 2\n").as_bytes());
        Some(Self { scene, volume })
    }

    fn prepared(name: &str) -> Option<Self> {
        let storage = Self::new(name)?;
        storage.scene.run(["prepare", "plan.toml"]).expect_code(0);
        Some(storage)
    }

    /// What freezes for some seconds is answered before it is given up.
    fn be_patient(&self) {
        let plan = String::from_utf8(self.scene.read("plan.toml")).unwrap();
        let patient = plan.replace("\"3s\"", "\"60s\"");
        self.scene.write("plan.toml", patient.as_bytes());
    }

    /// The longest request was one of a file with that ending, in that phase.
    #[track_caller]
    fn expect_longest(&self, file: &str, phase: &str) {
        let report = self.report();
        let longest = finding(&report, "longest-request");
        let evidence = longest["evidence"][0].as_str().unwrap();
        assert!(longest["measured"].as_f64().unwrap() > 6_000.0, "{longest}");
        assert!(evidence.contains(file) && evidence.contains(&format!("({phase})")), "{longest}");
    }

    fn suffer(&self, rule: &str) {
        self.volume.set(vec![rule.parse::<Rule>().unwrap()]);
    }

    /// Starts a run of `duration`, and waits until it measures.
    fn measure(&self, duration: &str) -> Child {
        let words = ["run", "plan.toml", "-o", "run", "-q", "--duration", duration];
        let mut child = self.scene.start(words);
        let journal = self.scene.path("run/record.jsonl");
        let measures = || {
            fs::read_to_string(&journal)
                .is_ok_and(|text| text.contains("\"phase\":\"measure\",\"edge\":\"begin\""))
        };
        while !measures() && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(20));
        }
        child
    }

    /// The end of a run that the kernel may keep until the storage answers: within half a minute
    /// its reports are there, and then the storage answers.
    #[track_caller]
    fn end_once_reported(&self, child: Child) -> Ran {
        let began = Instant::now();
        let run = self.scene.path("run");
        let are_written = || {
            let json = fs::read(run.join("report.json")).unwrap_or_default();
            let others = ["report.html", "report.txt"].map(|file| run.join(file).exists());
            json.ends_with(b"}\n") && others == [true, true]
        };
        while !are_written() {
            assert!(began.elapsed() < Duration::from_secs(30), "no report");
            thread::sleep(Duration::from_millis(50));
        }
        self.volume.set(Vec::new());
        end_within(child, Duration::from_secs(30))
    }

    fn report(&self) -> serde_json::Value {
        serde_json::from_slice(&self.scene.read("run/report.json")).unwrap()
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        self.volume.set(Vec::new());
    }
}

/// Waits for the end of `child`, which must come within `limit`.
#[track_caller]
pub(crate) fn end_within(mut child: Child, limit: Duration) -> Ran {
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < limit, "the program does not end");
        thread::sleep(Duration::from_millis(50));
    }
    Ran::of(&child.wait_with_output().unwrap())
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([name, &pid]).status().unwrap();
    assert!(sent.success());
}

pub(crate) fn finding<'a>(report: &'a serde_json::Value, rule: &str) -> &'a serde_json::Value {
    let findings = report["findings"].as_array().unwrap();
    let mut found = findings.iter().filter(|one| one["rule"] == rule);
    found.next().unwrap_or(&serde_json::Value::Null)
}

#[test]
fn storage_that_never_answers_again_fails_and_is_named() {
    for rule in ["database read hang", "log write hang", "database write hang"] {
        let Some(storage) = Storage::prepared("hang") else {
            return;
        };
        let child = storage.measure("60s");
        storage.suffer(rule);
        let ran = end_within(child, Duration::from_secs(30));
        ran.expect_code(1).expect_out(&["FAIL", "no answer to the "]);
        let journal = String::from_utf8(storage.scene.read("run/record.jsonl")).unwrap();
        let last = journal.lines().last().unwrap();
        assert!(last.contains("\"finished\""), "{last}");
        assert!(journal.contains("\"oldest_ns\""), "the age of those that wait");
        for file in ["report.html", "report.txt", "report.json"] {
            assert!(storage.scene.path("run").join(file).exists(), "{file}");
        }
    }
}

#[test]
fn storage_that_answers_nothing_from_the_start_ends_every_verb() {
    let Some(storage) = Storage::prepared("dead") else {
        return;
    };
    storage.suffer("database read hang");
    let run = storage.scene.start(["run", "plan.toml", "-o", "run", "-q"]);
    let ran = end_within(run, Duration::from_secs(30));
    ran.expect_code(1).expect_out(&["no answer to the read", "Plimsoll001.edb"]);
    let Some(empty) = Storage::new("dead-fill") else {
        return;
    };
    empty.suffer("database write hang");
    let fill = empty.scene.start(["prepare", "plan.toml", "-q"]);
    let ran = end_within(fill, Duration::from_secs(30));
    ran.expect_refusal(&["no answer to the write of", "Plimsoll001.edb"]);
}

/// Seven seconds, then everything is answered: `longest_request` is five.
#[test]
fn a_freeze_while_a_database_is_opened_or_checked_is_the_longest_request() {
    for (rule, file, phase) in [
        ("header read", ".edb", "open"),
        ("flush-map read", ".jfm", "open"),
        ("header write", ".edb", "open"),
        ("checkpoint read", ".pck", "drain"),
        ("log write", ".plg", "open"),
        ("flush-map write", ".jfm", "drain"),
    ] {
        let Some(storage) = Storage::prepared("freeze-open") else {
            return;
        };
        storage.be_patient();
        storage.suffer(&format!("{rule} freeze=7s"));
        let words = ["run", "plan.toml", "-o", "run", "-q", "--duration", "1s"];
        let ran = end_within(storage.scene.start(words), Duration::from_mins(1));
        assert!(storage.volume.injected() > 0, "{rule}: the fault never came");
        // One second proves nothing; the observation is still reported.
        ran.expect_code(2);
        storage.expect_longest(file, phase);
    }
}

/// The verdict of a run that is long enough, and of its journal alone.
#[test]
fn a_freeze_while_a_database_is_opened_fails() {
    let Some(storage) = Storage::prepared("freeze-open-fail") else {
        return;
    };
    storage.be_patient();
    storage.suffer("header read freeze=7s");
    let words = ["run", "plan.toml", "-o", "run", "-q", "--duration", "31s"];
    let ran = end_within(storage.scene.start(words), Duration::from_secs(90));
    ran.expect_code(1).expect_out(&["FAIL", "Plimsoll001.edb"]);
    storage.expect_longest(".edb", "open");
    let again = storage.scene.run(["report", "run"]);
    again.expect_code(1).expect_out(&["FAIL", "Plimsoll001.edb"]);
}

#[test]
fn a_freeze_fails_by_a_latency_of_the_worst_interval() {
    let Some(storage) = Storage::prepared("freeze") else {
        return;
    };
    let plan = String::from_utf8(storage.scene.read("plan.toml")).unwrap();
    let patient =
        plan.replace("\"3s\"", "\"60s\"").replace("interval = \"1s\"", "interval = \"15s\"");
    storage.scene.write("plan.toml", patient.as_bytes());
    let child = storage.measure("31s");
    thread::sleep(Duration::from_secs(2));
    storage.suffer("any any freeze=10s requests=100000");
    thread::sleep(Duration::from_secs(11));
    storage.volume.set(Vec::new());
    end_within(child, Duration::from_secs(90)).expect_code(1);
    let report = storage.report();
    let found = |rule: &str, least_ms: f64| {
        let finding = finding(&report, rule);
        finding["outcome"] != "pass" && finding["measured"].as_f64().unwrap() > least_ms
    };
    assert!(found("longest-request", 9_000.0), "{}", report["findings"]);
    // Every session may have stood at the log when the storage froze. Where others held the
    // processors, the interval alone proves nothing.
    let worst = ["read-latency-maximum", "log-write-latency-maximum"];
    assert!(worst.iter().any(|rule| found(rule, 1_000.0)), "{}", report["findings"]);
}

/// The program asks for the free space ten times a second, beside the requests of its load.
#[test]
fn a_volume_that_does_not_tell_its_free_space_holds_neither_the_end_nor_an_interrupt_up() {
    for is_interrupted in [false, true] {
        let Some(storage) = Storage::prepared("hang-space") else {
            return;
        };
        if is_interrupted {
            storage.be_patient();
        }
        let child = storage.measure("600s");
        storage.suffer("any space hang");
        thread::sleep(Duration::from_secs(1));
        if is_interrupted {
            signal(&child, "-INT");
        }
        let ran = storage.end_once_reported(child);
        ran.expect_err(&["The reports are complete"]);
        if is_interrupted {
            ran.expect_code(2).expect_out(&["CANNOT JUDGE"]);
        } else {
            ran.expect_code(1).expect_out(&["FAIL", "answer"]);
        }
    }
}

#[test]
fn one_interrupt_ends_a_run_whose_requests_hang() {
    let Some(storage) = Storage::prepared("interrupt-hang") else {
        return;
    };
    let plan = String::from_utf8(storage.scene.read("plan.toml")).unwrap();
    let patient = plan.replace("\"3s\"", "\"600s\"");
    storage.scene.write("plan.toml", patient.as_bytes());
    let child = storage.measure("600s");
    storage.suffer("database read hang");
    thread::sleep(Duration::from_secs(1));
    signal(&child, "-INT");
    let ran = end_within(child, Duration::from_secs(30));
    ran.expect_code(2).expect_out(&["CANNOT JUDGE"]);
    let report = storage.report();
    let failed = report["findings"].as_array().unwrap().iter();
    assert_eq!(failed.filter(|one| one["outcome"] == "fail").count(), 0, "{report}");
}

#[test]
fn one_interrupt_writes_the_reports_though_the_kernel_keeps_a_flush() {
    let Some(storage) = Storage::prepared("interrupt-flush") else {
        return;
    };
    let plan = String::from_utf8(storage.scene.read("plan.toml")).unwrap();
    let patient = plan.replace("\"3s\"", "\"600s\"");
    storage.scene.write("plan.toml", patient.as_bytes());
    let child = storage.measure("600s");
    storage.suffer("any any hang");
    thread::sleep(Duration::from_secs(1));
    signal(&child, "-INT");
    let ran = storage.end_once_reported(child);
    ran.expect_code(2).expect_out(&["CANNOT JUDGE"]);
    ran.expect_err(&["The reports are complete", "Linux keeps it"]);
}

/// Every request is answered, and none in time for the run to end by itself.
#[test]
fn a_run_on_storage_that_is_slow_ends_in_its_time_and_fails() {
    for rule in ["any any delay=11s", "database write delay=11s"] {
        let Some(storage) = Storage::prepared("slow") else {
            return;
        };
        storage.be_patient();
        let plan = String::from_utf8(storage.scene.read("plan.toml")).unwrap();
        let plan = plan.replace("interval", "finish = \"5s\"\ninterval");
        storage.scene.write("plan.toml", plan.as_bytes());
        let child = storage.measure("2s");
        storage.suffer(rule);
        let ran = storage.end_once_reported(child);
        ran.expect_code(1).expect_out(&["FAIL", "Longest request", "Plimsoll001"]);
        let report = storage.report();
        let longest = finding(&report, "longest-request");
        assert_eq!(longest["outcome"], "fail", "{longest}");
        let completed = finding(&report, "completed");
        assert_eq!(completed["outcome"], "cannot_judge", "{completed}");
        let evidence = completed["evidence"].to_string();
        assert!(evidence.contains("recovered when it is next opened, 5 s being all"), "{evidence}");
        assert!(evidence.contains("give it longer with finish in [test]"), "{evidence}");
        let next = ["run", "plan.toml", "-o", "next", "-q", "--duration", "1s"];
        storage.scene.run(next).expect_code(2);
        let report: serde_json::Value =
            serde_json::from_slice(&storage.scene.read("next/report.json")).unwrap();
        assert_eq!(finding(&report, "checksums")["outcome"], "pass", "{report}");
    }
}

#[test]
fn a_plan_may_not_ask_for_values_that_the_engine_refuses() {
    let scene = Scene::prepared("long-pad");
    scene.load_fully();
    let plan = String::from_utf8(scene.read("plan.toml")).unwrap();
    scene.write("plan.toml", (plan + "[workload]\nlong_pad = \"1MiB\"\n").as_bytes());
    for verb in ["prepare", "run"] {
        scene.run([verb, "plan.toml"]).expect_refusal(&["long_pad", "256"]);
    }
}

#[test]
fn a_program_that_was_stopped_blames_nothing_on_the_storage() {
    let scene = Scene::prepared("stopped");
    scene.load_fully();
    let mut child = scene.start(["run", "plan.toml", "-o", "run", "-q", "--duration", "16s"]);
    let journal = scene.path("run/record.jsonl");
    let measures = || fs::read_to_string(&journal).is_ok_and(|text| text.contains("\"measure\""));
    while !measures() && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(20));
    }
    thread::sleep(Duration::from_millis(1_500));
    signal(&child, "-STOP");
    thread::sleep(Duration::from_secs(3));
    signal(&child, "-CONT");
    // Sixteen seconds prove nothing, and it says so.
    end_within(child, Duration::from_secs(50)).expect_code(2);
    let report: serde_json::Value = serde_json::from_slice(&scene.read("run/report.json")).unwrap();
    let pauses = finding(&report, "pauses");
    let evidence = pauses["evidence"][0].as_str().unwrap();
    assert!(evidence.contains("left out of latencies and rates"), "{pauses}");
    let longest = finding(&report, "longest-request")["measured"].as_f64().unwrap();
    assert!(longest < 2_900.0, "{longest} ms");
}
