//! `line` through the real program: what cannot be judged counts for nothing.

use crate::scene::Scene;

#[test]
fn loads_too_short_to_judge_are_repeated_left_out_and_said() {
    let scene = Scene::prepared("line");
    let ran = scene.run(["line", "plan.toml", "--step", "1s", "-o", "out", "--json"]);
    ran.expect_code(2);
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["kind"], "line");
    assert_eq!(json["load_line_iops"], serde_json::Value::Null);
    let steps = json["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 6, "{json}");
    for step in steps {
        assert_eq!(step["holds"], serde_json::Value::Null);
        assert!(step["iops"]["mean"].as_f64().unwrap() > 0.0);
    }
    let page = String::from_utf8(scene.read("out/line.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("not rest on 6 loads that"));
    assert!(scene.path("out/load-06/record.jsonl").exists());
}

#[test]
fn a_plan_without_a_load_and_a_folder_that_is_there_are_refused() {
    let scene = Scene::prepared("line-refused");
    let again = scene.run(["line", "plan.toml", "-o", "."]);
    again.expect_code(2);
    let plan = String::from_utf8(scene.read("plan.toml")).unwrap();
    let plan = plan.replace("[test]\nduration = \"2s\"", "[test]\ntype = \"backup\"");
    scene.write("plan.toml", plan.as_bytes());
    let refused = scene.run(["line", "plan.toml", "-o", "new"]);
    refused.expect_code(2);
    assert!(refused.err.contains("has no load"), "{}", refused.err);
    assert!(!scene.path("new").exists());
}
