//! `recover` before any log is replayed: whose log it is, and who still holds the files.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::time::{Duration, Instant};

use crate::scene::{PAGE_BYTES, Ran, Scene};

#[test]
fn the_manifest_says_which_log_is_the_databases() {
    let scene = Scene::prepared("recover-base");
    scene.kill_run(&["run", "plan.toml"]);
    let manifest = scene.read("Plimsoll002.manifest.json");
    fs::remove_file(scene.path("Plimsoll002.manifest.json")).unwrap();
    scene.run(["recover", "Plimsoll002.edb"]).expect_refusal(&[
        "holds the logs",
        "E00",
        "E01",
        "--log-base",
    ]);
    scene.write("Plimsoll002.manifest.json", &manifest);
    scene
        .run(["recover", "Plimsoll002.edb"])
        .expect_code(0)
        .expect_out(&["recovered from log generations"]);
}

#[test]
fn a_file_that_a_dying_process_holds_is_waited_for() {
    let scene = Scene::prepared("recover-dying");
    let held = File::open(scene.path("Plimsoll001.edb")).unwrap();
    held.lock().unwrap();
    let mut child = scene.start(["recover", "Plimsoll001.edb"]);
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("waiting up to 5 s") {
        assert!(errors.read_line(&mut said).unwrap() > 0, "{said}");
    }
    drop(held);
    errors.read_to_string(&mut said).unwrap();
    assert!(said.contains("let go of Plimsoll001.edb"), "{said}");
    Ran::of(&child.wait_with_output().unwrap()).expect_code(0).expect_out(&["was closed properly"]);
}

#[test]
fn a_file_in_use_is_refused_after_a_while() {
    let scene = Scene::prepared("recover-held");
    let held = File::open(scene.path("Plimsoll001.edb")).unwrap();
    held.lock().unwrap();
    let began = Instant::now();
    scene
        .run(["recover", "Plimsoll001.edb"])
        .expect_refusal(&["Plimsoll001.edb: in use by another plimsoll process"]);
    assert!(began.elapsed() >= Duration::from_secs(5));
}

/// Recovery would enlarge the file, and the lost pages would read as empty.
#[test]
fn a_file_that_lost_its_end_is_refused_and_unchanged() {
    let scene = Scene::prepared("recover-cut");
    // What the log has added since could be missing after a crash.
    let half = scene.read("Plimsoll001.edb").len() / PAGE_BYTES / 2 * PAGE_BYTES;
    for is_dirty in [false, true] {
        if is_dirty {
            scene.kill_run(&["run", "plan.toml"]);
        }
        let whole = scene.read("Plimsoll001.edb");
        for kept in [101 * PAGE_BYTES, half + 777] {
            scene.write("Plimsoll001.edb", &whole[..kept]);
            let before = scene.snapshot();
            scene.run(["recover", "Plimsoll001.edb"]).expect_code(1).expect_err(&[
                "Plimsoll001.edb: truncated: the file ends",
                "the database owns pages up to",
                "nothing was written",
                "restore or reseed this copy",
            ]);
            scene.run(["prepare", "plan.toml"]).expect_code(1).expect_err(&[
                "Plimsoll001.edb: truncated: the file ends",
                "nothing was written. Prepare it anew (plimsoll prepare PLAN --reset)",
            ]);
            assert!(scene.snapshot() == before, "a file changed");
            scene
                .run(["run", "plan.toml"])
                .expect_code(2)
                .expect_err(&["Plimsoll001.edb: has lost its end", "nothing was written to it"]);
            assert!(scene.read("Plimsoll001.edb") == whole[..kept], "the run changed it");
        }
        scene.write("Plimsoll001.edb", &whole);
    }
    scene.run(["recover", "Plimsoll001.edb"]).expect_code(0).expect_out(&["recovered from log"]);
}

/// Its pages can still be read, so that it is a damaged database and not a file never written.
#[test]
fn a_file_without_headers_is_named_alike_by_recover_prepare_and_check() {
    let scene = Scene::prepared("recover-no-header");
    let mut bytes = scene.read("Plimsoll001.edb");
    bytes[..2 * PAGE_BYTES].fill(0);
    scene.write("Plimsoll001.edb", &bytes);
    let before = scene.snapshot();
    for command in
        [["recover", "Plimsoll001.edb"], ["prepare", "plan.toml"], ["check", "Plimsoll001.edb"]]
    {
        let ran = scene.run(command);
        ran.expect_code(1);
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains("both copies of the header are damaged"), "{command:?}: {said}");
        assert!(scene.snapshot() == before, "{command:?} changed a file");
    }
}
