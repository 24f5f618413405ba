//! `run --test all`: every test of the set, one report, and the remarks on tests not run.

use std::fs;

use serde_json::Value;

use crate::contract::expect_described;
use crate::scene::{PAGE_BYTES, Ran, Scene};
use crate::signals::send;

/// A prepared scene whose plan has short tests; `more` is appended to the plan.
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
    // Both loads were too short: said once, for the set, which gets a folder beside this one.
    // A busy machine adds to that step, and further steps.
    let longer = |line: &&str| line.starts_with("Next: ") && line.contains("Measure for longer");
    let next: Vec<&str> = ran.out.lines().filter(longer).collect();
    // Beside other work the cache may be at fault as well, for one of the loads.
    if !ran.out.contains("`cache_maximum`") {
        let of_both = next[0].starts_with("Next: Performance, Stress: ");
        assert!(next.len() == 1 && of_both, "{}", ran.out);
    }
    assert!(next[0].contains("--output set-2") && next[0].contains("--test all --duration"));
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

/// A set whose plan has a length for each load, and what it said; `other` is a copy of it.
fn two_sets(name: &str) -> (Scene, Ran) {
    let scene = scene(name, "stress_duration = \"1s\"\n");
    let ran = scene.run(["run", "plan.toml", "--test", "all", "-o", "set"]);
    copy_folder(&scene, "set", "other");
    (scene, ran)
}

/// Copies a set of tests.
pub(crate) fn copy_folder(scene: &Scene, from: &str, to: &str) {
    for part in ["1-performance", "2-stress", "3-backup", "4-recovery"] {
        fs::create_dir_all(scene.path(to).join(part)).unwrap();
        let journal = format!("{part}/record.jsonl");
        fs::copy(scene.path(from).join(&journal), scene.path(to).join(&journal)).unwrap();
    }
}

#[test]
fn a_set_is_one_test_for_every_verb() {
    let (scene, ran) = two_sets("one-test");
    // Before the start: the length of each step. The plan's duration applies to its kind only.
    ran.expect_code(2).expect_err(&[
        "4 tests of 2 databases: at least 3 s",
        "performance: 2 s ",
        " after a warm-up of at most 1 s, then a check of every page",
        "stress: 1 s",
        "recovery: generates 3 logs of 1 MiB for each database",
        "stress, test 2 of 4: at least",
    ]);
    let text = |words: &[&str], code| scene.run(words).expect_code(code).out.clone();
    let answer =
        |words: &[&str], code| -> Value { serde_json::from_str(&text(words, code)).unwrap() };
    let csv = text(&["report", "set", "--format", "csv"], 2);
    assert!(csv.starts_with("test,phase,from_s,"), "{csv}");
    assert!(csv.contains("\nStress,measurement,") && csv.contains("\nDatabase backup,"), "{csv}");
    let xml = text(&["report", "set", "--format", "xml"], 2);
    assert_eq!(xml.matches("<output>").count(), 2, "both loads have a result");
    assert!(xml.contains("<test name=\"Database backup\" folder=\"3-backup\" verdict=\"pass\">"));
    let words = ["report", "set", "--format", "csv", "-o", "set/2-stress/record.jsonl", "--force"];
    scene.run(words).expect_refusal(&["which the answer is made from"]);

    let backup = text(&["report", "set/3-backup", "--format", "text"], 0);
    assert!(backup.contains("Read the report of the whole set"), "{backup}");
    assert!(!backup.contains("load of a working day"), "{backup}");

    text(&["compare", "set", "other"], 0);
    scene.run(["compare", "set", "other"]).expect_out(&[
        "set beside other",
        "2 of 4 tests passed",
        "Soft recovery: not compared",
        "Database Backup",
    ]);
    let json = answer(&["compare", "set", "other", "--json"], 0);
    assert_eq!(
        (&json["kind"], json["tests"].as_array().unwrap().len()),
        (&"set_comparison".into(), 4)
    );
    let schema = answer(&["schema", "answers"], 0);
    expect_described(&schema, &json);
    assert_eq!(json["tests"][2]["comparison"]["metrics"][0]["values"][1]["change_percent"], 0.0);
    assert!(json["tests"][3]["not_compared"].is_string(), "{}", json["tests"][3]);
    let csv = text(&["compare", "set", "other", "--format", "csv"], 0);
    assert!(csv.starts_with("test,metric,") && csv.contains("\nDatabase backup,"), "{csv}");
    let mixed = scene.run(["compare", "set", "other/1-performance"]);
    mixed.expect_refusal(&["is a set of tests", "set/1-performance"]);

    let mut listed = answer(&["list", "--json"], 0);
    expect_described(&schema, &listed);
    let runs = listed["runs"].take();
    let folders: Vec<&str> =
        runs.as_array().unwrap().iter().map(|run| run["folder"].as_str().unwrap()).collect();
    assert_eq!(folders, ["./other", "./set"]);
    assert_eq!(runs[0]["verdict"], "cannot_judge");
    assert_eq!(runs[0]["tests"][1]["test"], "Stress");
    assert!(runs[0]["tests"][2]["backup_mib_per_second"].as_f64().is_some_and(|rate| rate > 0.0));
    assert!(runs[0]["tests"][0]["backup_mib_per_second"].is_null());
    scene.run(["list"]).expect_out(&["2 of 4", " MiB/s  ", "  ./set/3-backup"]);
    // A set at the deepest level of a list is a run of that level.
    fs::create_dir_all(scene.path("deep/er/est")).unwrap();
    copy_folder(&scene, "set", "deep/er/est");
    assert!(text(&["list", "."], 0).contains("./deep/er/est/2-stress"));
}

