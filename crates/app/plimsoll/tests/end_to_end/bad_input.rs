//! Whatever is wrong, there is one message that names it and the way out, the exit status is 2,
//! and nothing that was there is touched.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::scene::{PAGE_BYTES, Ran, Scene, small_plan};

/// A user without any rights, on every Linux.
const UNPRIVILEGED: u32 = 65_534;

#[test]
fn a_missing_folder_is_named() {
    let scene = Scene::new("missing-folder");
    scene.write("plan.toml", small_plan(&scene.path("nowhere")).as_bytes());
    scene.run(["prepare", "plan.toml"]).expect_refusal(&["nowhere", "no such folder", "create it"]);
    scene.run(["run", "plan.toml"]).expect_refusal(&["nowhere", "no such folder"]);
    assert_eq!(scene.listing().len(), 1, "nothing was made: {:?}", scene.listing());
}

#[test]
fn quick_makes_its_own_folder_and_no_other() {
    let scene = Scene::new("quick-mistyped");
    for path in ["mistyped", "mistyped/mount/point"] {
        scene.run(["quick", path]).expect_refusal(&[path, "no such folder", "is mounted"]);
    }
    assert!(scene.listing().is_empty(), "nothing was made: {:?}", scene.listing());
}

#[test]
fn a_missing_plan_is_named() {
    let scene = Scene::new("missing-plan");
    scene.run(["prepare", "nothing.toml"]).expect_refusal(&["nothing.toml", "check the path"]);
}

