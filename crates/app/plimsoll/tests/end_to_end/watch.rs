//! A run seen by others: `watch` from another process, events for programs, and who is notified.

use std::fs;

use serde_json::Value;

use crate::scene::{Ran, Scene};

/// Every line of a text as JSON.
fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn count(events: &[Value], name: &str) -> usize {
    events.iter().filter(|event| event["event"] == name).count()
}

#[test]
fn a_run_is_watched_from_another_process_and_ends_as_it_does() {
    let scene = Scene::prepared("watch");
    let run = scene.start(["run", "plan.toml", "--duration", "5s", "-o", "out"]);
    while !scene.path("out/record.jsonl").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let watched = scene.run(["watch", "out", "--json"]);
    let run = Ran::of(&run.wait_with_output().unwrap());
    assert_eq!(watched.code, run.code, "{}\n{}", watched.err, run.err);
    let events = lines(&watched.out);
    assert!(count(&events, "interval") >= 5, "{}", watched.out);
    assert_eq!(count(&events, "finished"), 1);
    let end = events.last().unwrap();
    assert_eq!((&end["event"], &end["kind"]), (&"verdict".into(), &"event".into()));
    assert_eq!(end["exit_status"], run.code.unwrap());
    // It has ended by now: the last words of the run again, without a wait.
    let again = scene.run(["watch", "out"]);
    assert_eq!(again.code, run.code);
    assert!(run.out.starts_with(again.out.trim_end()), "{}\n{}", again.out, run.out);
}

#[test]
fn a_test_of_a_set_is_watched_with_what_follows_it() {
    let scene = Scene::prepared("watch-set");
    scene.replay_logs(3);
    let words = ["run", "plan.toml", "--test", "all", "--duration", "3s", "-o", "set"];
    let set = scene.start(words);
    while !scene.path("set/1-performance/set.json").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let watched = scene.run(["watch", "set"]);
    watched.expect_err(&["This is test 1 of 4 of a set; those after it take at least 3 s."]);
    set.wait_with_output().unwrap();
    // By itself it is no test of a set.
    let run = scene.run(["run", "plan.toml", "--duration", "2s", "-o", "out"]);
    assert!(!run.err.contains("of a set"), "{}", run.err);
    assert!(!scene.path("out/set.json").exists());
}

#[test]
fn a_held_load_says_from_when_on_it_is_held() {
    let scene = Scene::prepared("held");
    let held = scene.run(["run", "plan.toml", "--target-iops", "48", "-o", "held"]);
    held.expect_err(&[
        "The load: held at 48 IOPS from the first request, warm-up and the search for sessions \
         included. A warm-up of at most 1 s, then 2 s measured",
    ]);
    let text = String::from_utf8(scene.read("held/report.txt")).unwrap();
    assert!(text.contains("held at 48 IOPS in all from the first request"), "{text}");
    let pace = |text: &str| {
        let mut lines = text.lines().filter(|line| line.contains("Pace of the Warm-Up"));
        lines.next().unwrap_or_default().to_owned()
    };
    assert!(pace(&text).ends_with("the target, from the first request"), "{text}");
    scene.change("plan.toml", |plan| plan.extend_from_slice(b"warm_up = \"full\"\n"));
    let full = scene.run(["run", "plan.toml", "--target-iops", "48", "-o", "full"]);
    full.expect_err(&["as fast as the storage answers, then held at 48 IOPS."]);
    let text = String::from_utf8(scene.read("full/report.txt")).unwrap();
    assert!(pace(&text).contains("as fast as the storage answered"), "{text}");
}

