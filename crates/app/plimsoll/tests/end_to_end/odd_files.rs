//! Paths that are no file on a disk, or another file than expected: refused at once with one
//! message, never waited for and never a panic.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::scene::{Scene, small_plan};

/// Every verb that reads a database, on `file`.
fn readers(file: &str) -> Vec<Vec<&str>> {
    let verbs = ["check", "header", "schema", "space", "export", "verify", "recover"];
    let mut all: Vec<Vec<&str>> = verbs.iter().map(|verb| vec![*verb, file]).collect();
    all.push(vec!["dump", file, "--page", "1"]);
    all
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let scene = Scene::new("pipe");
    let made = Command::new("mkfifo").arg(scene.path("pipe.edb")).status();
    assert!(made.unwrap().success());
    for words in readers("pipe.edb") {
        scene.run(words).expect_refusal(&[
            "pipe.edb",
            "a pipe or a device",
            "name a file on a disk",
        ]);
    }
    scene.run(["report", "pipe.edb"]).expect_refusal(&["pipe.edb", "name a file on a disk"]);
}

#[test]
fn a_folder_in_place_of_a_database_is_refused() {
    let scene = Scene::new("folder");
    fs::create_dir(scene.path("folder.edb")).unwrap();
    for words in readers("folder.edb") {
        scene.run(words).expect_refusal(&["folder.edb", "name a file"]);
    }
}

#[test]
fn an_impossible_path_is_to_be_checked() {
    let scene = Scene::new("path");
    symlink("there.edb", scene.path("here.edb")).unwrap();
    symlink("here.edb", scene.path("there.edb")).unwrap();
    let long = "x".repeat(300);
    for file in ["here.edb", long.as_str()] {
        for words in readers(file) {
            scene.run(words).expect_refusal(&[file, "check the path"]);
        }
    }
}

#[test]
fn an_empty_or_foreign_file_is_not_recovered() {
    let scene = Scene::new("recover-foreign");
    scene.write("empty.edb", b"");
    scene.write("letter.edb", b"Dear reader, this is not a database.\n");
    for (file, why) in [("empty.edb", "the file is empty"), ("letter.edb", "no ESE database")] {
        scene.run(["recover", file]).expect_refusal(&[file, why]);
    }
}

#[test]
fn an_empty_manifest_is_named() {
    let scene = Scene::prepared("empty-manifest");
    scene.write("Plimsoll001.manifest.json", b"");
    for verb in ["run", "prepare"] {
        scene.run([verb, "plan.toml"]).expect_refusal(&["Plimsoll001.manifest.json", "0 bytes"]);
    }
}

#[test]
fn a_large_file_that_is_no_journal_is_not_read_to_its_end() {
    let scene = Scene::new("no-journal");
    let file = File::create(scene.path("sparse.edb")).unwrap();
    // More than any machine has memory for: to read it all would not come to an end.
    file.set_len(8 << 40).unwrap();
    scene.run(["report", "sparse.edb"]).expect_refusal(&["sparse.edb", "not a run's record.jsonl"]);
}

/// Every encoding that `>` of PowerShell and editors of Windows write, with their line ends.
#[test]
fn a_plan_in_the_text_of_windows_is_read() {
    let scene = Scene::new("utf-16");
    let text = small_plan(&scene.folder).replace('\n', "\r\n");
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let high: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [
        [&[0xFF, 0xFE], &wide[..]].concat(),
        [&[0xFE, 0xFF], &high[..]].concat(),
        wide,
        [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
    ] {
        scene.write("plan.toml", &bytes);
        scene.run(["prepare", "plan.toml", "--quiet"]).expect_code(0);
    }
    scene.write("plan.toml", &[text.as_bytes(), b"# \xFC"].concat());
    scene.run(["prepare", "plan.toml"]).expect_refusal(&["plan.toml", "save it as text in UTF-8"]);
}

#[test]
fn quick_makes_no_folder_for_numbers_it_refuses() {
    let scene = Scene::new("quick-absurd");
    scene.run(["quick", "--size", "1", "here"]).expect_wrong_usage(&["--size", "give 16MiB"]);
    assert!(scene.listing().is_empty(), "{:?}", scene.listing());
}
