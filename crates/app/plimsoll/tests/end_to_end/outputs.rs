//! Where `-o` leads to: the form that the ending names, folders that are not there yet, pipes.

use std::fs;
use std::process::{Command, Stdio};

use crate::scene::{Ran, Scene};

const FILE: &str = "Plimsoll001.edb";

/// A scene with a run of a load.
fn scene_with_run(name: &str) -> Scene {
    let scene = Scene::prepared(name);
    scene.run(["run", "plan.toml", "--duration", "2s", "-q", "-o", "deep/er/run"]);
    assert!(scene.path("deep/er/run/report.txt").exists());
    scene
}

#[test]
fn the_ending_of_a_file_names_the_form_of_a_report() {
    let scene = scene_with_run("endings");
    let run = "deep/er/run";
    for (file, begin) in [
        ("r.html", "<!DOCTYPE html>"),
        ("r.json", "{"),
        ("r.csv", "phase,"),
        ("r.xml", "<?xml"),
        ("r.docx", "PK"),
        ("R.HTML", "<!DOCTYPE html>"),
    ] {
        scene.run(["report", run, "-o", file]);
        let bytes = scene.read(file);
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
        assert!(start.starts_with(begin), "{file}: {start}");
    }
    scene.run(["report", run, "-o", "r.txt"]);
    assert!(!String::from_utf8(scene.read("r.txt")).unwrap().starts_with('<'));
    let unknown = scene.run(["report", run, "-o", "r.pdf"]);
    unknown.expect_refusal(&["r.pdf", "no form has the ending .pdf", ".docx", "--format"]);
    let paper = scene.run(["report", run, "--format", "esrp", "-o", "r.pdf"]);
    paper.expect_refusal(&["r.pdf", "no form has the ending .pdf", ".html or .docx"]);
    let other = scene.run(["report", run, "--format", "html", "-o", "x.csv"]);
    other.expect_refusal(&["x.csv", "--format html has another ending", ".html"]);
    assert!(!scene.path("x.csv").exists() && !scene.path("r.pdf").exists());
    scene.run(["compare", run, run, "-o", "c.csv"]).expect_code(0);
    assert!(scene.read("c.csv").starts_with(b"metric,"), "no CSV");
}

#[test]
fn the_rows_of_a_table_go_where_they_are_sent() {
    let scene = Scene::prepared("export-file");
    let words = ["export", FILE, "--table", "Messages"];
    let csv = scene.run(words).out;
    let to = |file: &str| scene.run(words.iter().chain(&["-o", file]));
    to("a/b/rows.csv").expect_code(0);
    assert!(scene.read("a/b/rows.csv") == csv.as_bytes());
    to("rows.jsonl").expect_code(0);
    assert!(scene.read("rows.jsonl").starts_with(b"{\"MessageId\":1,"));
    to("rows.jsonl").expect_refusal(&["rows.jsonl", "is there already", "--force"]);
    scene.run(words.iter().chain(&["-o", "rows.jsonl", "--force"])).expect_code(0);
    let before = scene.read(FILE);
    let over = scene.run(words.iter().chain(&["--format", "csv", "-o", FILE, "--force"]));
    over.expect_refusal(&["which the answer is made from"]);
    assert!(scene.read(FILE) == before);
    // Without rows there is nothing to send.
    scene.run(["export", FILE, "-o", "x.csv"]).expect_code(64);
}

#[test]
fn an_answer_may_go_into_the_standard_output_or_a_pipe() {
    let scene = scene_with_run("streams");
    let report = ["report", "deep/er/run", "--format", "json"];
    let plain = scene.run(report).out;
    for name in ["/dev/stdout", "-", "/proc/self/fd/1"] {
        assert_eq!(scene.run(report.iter().chain(&["-o", name])).out, plain, "{name}");
    }
    let rows = ["export", FILE, "--table", "Messages", "-o", "/dev/stdout"];
    assert_eq!(scene.run(rows).out, scene.run(&rows[..4]).out);
    // A named pipe, and the one that a shell makes of `>(...)`.
    assert!(Command::new("mkfifo").arg(scene.path("pipe")).status().unwrap().success());
    let mut reader = Command::new("cat");
    let reader = reader.arg(scene.path("pipe")).stdout(Stdio::piped()).spawn().unwrap();
    scene.run(report.iter().chain(&["-o", "pipe"]));
    let read = reader.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&read.stdout), plain);
    scene.run(report.iter().chain(&["-o", "/dev/null"]));
}

#[test]
fn folders_on_the_way_are_made_or_refused_in_one_sentence() {
    let scene = scene_with_run("parents");
    let plan = "[[tier]]\nmailboxes = 200\nmessages_per_day = 100\nsize_limit = \"1GiB\"\n\
        [availability]\nservers_per_site = 2\ncopies = 2\n";
    scene.write("d.toml", plan.as_bytes());
    scene.write("file", b"no folder");
    let run = "deep/er/run";
    let verbs: [&[&str]; 6] = [
        &["report", run, "--format", "text", "-o"],
        &["compare", run, run, "-o"],
        &["export", FILE, "--table", "Messages", "-o"],
        &["export", FILE, "--all", "-o"],
        &["plan", "d.toml", "-o"],
        &["man", "-o"],
    ];
    for (number, words) in verbs.into_iter().enumerate() {
        let place = format!("new/{number}/answer");
        let made = scene.run(words.iter().chain(&[&*place]));
        assert!(scene.path(&place).exists(), "{words:?}: {}", made.err);
        let refused = scene.run(words.iter().chain(&["file/answer"]));
        refused.expect_refusal(&["file"]);
    }
    let line = ["line", "plan.toml", "--step", "1s", "-q", "-o", "file/answer"];
    scene.run(line).expect_refusal(&["file", "cannot make this folder"]);
    assert_eq!(fs::read(scene.path("file")).unwrap(), b"no folder");
}

#[test]
fn a_word_that_is_no_kind_of_schema_lists_the_kinds() {
    let scene = Scene::new("schema-kinds");
    let ran: Ran = scene.run(["schema", "nonsense"]);
    ran.expect_refusal(&["nonsense", "neither a file nor a kind", "plan, deployment, report"]);
    scene.run(["schema", "absent.edb"]).expect_refusal(&["absent.edb", "check the path"]);
}
