//! Caches between the program and the storage: refused where the file system has one, said where it
//! lies below, unknown where it cannot be known.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::mount::{EXT4, Mount, image, text};
use crate::scene::{Scene, small_plan};
use crate::stalls::finding;

/// What `inspect` says in one line, by the name in front.
fn inspected(scene: &Scene, folder: &Path, name: &str) -> String {
    let ran = scene.run(["inspect", &text(folder)]);
    let line = ran.out.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap().trim().to_owned()
}

/// Neither databases nor a run are begun in `folder`, and the refusal says why.
fn is_refused(scene: &Scene, folder: &Path, why: &str) {
    let said = inspected(scene, folder, "unbuffered I/O");
    assert!(said.starts_with("no: ") && said.contains(why), "{said}");
    scene.write("plan.toml", small_plan(folder).as_bytes());
    for words in [vec!["prepare", "plan.toml"], vec!["quick", &text(folder)]] {
        scene.run(words).expect_refusal(&[&text(folder), "unbuffered I/O", why]);
    }
    let left = fs::read_dir(folder).unwrap().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert!(left.iter().all(|name| name == "lost+found"), "{left:?}");
}

#[test]
fn ext4_that_journals_data_is_refused() {
    let scene = Scene::new("data-journal");
    let Some(image) = image(&scene, &EXT4, 64) else {
        return;
    };
    let options = ["-o", "loop,data=journal", &image];
    if let Some(mount) = Mount::of(&scene, "volume", &options) {
        is_refused(&scene, &mount.0, "data=journal");
    }
}

#[test]
fn an_overlay_over_memory_is_refused() {
    let scene = Scene::new("overlay");
    let Some(memory) = Mount::of(&scene, "memory", &["-t", "tmpfs", "tmpfs"]) else {
        return;
    };
    for name in ["upper", "work"] {
        fs::create_dir(memory.0.join(name)).unwrap();
    }
    fs::create_dir(scene.path("lower")).unwrap();
    let options = format!(
        "lowerdir={},upperdir={1}/upper,workdir={1}/work",
        text(&scene.path("lower")),
        text(&memory.0)
    );
    let words = ["-t", "overlay", "overlay", "-o", &options];
    if let Some(overlay) = Mount::of(&scene, "volume", &words) {
        is_refused(&scene, &overlay.0, "memory");
    }
}

#[test]
fn a_loop_device_says_whether_it_reads_through_the_cache() {
    let scene = Scene::new("loop");
    if let Some(mount) = Mount::new(&scene, &EXT4, 64) {
        let said = inspected(&scene, &mount.0, "unbuffered I/O");
        assert!(said.starts_with("no: loop") && said.contains("--direct-io=on"), "{said}");
        assert_eq!(inspected(&scene, &mount.0, "spinning"), "unknown");
    }
    let scene = Scene::new("loop-direct");
    if let Some(mount) = Mount::past_the_cache(&scene, &EXT4, 64) {
        assert_eq!(inspected(&scene, &mount.0, "unbuffered I/O"), "yes");
    }
}

#[test]
fn what_a_cache_below_answered_cannot_be_judged() {
    let scene = Scene::new("loop-run");
    let Some(mount) = Mount::new(&scene, &EXT4, 200) else {
        return;
    };
    let plan = small_plan(&mount.0).replace("count = 2", "count = 1");
    scene.write("plan.toml", plan.as_bytes());
    scene.run(["prepare", "plan.toml"]).expect_code(0);
    let ran = scene.run(["run", "plan.toml", "-o", "out"]);
    ran.expect_code(2);
    ran.expect_out(&["Caches of the operating system", "through the page cache"]);
    let journal = String::from_utf8(scene.read("out/record.jsonl")).unwrap();
    let ended = journal.find("\"phase\":\"measure\",\"edge\":\"end\"");
    assert!(ended.is_some(), "the measurement has no end:\n{}", ran.out);
    let counted = journal.contains("\"event\":\"volume_reads\"");
    assert!(counted, "the device was not asked, or did not answer in time:\n{}", ran.out);
}

/// A run on a folder that `serve` shows by FUSE; none if that program is not installed. The server
/// reads through the page cache of the system.
fn run_served(name: &str, program: &str, branches: &[&str]) -> Option<String> {
    let scene = Scene::new(name);
    for branch in branches {
        fs::create_dir(scene.path(branch)).unwrap();
    }
    fs::create_dir(scene.path("shown")).unwrap();
    let shown: Vec<String> = branches.iter().map(|branch| text(&scene.path(branch))).collect();
    let mounted = Command::new(program).arg(shown.join(":")).arg(scene.path("shown")).status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("skipped: {program} cannot be used here");
        return None;
    }
    let mount = Mount(scene.path("shown"));
    let plan = small_plan(&mount.0).replace("count = 2", "count = 1");
    scene.write("plan.toml", plan.as_bytes());
    let prepared = scene.run(["prepare", "plan.toml"]);
    if prepared.err.contains("does not support unbuffered I/O") {
        eprintln!("skipped: this {program} refuses unbuffered I/O, and so does the program");
        return None;
    }
    prepared.expect_code(0);
    scene.run(["run", "plan.toml", "-o", "out", "--duration", "4s"]).expect_code(2);
    let report = String::from_utf8(scene.read("out/report.json")).unwrap();
    let journal = String::from_utf8(scene.read("out/record.jsonl")).unwrap();
    assert!(journal.contains("\"accounted_bytes\":"), "no account of the server: {journal}");
    drop(mount);
    Some(report)
}

/// The devices below the shown folders are counted, and the server's own account with them.
#[test]
fn a_server_that_answers_from_memory_cannot_be_judged() {
    for (name, program, branches) in
        [("bindfs", "bindfs", &["a"][..]), ("mergerfs", "mergerfs", &["a", "b"])]
    {
        let Some(report) = run_served(name, program, branches) else {
            continue;
        };
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let found = finding(&report, "device-reads");
        assert_eq!(found["outcome"], "cannot_judge", "{program}: {found}");
        assert!(found.to_string().contains("a cache answered"), "{program}: {found}");
    }
}
