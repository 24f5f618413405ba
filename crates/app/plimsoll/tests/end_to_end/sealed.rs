//! Journals that were changed after the run, cut short, or written before there were seals.

use serde_json::Value;

use crate::scene::Scene;

fn report(scene: &Scene) -> Value {
    serde_json::from_str(&scene.run(["report", "run", "--format", "json"]).out).unwrap()
}

/// The journal without the hashes of its lines, as the first programs wrote it.
fn unsealed(journal: &str) -> String {
    let bare = |line: &str| {
        let (body, _) = line.rsplit_once(",\"chain\":").unwrap();
        format!("{body}}}\n")
    };
    journal.lines().map(bare).collect()
}

#[test]
fn a_journal_that_was_changed_is_called_altered() {
    let scene = Scene::prepared("altered");
    scene.run(["run", "plan.toml", "-o", "run", "--quiet"]);
    let journal = String::from_utf8(scene.read("run/record.jsonl")).unwrap();
    let whole = report(&scene);
    assert_eq!(whole["run"]["seal"], "whole");
    let hash = whole["run"]["seal_hash"].as_str().unwrap().to_owned();
    for form in ["run/report.txt", "run/report.html", "run/report.json"] {
        let text = String::from_utf8(scene.read(form)).unwrap();
        assert!(text.contains(&hash), "{form}");
    }

    let raised = journal.replace("\"read_average_ns\":20000000", "\"read_average_ns\":90000000");
    assert_ne!(raised, journal);
    scene.write("run/record.jsonl", raised.as_bytes());
    let ran = scene.run(["report", "run"]);
    ran.expect_code(2).expect_out(&["CANNOT JUDGE", "altered"]).expect_err(&["ALTERED", "line 1"]);
    let altered = report(&scene);
    assert_eq!(altered["verdict"], "cannot_judge");
    assert_eq!(altered["run"]["seal"], "altered");
    assert_eq!(altered["run"]["seal_hash"], Value::Null);
    for form in ["text", "html"] {
        scene.run(["report", "run", "--format", form]).expect_code(2).expect_out(&["ALTERED"]);
    }

    let last = journal.trim_end().rfind('\n').unwrap();
    scene.write("run/record.jsonl", &journal.as_bytes()[..last + 20]);
    assert_eq!(report(&scene)["run"]["seal"], "whole", "cut short is not altered");

    scene.write("run/record.jsonl", unsealed(&journal).as_bytes());
    let old = report(&scene);
    assert_eq!(old["run"]["seal"], "unsealed");
    assert_eq!(old["exit_code"], whole["exit_code"]);
    scene.run(["report", "run", "--format", "text"]).expect_out(&["unsealed"]);
    scene.run(["report", "run"]).expect_err(&["unsealed", "carry no hashes"]);
}

#[test]
fn a_run_that_cannot_begin_leaves_an_empty_folder_that_was_there() {
    let scene = Scene::prepared("kept-folder");
    std::fs::create_dir(scene.path("mine")).unwrap();
    scene.change("Plimsoll001.edb", |bytes| bytes[..64 << 10].fill(0));
    scene.run(["run", "plan.toml", "-o", "mine"]).expect_code(2);
    assert!(scene.path("mine").is_dir());
    scene.run(["run", "plan.toml", "-o", "new"]).expect_code(2);
    assert!(!scene.path("new").exists());
}