#[test]
fn a_run_that_was_killed_ends_the_watch() {
    let scene = Scene::prepared("watch-killed");
    let mut run = scene.start_load(&["run", "plan.toml"]);
    let watch = scene.start(["watch", "out"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    run.kill().unwrap();
    run.wait().unwrap();
    let watched = Ran::of(&watch.wait_with_output().unwrap());
    watched.expect_code(2).expect_out(&["CANNOT JUDGE"]);
}

#[test]
fn what_is_no_run_is_not_watched() {
    let scene = Scene::new("watch-none");
    scene.run(["watch", "absent"]).expect_refusal(&["absent"]);
    scene.run(["watch"]).expect_refusal(&["no record.jsonl is in it"]);
    scene.write("plan.toml", b"[databases]\n");
    scene.run(["watch", "plan.toml"]).expect_refusal(&["plan.toml"]);
}

#[test]
fn programs_read_events_on_the_error_output_and_the_report_alone_on_the_other() {
    let scene = Scene::prepared("events");
    let ran = scene.run(["run", "plan.toml", "--json", "-o", "out"]);
    let events = lines(&ran.err);
    assert!(count(&events, "interval") >= 2 && count(&events, "finished") == 1, "{}", ran.err);
    for event in &events {
        assert_eq!((&event["schema"], &event["kind"]), (&1.into(), &"event".into()), "{event}");
        assert!(event["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{event}");
    }
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["exit_code"], ran.code.unwrap());
    let quiet = scene.run(["run", "plan.toml", "--json", "--quiet", "-o", "quiet"]);
    assert_eq!(count(&lines(&quiet.err), "interval"), 0, "{}", quiet.err);
}

#[test]
fn an_error_is_an_object_where_a_program_reads_it() {
    let scene = Scene::new("errors");
    for (words, status) in [
        (vec!["check", "absent.edb", "--json"], 2),
        (vec!["check", "--json"], 64),
        (vec!["run", "plan.toml", "--json", "--duration", "soon"], 64),
    ] {
        let ran = scene.run(words);
        ran.expect_code(status);
        let error = lines(&ran.err).pop().unwrap();
        assert_eq!((&error["kind"], &error["exit_status"]), (&"error".into(), &status.into()));
        assert!(!error["error"].as_str().unwrap().is_empty(), "{error}");
        assert_eq!(ran.out, "");
    }
}

#[test]
fn a_wrong_command_line_ends_with_64_and_help_with_0() {
    let scene = Scene::prepared("usage");
    scene.run(["check"]).expect_code(64).expect_err(&["Usage: plimsoll check"]);
    scene.run(["fly"]).expect_code(64).expect_err(&["fly"]);
    scene.run::<&str>([]).expect_code(64).expect_out(&["plimsoll quick", "plimsoll --help"]);
    scene.run(["run", "plan.toml", "--duration", "soon"]).expect_wrong_usage(&["soon", "such as"]);
    let backup = ["run", "plan.toml", "--test", "backup", "--duration", "9s"];
    scene.run(backup).expect_code(64).expect_err(&["--duration has no effect"]);
    scene.run(["run", "--help"]).expect_code(0).expect_out(&["Usage: plimsoll run"]);
    scene.run(["--version"]).expect_code(0).expect_out(&["plimsoll "]);
}

#[test]
fn a_command_is_run_at_the_end_and_no_name_becomes_a_part_of_it() {
    let scene = Scene::prepared("notify");
    let name = "$(touch pwned); touch pwned & `touch pwned`";
    let told = "printf '%s\\n' \"$PLIMSOLL_NAME\" \"$PLIMSOLL_EXIT_STATUS\" \
                \"$PLIMSOLL_VERDICT\" \"$PLIMSOLL_RUN\" > told; exit 9";
    let words = ["run", "plan.toml", "--name", name, "-o", "a $(touch pwned)", "--notify", told];
    let ran = scene.run(words);
    ran.expect_err(&["--notify: the command ended with exit status 9; the verdict stands"]);
    let text = fs::read_to_string(scene.path("told")).unwrap();
    let status = ran.code.unwrap();
    let verdict = ["pass", "fail", "cannot_judge"][usize::try_from(status).unwrap()];
    let expected = [name, &status.to_string(), verdict, "a $(touch pwned)"];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    assert!(!scene.path("pwned").exists());
    let watched = scene.run(["watch", "a $(touch pwned)", "--notify", "exit 0"]);
    assert_eq!(watched.code, ran.code);
    // An error is an end too.
    let told = "echo \"$PLIMSOLL_VERDICT $PLIMSOLL_EXIT_STATUS $PLIMSOLL_HEADLINE\" > told";
    scene.run(["run", "absent.toml", "--notify", told]).expect_refusal(&["absent.toml"]);
    let text = fs::read_to_string(scene.path("told")).unwrap();
    assert!(text.starts_with("error 2 absent.toml: "), "{text}");
}
