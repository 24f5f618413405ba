//! White papers from runs: as page, as document, and refusals.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use crate::scene::Scene;

/// A scene with two short runs of one machine; their verdicts do not matter here.
fn scene(name: &str) -> Scene {
    let scene = Scene::prepared(name);
    scene.run(["run", "plan.toml", "--duration", "2s", "-q", "-o", "runs/load"]);
    scene.run(["run", "plan.toml", "--test", "backup", "-q", "-o", "runs/backup"]);
    scene
}

/// The text that a word processor reads; none where none is installed, which is said.
fn read_by_word_processor(scene: &Scene, document: &str) -> Option<String> {
    let converted = Command::new("soffice")
        .args(["--headless", "--convert-to", "txt:Text", "--outdir"])
        .arg(scene.path("."))
        .arg(scene.path(document))
        .env("HOME", scene.path("."))
        .output();
    let Ok(output) = converted else {
        let said = "skipped: no LibreOffice reads the document (Debian: libreoffice-writer-nogui)";
        let _ = writeln!(std::io::stderr(), "{said}");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(scene.read(document.replace(".docx", ".txt"))).unwrap())
}

#[test]
fn runs_become_a_paper_that_names_what_is_missing() {
    let scene = scene("paper");
    let template = scene.run(["report", "--vendor-template"]);
    template.expect_code(0);
    let said = template.out.replace("solution = \"\"", "solution = \"Shelf & 7\"");
    scene.write("vendor.toml", said.as_bytes());
    let words = ["report", "runs", "--format", "esrp", "--vendor", "vendor.toml", "-o"];
    // Two seconds of load prove nothing, and the paper's outcome is that of its runs.
    let ran = scene.run(words.iter().chain(&["paper.html"]));
    ran.expect_code(2);
    assert!(ran.err.contains("text.features"), "{}", ran.err);
    assert!(ran.err.contains("a run of the test of recovery"), "{}", ran.err);
    assert!(!ran.err.contains("cover.solution"), "{}", ran.err);
    let page = String::from_utf8(scene.read("paper.html")).unwrap();
    let refused = "This paper does not establish suitability";
    for part in ["<h1>Shelf &amp; 7</h1>", "Table 7: Backup", "[Missing: the features", refused] {
        assert!(page.contains(part), "{part}");
    }
    scene.run(words.iter().chain(&["paper.html"])).expect_refusal(&["paper.html"]);
    scene.run(words.iter().chain(&["paper.docx"])).expect_code(2);
    assert!(scene.read("paper.docx").starts_with(b"PK\x03\x04"));
    if let Some(text) = read_by_word_processor(&scene, "paper.docx") {
        for part in ["Shelf & 7", "Table 7: Backup", "[Missing: the features", "Test Log"] {
            assert!(text.contains(part), "{part}");
        }
        // As text there are no pages, so that only the instruction of the field must not be seen.
        let contents = text.lines().find(|line| line.starts_with("Overview"));
        assert!(!text.contains("PAGEREF"), "{contents:?}");
    }
}

#[test]
fn what_makes_no_paper_is_refused_and_leaves_nothing() {
    let scene = scene("no-paper");
    let paper = |more: &[&str]| {
        let words = ["report", "runs", "--format", "esrp", "-o", "paper.html"];
        scene.run(words.iter().chain(more))
    };
    scene.write("wrong.toml", b"[cover]\ncolour = \"blue\"\n");
    paper(&["--vendor", "wrong.toml"]).expect_refusal(&["line 2", "colour", "--vendor-template"]);
    scene.write("figure.toml", b"[[figures]]\nfile = \"wrong.toml\"\n");
    paper(&["--vendor", "figure.toml"]).expect_refusal(&["wrong.toml", "is no PNG"]);
    scene.write("absent.toml", b"[[figures]]\nfile = \"absent.png\"\n");
    paper(&["--vendor", "absent.toml"]).expect_refusal(&["absent.png"]);
    scene
        .run(["report", "runs/load", "--vendor", "wrong.toml"])
        .expect_code(64)
        .expect_err(&["--format esrp"]);
    scene
        .run(["report", "runs/load", "runs/backup"])
        .expect_code(64)
        .expect_err(&["plimsoll compare"]);
    fs::create_dir_all(scene.path("twice")).unwrap();
    for name in ["one", "other"] {
        scene.run(["run", "plan.toml", "--test", "backup", "-q", "-o", &format!("twice/{name}")]);
    }
    let twice = scene.run(["report", "twice", "--format", "esrp", "-o", "paper.html"]);
    twice.expect_refusal(&["2 runs of", "test of backup", "name one of them"]);
    assert!(!scene.path("paper.html").exists());
}

#[test]
fn intervals_are_read_by_spreadsheets() {
    let scene = scene("intervals");
    let csv = scene.run(["report", "runs/load", "--format", "csv"]).out.clone();
    let mut lines = csv.lines();
    let columns = lines.next().unwrap().split(',').count();
    assert!(lines.clone().count() > 4, "{csv}");
    assert!(lines.all(|line| line.split(',').count() == columns), "{csv}");
    assert!(csv.contains("measurement") && csv.contains(",Log writes,"), "{csv}");
}
