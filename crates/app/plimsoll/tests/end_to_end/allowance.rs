//! Plans with more databases than the system gives descriptors or memory for: refused at the
//! start, with nothing made.

use std::process::Command;

use crate::scene::{Ran, Scene, small_plan};

/// What the program says to `words` where `limits` of a shell were set before.
fn run_within(scene: &Scene, limits: &str, words: &str) -> Ran {
    let program = env!("CARGO_BIN_EXE_plimsoll");
    let script = format!("ulimit {limits} && exec {program:?} {words} -q");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(&scene.folder);
    Ran::of(&shell.output().unwrap())
}

/// A scene whose plan has `count` databases.
fn scene_of(count: u32) -> Scene {
    let scene = Scene::new("allowance");
    let plan = small_plan(&scene.folder).replace("count = 2", &format!("count = {count}"));
    scene.write("plan.toml", plan.as_bytes());
    scene
}

#[test]
fn databases_without_descriptors_for_all_are_not_begun() {
    let scene = scene_of(16);
    for (limit, verb, needed) in [(40, "prepare", "112"), (120, "run", "176")] {
        let ran = run_within(&scene, &format!("-n {limit}"), &format!("{verb} plan.toml"));
        ran.expect_refusal(&[
            &format!("16 databases need {needed} open files and the system allows {limit};"),
            "ulimit -Hn",
            "lower `count`",
        ]);
        assert_eq!(scene.listing().len(), 1, "nothing is made");
    }
}

#[test]
fn quick_fills_nothing_that_it_could_not_measure() {
    let scene = Scene::new("allowance");
    // Enough for a fill, too few for the run after it.
    run_within(&scene, "-n 60", "quick . --size 16MiB")
        .expect_refusal(&["open files and the system allows 60;"]);
    assert!(scene.listing().is_empty(), "nothing is made");
}

#[test]
fn a_low_limit_that_may_be_raised_refuses_nothing() {
    let scene = scene_of(4);
    run_within(&scene, "-Sn 20", "prepare plan.toml").expect_code(0);
}

#[test]
fn caches_without_memory_for_all_are_not_begun() {
    let scene = scene_of(64);
    let plan = String::from_utf8(scene.read("plan.toml")).unwrap();
    let plan = plan.replace("\"16MiB\"", "\"1024GiB\"");
    let huge = plan.replace("cache_maximum = \"4MiB\"", "cache_maximum = \"1024GiB\"");
    scene.write("plan.toml", huge.as_bytes());
    scene.run(["run", "plan.toml"]).expect_refusal(&[
        "64 databases need 64.00 TiB of memory and ",
        " are free; end other programs",
        "`cache_maximum`",
    ]);
    assert_eq!(scene.listing().len(), 1, "nothing is made");
}

#[test]
fn databases_beyond_the_limit_of_file_sizes_are_not_begun() {
    let scene = scene_of(2);
    // 4 MiB in the blocks of 512 bytes that a shell counts.
    for (words, grows_to) in [("prepare plan.toml", "16.0 MiB"), ("run plan.toml", "32.0 MiB")] {
        run_within(&scene, "-f 8192", words).expect_refusal(&[
            &format!("Plimsoll001.edb may grow to {grows_to} and the system lets no file of this"),
            "program grow",
            "beyond 4.0 MiB",
            "ulimit -Hf",
        ]);
        assert_eq!(scene.listing().len(), 1, "nothing is made");
    }
    run_within(&scene, "-Sf 8192", "prepare plan.toml").expect_code(0);
}

/// What no check foresees fails as a write, and not by a signal.
#[test]
fn a_write_beyond_the_limit_of_file_sizes_is_an_error() {
    let scene = Scene::prepared("file-size");
    let before = scene.listing();
    let words = "export Plimsoll001.edb --all --format jsonl -o all";
    let ran = run_within(&scene, "-f 64", words);
    assert_eq!(ran.code, Some(2), "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("all"), "{}", ran.err);
    let kept = |name: &str| !name.starts_with("all");
    let after: Vec<_> = scene.listing().into_iter().filter(|(name, _)| kept(name)).collect();
    assert_eq!(before, after);
}
