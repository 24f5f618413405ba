//! What a terminal of few columns shows: `script` gives the program one.

use std::process::Command;

use crate::scene::{Scene, small_plan};

/// The program's output on a terminal of `columns` columns.
fn shown(scene: &Scene, columns: u32, words: &str) -> Option<Vec<String>> {
    let program = env!("CARGO_BIN_EXE_plimsoll");
    let command = format!("stty cols {columns} rows 40; {program} {words}");
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(&scene.folder);
    let Ok(output) = script.stdin(std::process::Stdio::null()).output() else {
        eprintln!("skipped: no `script` here to give a terminal");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
    Some(text.lines().map(str::to_owned).collect())
}

#[track_caller]
/// Only a word that is longer than a line, such as the path of another test's run, may be too wide.
fn expect_narrow(lines: &[String], columns: usize) {
    assert!(lines.len() > 2, "{lines:?}");
    let mut wide = lines.iter().filter(|line| line.chars().count() > columns);
    let broken = wide.find(|line| line.trim().contains(' '));
    assert!(broken.is_none(), "{columns} columns: {broken:?}");
}

#[test]
fn answers_and_lists_fit_the_terminal_and_break_between_words() {
    let scene = Scene::prepared("narrow");
    scene.run(["run", "plan.toml", "--duration", "2s", "-q", "-o", "one", "--name", "array-a"]);
    scene.run(["run", "plan.toml", "--duration", "2s", "-q", "-o", "two", "--name", "array-b"]);
    let whole = scene.run(["report", "one"]).out;
    let words: Vec<&str> = whole.split_whitespace().collect();
    for columns in [60, 80, 200] {
        let Some(report) = shown(&scene, columns, "report one") else {
            return;
        };
        expect_narrow(&report, columns as usize);
        let told: Vec<&str> = report.iter().flat_map(|line| line.split_whitespace()).collect();
        assert_eq!(told, words, "{columns}: every word is whole");
        let text = shown(&scene, columns, "report one --format text").unwrap();
        expect_narrow(&text, columns as usize);
        let list = shown(&scene, columns, "list").unwrap();
        expect_narrow(&list, columns as usize);
        let text = list.join("\n");
        assert!(text.contains("array-a") && text.contains("./one"), "{text}");
        assert_eq!(list.len(), if columns == 200 { 3 } else { 6 }, "{text}");
        let compared = shown(&scene, columns, "compare one two").unwrap();
        expect_narrow(&compared, columns as usize);
    }
    for run in ["one", "two"] {
        let set = scene.path(format!("set-{run}/1-performance"));
        std::fs::create_dir_all(&set).unwrap();
        std::fs::copy(scene.path(run).join("record.jsonl"), set.join("record.jsonl")).unwrap();
    }
    for columns in [60, 80] {
        let compared = shown(&scene, columns, "compare set-one set-two").unwrap();
        expect_narrow(&compared, columns as usize);
    }
    // A pipe gets lines that programs can search.
    let line = |words: &[&str]| scene.run(words).out.lines().map(str::len).max();
    assert!(line(&["list"]) > Some(80));
}

#[test]
fn a_ranking_of_arrays_fits_the_terminal() {
    let scene = Scene::new("narrow-ranking");
    scene.write("plan.toml", small_plan(&scene.folder).as_bytes());
    let ask = "simulate plan.toml --array shelf-15k --duration 2s --what-if raid.level=10,5";
    for columns in [60, 80] {
        let Some(ranking) = shown(&scene, columns, &format!("{ask} -q -o ranked-{columns}")) else {
            return;
        };
        expect_narrow(&ranking, columns as usize);
        assert!(ranking.join("\n").contains("raid.level"), "{ranking:?}");
    }
}

#[test]
fn a_simulated_run_is_listed_by_when_it_was_made() {
    let scene = Scene::new("simulated-when");
    scene.write("plan.toml", small_plan(&scene.folder).as_bytes());
    let words = ["simulate", "plan.toml", "--array", "nvme", "--duration", "2s", "-q", "-o", "sim"];
    scene.run(words);
    let list = scene.run(["list"]).out;
    assert!(!list.contains("2020-01-01"), "{list}");
    let listed = scene.run(["list", "--json"]).out;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let run = &listed["runs"][0];
    let day = &run["written"].as_str().unwrap()[..10];
    assert!(list.contains(day), "{list}");
    assert_eq!(run["started"], serde_json::Value::Null, "its clock is its own");
    assert_eq!(run["simulated"].as_str().map(str::is_empty), Some(false));
}
