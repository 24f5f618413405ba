//! `compare` and `list`: runs found and set side by side.

use serde_json::Value;

use crate::scene::Scene;
use crate::stalls::finding;

/// A scene with two runs of a load, one with half the target of the other, and a backup.
fn three_runs(name: &str) -> Scene {
    let scene = Scene::prepared(name);
    for (iops, folder) in [("200", "runs/full"), ("100", "runs/half")] {
        let words = ["run", "plan.toml", "--target-iops", iops, "--duration", "6s", "-o", folder];
        scene.run(words);
    }
    // No verdict is asked for: a machine busy with other work may deny one, and the runs still
    // compare.
    scene.run(["run", "plan.toml", "--test", "backup", "-o", "runs/backup"]);
    scene
}

fn runs(listed: &Value) -> impl Iterator<Item = &Value> {
    listed["runs"].as_array().unwrap().iter()
}

#[test]
fn names_of_runs_stand_in_a_comparison_if_they_tell_them_apart() {
    let scene = Scene::prepared("compare-names");
    for (name, folder) in [("array-a", "one"), ("array-b", "two"), ("array-b", "three")] {
        let words = ["run", "plan.toml", "--duration", "1s", "-q", "-o", folder, "--name", name];
        scene.run(words);
    }
    scene.run(["compare", "one", "two"]).expect_code(0).expect_out(&["array-a beside array-b"]);
    scene.run(["compare", "two", "three"]).expect_code(0).expect_out(&["two beside three"]);
    // Sets of one test each are named by their runs, too.
    for (folder, set) in [("one", "set-1"), ("two", "set-2"), ("three", "set-3")] {
        let part = scene.path(set).join("1-performance");
        std::fs::create_dir_all(&part).unwrap();
        std::fs::copy(scene.path(folder).join("record.jsonl"), part.join("record.jsonl")).unwrap();
    }
    scene.run(["compare", "set-1", "set-2"]).expect_out(&["array-a beside array-b", "A (array-a)"]);
    scene.run(["compare", "set-2", "set-3"]).expect_out(&["set-2 beside set-3"]);
}

#[test]
fn databases_that_grew_between_runs_are_made_alike_again() {
    let scene = Scene::prepared("reset");
    let bytes = |name: &str| std::fs::metadata(scene.path(name)).unwrap().len();
    let (fresh, file) = (bytes("Plimsoll001.edb"), "Plimsoll001.edb");
    let words = ["run", "plan.toml", "-q", "-o"];
    scene.load_fully();
    scene.run(words.iter().chain(&["one"]));
    let kept = scene.run(["prepare", "plan.toml"]);
    kept.expect_code(0).expect_out(&["was complete already"]);
    assert!(bytes(file) > fresh, "a run makes it grow");
    scene.run(["prepare", "plan.toml", "--reset"]).expect_code(0).expect_out(&["filled 32"]);
    assert_eq!(bytes(file), fresh);
    assert!(!scene.path("E00.plg").exists(), "its log belonged to what is gone");
    scene.run(["verify", file, "Plimsoll002.edb"]).expect_code(0);
    scene.run(words.iter().chain(&["two"]));
    assert!(scene.path("two/report.txt").exists());
    // A foreign database is not reset either.
    scene.change("Plimsoll001.manifest.json", Vec::clear);
    let before = scene.read(file);
    scene.run(["prepare", "plan.toml", "--reset"]).expect_refusal(&["Plimsoll001"]);
    assert!(scene.read(file) == before);
}

#[test]
fn runs_are_listed_and_compared_with_what_differs_between_them() {
    let scene = three_runs("compare");
    let listed = scene.run(["list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.expect_code(0).out).unwrap();
    let folders: Vec<String> = listed["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["folder"].as_str().unwrap().replace('\\', "/"))
        .collect();
    assert_eq!(folders, ["./runs/backup", "./runs/half", "./runs/full"], "the newest first");
    let ids: Vec<&str> = runs(&listed).map(|run| run["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["runs/backup", "runs/half", "runs/full"], "as the server calls them");
    assert!(runs(&listed).all(|run| run["state"] == "ended" && run["written"].is_string()));
    scene.run(["list", "runs"]).expect_code(0).expect_out(&["Verdict", "runs/half"]);

    scene.run(["compare", "runs/full", "runs/half"]).expect_code(0).expect_out(&[
        "full beside half",
        "NOT THE SAME WORK: TARGET IOPS",
        "Not the same work: the runs differ in target IOPS",
        "Achieved transactional IOPS",
    ]);
    let json = scene.run(["compare", "runs/full", "runs/half", "--json"]);
    let json: Value = serde_json::from_str(&json.expect_code(0).out).unwrap();
    let values = &json["metrics"][0]["values"];
    let [full, half] = [0, 1].map(|run| values[run]["value"].as_f64().unwrap());
    // How far apart they are depends on the machine, which six seconds are too short to know.
    let change = values[1]["change_percent"].as_f64().unwrap();
    assert!((change - (half / full - 1.0) * 100.0).abs() < 1e-9, "{values}");
    let words = ["compare", "runs/full", "runs/half", "--format", "html", "-o", "page.html"];
    scene.run(words).expect_code(0);
    assert!(String::from_utf8(scene.read("page.html")).unwrap().contains("<svg"));
    scene.run(words).expect_refusal(&["page.html", "--force"]);
}

#[test]
fn what_cannot_be_compared_is_refused_by_name() {
    let scene = three_runs("compare-refused");
    scene
        .run(["compare", "runs/full", "runs/backup"])
        .expect_refusal(&["full was a test of kind Performance", "backup one of kind"]);
    scene.run(["compare", "runs/full", "absent"]).expect_refusal(&["absent", "check the path"]);
    let words = [
        "compare",
        "runs/full",
        "runs/half",
        "--format",
        "text",
        "-o",
        "runs/full/record.jsonl",
        "--force",
    ];
    scene.run(words).expect_refusal(&["which the answer is made from"]);
    scene.write("runs/half/record.jsonl", b"no journal");
    scene.run(["compare", "runs/full", "runs/half"]).expect_refusal(&["runs/half", "first line"]);
    let listed = scene.run(["list"]);
    // One bad journal hides no run.
    listed.expect_code(0).expect_out(&["runs/full", "runs/backup"]).expect_err(&["runs/half"]);
}

#[test]
fn runs_in_two_folders_of_one_device_at_the_same_time_are_named() {
    let (one, two) = (Scene::prepared("beside-one"), Scene::prepared("beside-two"));
    let words = ["run", "plan.toml", "--duration", "4s", "-o", "out"];
    let run = one.start(words);
    two.run(words);
    run.wait_with_output().unwrap();
    let [first, second] = [&one, &two].map(|scene| scene.path("out").display().to_string());
    one.run(["compare", &first, &second]).expect_out(&["at the same time, for "]);
    // Each report alone names the other run, too.
    for (scene, other) in [(&one, &second), (&two, &first)] {
        let report = serde_json::from_slice(&scene.read("out/report.json")).unwrap();
        let found = finding(&report, "other-runs");
        // A limit that was missed beside it, if any, is not judged.
        assert!(
            ["warning", "cannot_judge"].contains(&found["outcome"].as_str().unwrap()),
            "{found}"
        );
        assert!(found.to_string().contains(&**other), "{found}");
    }
    // One after the other.
    two.run(["run", "plan.toml", "--duration", "2s", "-o", "later"]);
    let later = two.path("later").display().to_string();
    let compared = one.run(["compare", &first, &later]);
    assert!(!compared.unfolded().contains("at the same time"), "{}", compared.out);
}