#[test]
fn a_folder_without_permission_is_named() {
    let scene = Scene::new("no-permission");
    let folder = scene.path("closed");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    scene.write("plan.toml", small_plan(&folder).as_bytes());
    let mut command = scene.command(["prepare", "plan.toml"]);
    // Root may write anywhere, so it must not be root.
    let output = match command.uid(UNPRIVILEGED).gid(UNPRIVILEGED).output() {
        Ok(output) => output,
        Err(_) => scene.command(["prepare", "plan.toml"]).output().unwrap(),
    };
    Ran::of(&output).expect_refusal(&["closed", "permission denied", "run as a user"]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn too_little_space_is_noticed_before_anything_is_written() {
    let scene = Scene::new("no-space");
    let plan = small_plan(&scene.folder).replace("16MiB", "8TiB");
    scene.write("plan.toml", plan.as_bytes());
    scene.run(["prepare", "plan.toml"]).expect_refusal(&[
        "are needed and",
        "are free",
        "lower `size` or `count` in the plan (for `quick`: --size)",
    ]);
    assert_eq!(scene.listing().len(), 1, "nothing was made: {:?}", scene.listing());
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest_known_one() {
    let scene = Scene::new("unknown-key");
    let plan = small_plan(&scene.folder).replace("cache_maximum", "cache_maxium");
    scene.write("plan.toml", plan.as_bytes());
    scene.run(["prepare", "plan.toml"]).expect_refusal(&[
        "plan.toml:8",
        "cache_maxium",
        "did you mean `cache_maximum`?",
    ]);
}

#[test]
fn absurd_numbers_are_answered_with_their_bounds() {
    let scene = Scene::new("absurd");
    for (from, to, parts) in [
        ("\"16MiB\"", "\"-5GiB\"", ["size", "-5GiB"]),
        ("\"16MiB\"", "\"900000TiB\"", ["size", "give"]),
        ("\"16MiB\"", "\"99999999TiB\"", ["size", "below 16 EiB"]),
        ("count = 2", "count = -1", ["count", "-1"]),
        ("count = 2", "count = 100000", ["count", "100000"]),
        ("duration = \"2s\"", "duration = \"never\"", ["duration", "never"]),
    ] {
        scene.write("plan.toml", small_plan(&scene.folder).replace(from, to).as_bytes());
        scene.run(["prepare", "plan.toml"]).expect_refusal(&parts);
    }
    scene.run(["quick", "--duration", "-4s", "here"]).expect_code(64);
    scene.run(["run", "plan.toml", "--threads", "-4"]).expect_code(64);
    scene.run(["dump", "plan.toml", "--page", "99999999999"]).expect_wrong_usage(&["--page"]);
}

/// A plan may be another person's; the command line is the caller's.
#[test]
fn bad_values_of_options_are_wrong_usage() {
    let scene = Scene::prepared("bad-values");
    for (words, parts) in [
        (&["run", "plan.toml", "--duration", "0s"][..], ["--duration", "above 0"]),
        (&["line", "plan.toml", "--step", "0s"], ["--step", "above 0"]),
        (&["quick", "here", "--size", "huge"], ["--size", "such as 512MiB"]),
        (&["run", "plan.toml", "--threads", "many"], ["--threads", "or auto"]),
        (&["run", "plan.toml", "--threads", "0"], ["--threads", "give 1 to"]),
        (&["run", "plan.toml", "--target-iops", "0"], ["--target-iops", "give 1 to"]),
        (&["report", "run", "--format", "pdf"], ["--format", "possible values: html"]),
        (&["run", "plan.toml", "--test", "speed"], ["speed", "performance"]),
    ] {
        scene.run(words).expect_wrong_usage(&parts);
    }
    let told = scene.run(["run", "plan.toml", "--duration", "0s", "--json"]);
    told.expect_wrong_usage(&["--duration", "above 0"]);
    scene.run(["run", "plan.toml", "--speed", "9"]).expect_code(64);
}

#[test]
fn a_file_that_is_no_database_is_refused_by_every_verb() {
    let scene = Scene::new("no-database");
    scene.write("letter.edb", &b"Dear reader, this is not a database.\n".repeat(9_000));
    scene.write("empty.edb", b"");
    for (file, why) in [("letter.edb", "no ESE database"), ("empty.edb", "the file is empty")] {
        for words in [
            vec!["check", file],
            vec!["header", file],
            vec!["space", file],
            vec!["dump", file, "--page", "1"],
            vec!["export", file],
        ] {
            scene.run(words).expect_refusal(&[file, why]);
        }
    }
    scene.run(["check", "nothing.edb"]).expect_refusal(&["nothing.edb", "check the path"]);
    scene.run(["check", "."]).expect_refusal(&["name a file"]);
    scene.run(["report", "."]).expect_refusal(&["record.jsonl"]);
    scene.run(["report", "letter.edb"]).expect_refusal(&["letter.edb"]);
}

#[test]
fn a_stranger_in_the_target_is_left_alone() {
    let scene = Scene::new("stranger");
    scene.write("plan.toml", small_plan(&scene.folder).as_bytes());
    scene.write("Plimsoll002.edb", b"the user's only copy");
    scene.run(["prepare", "plan.toml"]).expect_refusal(&["Plimsoll002.edb", "already there"]);
    assert_eq!(scene.read("Plimsoll002.edb"), b"the user's only copy");
    assert_eq!(scene.listing().len(), 2);
}

#[test]
fn a_run_without_databases_says_how_to_get_them() {
    let scene = Scene::new("unprepared");
    scene.write("plan.toml", small_plan(&scene.folder).as_bytes());
    scene.run(["run", "plan.toml", "-o", "run"]).expect_refusal(&["plimsoll prepare"]);
    assert!(!scene.path("run").exists(), "a run that never began leaves nothing");
}

#[test]
fn a_second_run_at_the_same_time_is_refused() {
    let scene = Scene::prepared("second-run");
    let mut first = scene.start(["run", "plan.toml", "--duration", "60s", "-o", "first"]);
    // The first one has its databases open once its load begins.
    let journal = scene.path("first/record.jsonl");
    let begun = || fs::read_to_string(&journal).is_ok_and(|text| text.contains("\"warm\""));
    while !begun() && first.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(20));
    }
    let others = [
        scene.run(["run", "plan.toml", "-o", "second"]),
        scene.run(["recover", "Plimsoll001.edb"]),
        // What changes under these would look like damage.
        scene.run(["check", "Plimsoll001.edb"]),
        scene.run(["verify", "Plimsoll001.edb"]),
    ];
    first.kill().unwrap();
    first.wait().unwrap();
    for other in others {
        other.expect_refusal(&["Plimsoll00", "in use by another plimsoll process"]);
    }
    assert!(!scene.path("second").exists());
}

#[test]
fn a_run_folder_is_not_written_over() {
    let scene = Scene::prepared("run-folder");
    scene.run(["run", "plan.toml", "-o", "run"]);
    let before = scene.read("run/record.jsonl");
    scene.run(["run", "plan.toml", "-o", "run"]).expect_refusal(&["holds a run already"]);
    assert_eq!(scene.read("run/record.jsonl"), before);
}

#[test]
fn a_file_system_in_memory_is_refused() {
    let folder = Path::new("/dev/shm").join(format!("plimsoll-test-{}", std::process::id()));
    if fs::create_dir(&folder).is_err() {
        eprintln!("skipped: no /dev/shm here to stand for a file system without unbuffered I/O");
        return;
    }
    let scene = Scene::prepared("memory");
    scene.write("elsewhere.toml", small_plan(&folder).as_bytes());
    let prepared = scene.run(["prepare", "elsewhere.toml"]);
    let quick = scene.run([Path::new("quick"), &folder]);
    fs::remove_dir_all(&folder).unwrap();
    for ran in [prepared, quick] {
        ran.expect_refusal(&["/dev/shm", "unbuffered I/O", "choose a folder on a disk"]);
    }
}

#[test]
fn a_damaged_database_is_not_run() {
    let scene = Scene::prepared("run-damaged");
    scene.change("Plimsoll001.edb", |bytes| bytes[..2 * PAGE_BYTES].fill(0));
    let before = scene.read("Plimsoll001.edb");
    scene.run(["run", "plan.toml", "-o", "run"]).expect_refusal(&["Plimsoll001.edb"]);
    assert_eq!(scene.read("Plimsoll001.edb"), before);
}
