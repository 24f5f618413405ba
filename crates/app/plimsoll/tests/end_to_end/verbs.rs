//! The verbs that only look.

use std::fs::File;
use std::process::Stdio;

use crate::scene::Scene;

#[test]
fn a_prepared_database_can_be_looked_into() {
    let scene = Scene::prepared("verbs");
    let file = "Plimsoll001.edb";
    scene.run(["header", file]).expect_code(0).expect_out(&[
        "Clean Shutdown",
        "0x620,20",
        "32 KiB",
    ]);
    scene
        .run(["space", file])
        .expect_code(0)
        .expect_out(&["the database", "Messages: long values"]);
    scene.run(["dump", file, "--page", "1"]).expect_code(0).expect_out(&["state            good"]);
    scene.run(["dump", file, "--page", "0"]).expect_refusal(&["has no page 0"]);
    scene.run(["export", file]).expect_code(0).expect_out(&["MSysObjects", "Messages"]);
    scene.run(["export", file, "--table", "Absent"]).expect_refusal(&["has no table Absent"]);
    for words in [
        vec!["header", file, "--json"],
        vec!["space", file, "--json"],
        vec!["schema", file, "--json"],
        vec!["dump", file, "--page", "4", "--json"],
        vec!["inspect", ".", "--json"],
    ] {
        let ran = scene.run(words);
        ran.expect_code(0);
        serde_json::from_str::<serde_json::Value>(&ran.out).unwrap();
    }
}

#[test]
fn every_row_is_exported_with_its_long_value() {
    let scene = Scene::prepared("export");
    let file = "Plimsoll001.edb";
    let csv = scene.run(["export", file, "--table", "Messages"]);
    csv.expect_code(0);
    let manifest: serde_json::Value =
        serde_json::from_slice(&scene.read("Plimsoll001.manifest.json")).unwrap();
    let rows = manifest["rows"].as_u64().unwrap();
    assert_eq!(csv.out.lines().count() as u64, rows + 1);
    let lines = scene.run(["export", file, "--table", "Messages", "--format", "jsonl"]).out;
    assert_eq!(lines.lines().count() as u64, rows);
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["MessageId"], 1);
    assert_eq!(first["LongPad"].as_str().unwrap().len(), 2 * 1240);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let scene = Scene::prepared("pipe");
    let mut child = scene.start(["export", "Plimsoll001.edb", "--table", "Messages"]);
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_full_output_is_an_error() {
    let scene = Scene::new("full");
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        eprintln!("skipped: no /dev/full here");
        return;
    };
    let mut command = scene.command(["plan"]);
    let status = command.stdout(full).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn the_example_plan_is_understood() {
    let scene = Scene::new("example");
    let plan = scene.run(["plan"]);
    plan.expect_code(0);
    scene.write("plan.toml", plan.out.as_bytes());
    scene.run(["prepare", "plan.toml"]).expect_refusal(&["/mnt/disk", "no such folder"]);
}

#[test]
fn completions_know_the_verbs() {
    let scene = Scene::new("completions");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        scene
            .run(["completions", shell])
            .expect_code(0)
            .expect_out(&["prepare", "inspect", "schema"]);
    }
    // What bash offers behind an option, of files and names.
    scene.write("script", scene.run(["completions", "bash"]).out.as_bytes());
    scene.write("shelf-own.toml", b"");
    let offered = |words: &str, last: &str| {
        let line = format!(
            "source ./script; COMP_WORDS=({words} '{last}'); \
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _plimsoll plimsoll '{last}' \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; \
             echo \"${{COMPREPLY[@]}}\""
        );
        let mut bash = std::process::Command::new("bash");
        let output = bash.args(["-c", &line]).current_dir(&scene.folder).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let tests = "performance stress backup recovery checksum all\n";
    assert_eq!(offered("plimsoll run plan.toml --test", ""), tests);
    let shelves = offered("plimsoll simulate plan.toml --array", "shelf-");
    for name in ["shelf-own.toml", "shelf-10k", "shelf-15k"] {
        assert!(shelves.contains(name), "{name}: {shelves}");
    }
}