#[test]
fn lengths_are_given_for_each_load() {
    let scene = scene("lengths", "stress_duration = \"9min\"\n");
    let words = ["run", "plan.toml", "--duration", "stress=1s"];
    scene.run(words).expect_code(64).expect_err(&["--test all"]);
    let words = ["run", "plan.toml", "--test", "all", "--duration", "1s,stress=2s", "-o", "set"];
    scene.run(words).expect_err(&["performance: 1 s", "stress: 2 s"]);
    let report = json(&scene);
    let settings = [0, 1].map(|at| report["tests"][at]["report"]["run"]["settings"].clone());
    assert_eq!(
        settings.map(|of| of["measure_ns"].as_u64()),
        [1, 2].map(|s| Some(s * 1_000_000_000))
    );
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
    let live = scene.run(["report", "set"]);
    live.expect_code(2).expect_out(&[
        "Performance: it is still running.",
        "Stress: it is still waiting for its turn.",
        "set/1-performance: measurement: ",
        "plimsoll watch set follows it until then",
    ]);
    assert!(live.out.starts_with("STILL RUNNING  0 of 4 tests passed so far"), "{}", live.out);
    assert!(!live.out.contains("Next: ") && !scene.path("set/report.html").exists());
    send("-INT", &child);
    let ran = Ran::of(&child.wait_with_output().unwrap());
    ran.expect_code(2).expect_out(&["0 of 4 tests passed", "Not run: stopped by the user"]);
    assert!(!ran.err.contains("test 2 of 4"), "a test that is not made is announced: {}", ran.err);
    let report = json(&scene);
    assert_eq!(report["tests"][2]["not_run"], "stopped by the user");
    assert!(!scene.path("set/2-stress").exists());
    let missing = "plimsoll run plan.toml --test backup --output set/3-backup";
    ran.expect_out(&[
        "Next: Performance: Complete it",
        ": plimsoll run --resume set/1-performance",
        "Next: Stress: Run it, and then report the whole set (plimsoll report set): plimsoll run \
         plan.toml --test stress --duration 1min --output set/2-stress",
        missing,
    ]);
    scene.run(["list", "."]).expect_out(&["3 of 4 tests were not run; plimsoll report "]);
    scene.run(missing.split(' ').skip(1)).expect_code(0);
    let said = scene.run(["report", "set", "--format", "text"]);
    said.expect_out(&["1 of 4", "FOLDER/2-stress"]);
    assert!(!said.out.contains("FOLDER/3-backup"), "{}", said.out);
}

#[test]
fn a_folder_with_a_set_is_refused_and_its_tests_are_repeated_in_it() {
    let (scene, ran) = two_sets("repeated-set");
    ran.expect_code(2);
    let words = ["run", "plan.toml", "--test", "all", "-o", "set"];
    scene.run(words).expect_refusal(&["set: holds a set of tests already"]);
    let words = ["run", "plan.toml", "--test", "backup", "-q", "-o", "set/3-backup-2"];
    scene.run(words).expect_code(0);
    let said = scene.run(["report", "set"]);
    said.expect_out(&["2 of 4 tests passed", "This is 3-backup-2, in place of 3-backup."]);
    let listed = scene.run(["list", ".", "--json"]).out;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let runs = listed["runs"].as_array().unwrap();
    let folder = |run: &Value| run["folder"].as_str().unwrap().to_owned();
    let set = runs.iter().find(|run| folder(run) == "./set").unwrap();
    assert_eq!(folder(&set["tests"][2]), "./set/3-backup-2");
    assert!(runs.iter().any(|run| folder(run) == "./set/3-backup"), "it is a run for itself");
    scene.run(["list"]).expect_out(&["replaced in its set by a later run"]);
    let paper = ["report", "set", "--format", "esrp", "-o", "paper.html"];
    assert!(!scene.run(paper).err.contains("name one of them"));
    assert!(scene.path("paper.html").is_file(), "the last run of each test is in it");
    // A run of another kind does not become the test after which its folder is named.
    let words = ["run", "plan.toml", "--duration", "2s", "-q", "-o", "set/3-backup-3"];
    scene.run(words);
    scene.run(["report", "set"]).expect_out(&["This is 3-backup-2, in place of 3-backup."]);
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
