//! `compare` and `list`: runs found and set side by side.

use serde_json::Value;

use crate::scene::Scene;

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
    scene.run(["list", "runs"]).expect_code(0).expect_out(&["Verdict", "runs/half"]);

    scene.run(["compare", "runs/full", "runs/half"]).expect_code(0).expect_out(&[
        "full beside half",
        "DOUBTFUL: ",
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
    let words = ["compare", "runs/full", "runs/half", "-o", "runs/full/record.jsonl", "--force"];
    scene.run(words).expect_refusal(&["which the answer is made from"]);
    scene.write("runs/half/record.jsonl", b"no journal");
    scene.run(["compare", "runs/full", "runs/half"]).expect_refusal(&["runs/half", "first line"]);
    let listed = scene.run(["list"]);
    // One bad journal hides no run.
    listed.expect_code(0).expect_out(&["runs/full", "runs/backup"]).expect_err(&["runs/half"]);
}
