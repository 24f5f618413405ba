//! Identity of runs: names and tags, where they appear, and invalid names.

use serde_json::Value;

use crate::scene::Scene;

fn json(scene: &Scene, words: &[&str]) -> Value {
    serde_json::from_str(&scene.run(words).expect_code(0).out).unwrap()
}

/// The folder of the only run.
fn run_folder(scene: &Scene) -> String {
    let entries = std::fs::read_dir(&scene.folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let runs: Vec<String> = names.filter(|name| name.starts_with("run-")).collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs[0].clone()
}

#[test]
fn a_name_and_tags_are_in_folder_title_report_and_list() {
    let scene = Scene::prepared("identity");
    let name = ["--name", "array a", "--tag", "rack-3", "--tag", "before"];
    // No verdict is asked for: a machine busy with other work may deny one.
    scene.run(["run", "plan.toml", "--test", "backup"].iter().chain(&name));
    let folder = run_folder(&scene);
    let moment = folder.strip_prefix("run-array-a-").expect("the folder has the run's name");
    assert_eq!(moment.len(), "20261123-213000".len(), "{folder}");
    let page = String::from_utf8(scene.read(format!("{folder}/report.html"))).unwrap();
    assert!(page.contains(": array a on "), "the title names the run");
    let report: Value =
        serde_json::from_slice(&scene.read(format!("{folder}/report.json"))).unwrap();
    let run = &report["run"];
    assert_eq!(run["name"], "array a");
    assert_eq!(run["tags"], serde_json::json!(["rack-3", "before"]));
    for time in ["started", "ended"] {
        let text = run[time].as_str().unwrap();
        assert!(text.contains('T') && text.ends_with('Z'), "{time}: {text}");
    }
    let listed = json(&scene, &["list", "--json", "--tag", "before"]);
    assert_eq!(listed["runs"][0]["name"], "array a");
    assert_eq!(json(&scene, &["list", "--json", "--tag", "after"])["runs"], serde_json::json!([]));
    let both = ["list", "--json", "--tag", "before", "--tag", "after"];
    assert_eq!(json(&scene, &both)["runs"], serde_json::json!([]), "every tag must be there");
    scene.run(["list"]).expect_code(0).expect_out(&["array a", "[rack-3, before]"]);
}

#[test]
fn without_a_name_a_run_has_that_of_its_plan() {
    let scene = Scene::prepared("identity-plan");
    scene.run(["run", "plan.toml", "--test", "backup"]);
    assert!(run_folder(&scene).starts_with("run-small-"), "the plan is called small");
}

#[test]
fn what_would_leave_the_folder_is_no_name() {
    let scene = Scene::prepared("identity-refused");
    let before = scene.listing();
    let long = "x".repeat(65);
    for name in ["../up", "a/b", "a\\b", ".hidden", "", &long, "a\u{1b}[2J"] {
        for flag in ["--name", "--tag"] {
            let ran = scene.run(["run", "plan.toml", "--test", "backup", flag, name]);
            ran.expect_wrong_usage(&[flag]);
        }
    }
    scene.change("plan.toml", |plan| {
        *plan = String::from_utf8(plan.clone()).unwrap().replace("small", "up/here").into_bytes();
    });
    let ran = scene.run(["run", "plan.toml", "--test", "backup"]);
    ran.expect_refusal(&["plan.toml:1", "name", "no folder's name can"]);
    let after = scene.listing();
    let names = |listing: &[(String, u64)]| -> Vec<String> {
        listing.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&before), names(&after), "nothing was made");
    let resumed = scene.run(["run", "--resume", "out", "--name", "other"]);
    resumed.expect_code(64).expect_err(&["--name"]);
}
