//! Other programs on the same machine: named where they take the processors, and only then.

use std::fs;
use std::process::{Child, Command, Stdio};

use crate::scene::Scene;

/// More than most other tests have threads.
const BURNERS: usize = 8;

/// Processes named `burner`, ended with this.
struct Burners(Vec<Child>);

impl Burners {
    /// Starts them on `script`; nothing is ever written to their standard input.
    fn start(scene: &Scene, script: &str) -> Self {
        let program = scene.path("burner");
        if !program.exists() {
            fs::copy("/bin/sh", &program).unwrap();
        }
        let start = |_| {
            // The kernel shares processors out by session first where a desktop or build has one.
            let mut command = Command::new("setsid");
            let program = program.to_str().unwrap();
            command.args([program, "-c", script]).stdin(Stdio::piped());
            command.spawn().unwrap()
        };
        Self((0..BURNERS).map(start).collect())
    }
}

impl Drop for Burners {
    fn drop(&mut self) {
        for child in &mut self.0 {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

/// What the program says while it runs beside `script`, and every report of it.
fn run_beside(scene: &Scene, script: &str, folder: &str) -> (String, Vec<String>) {
    let burners = Burners::start(scene, script);
    let ran = scene.run(["run", "plan.toml", "-o", folder]);
    drop(burners);
    assert!(!ran.err.contains("bug in plimsoll"), "{}", ran.err);
    let files = ["record.jsonl", "report.json", "report.txt", "report.html"];
    let text = |file: &str| {
        let bytes = scene.read(format!("{folder}/{file}"));
        String::from_utf8(bytes).unwrap()
    };
    (ran.err, files.map(text).into())
}

#[test]
fn programs_that_take_the_processors_are_named_and_idle_ones_are_not() {
    let scene = Scene::prepared("others");
    let (said, reports) = run_beside(&scene, "read line", "idle");
    for text in reports.iter().chain([&said]) {
        assert!(!text.contains("burner"), "{text}");
    }
    assert!(
        reports[0].contains("\"others_percent\""),
        "the shares are in the journal: {}",
        reports[0]
    );

    let (said, reports) = run_beside(&scene, "while :; do :; done", "busy");
    for words in ["top: burner", "stop the other programs"] {
        assert!(said.contains(words), "{said}");
    }
    for text in &reports {
        assert!(text.contains("burner"), "{text}");
    }
    let report: serde_json::Value = serde_json::from_str(&reports[1]).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let mut found = findings.iter().filter(|one| one["rule"] == "other-programs");
    let found = found.next().unwrap();
    assert_eq!(found["outcome"], "warning", "{found}");
    assert!(found["measured"].as_f64().unwrap() >= 25.0, "{found}");
    let before = &report["run"]["processors_before"];
    assert_eq!(before["top"]["name"], "burner", "{before}");
}
