//! The examples that a reader may run.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::scene::{Ran, Scene};

/// The example that compares file systems, with a short load.
fn filesystems(scene: &Scene, names: &str) -> Ran {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut command = Command::new(repository.join("examples/filesystems/compare.sh"));
    command.current_dir(&scene.folder).env("PLIMSOLL", env!("CARGO_BIN_EXE_plimsoll"));
    command.env("SIZE", "16MiB").env("DURATION", "2s").env("FILESYSTEMS", names);
    Ran::of(&command.output().unwrap())
}

#[test]
fn file_systems_are_compared_by_one_command_that_leaves_no_volume_behind() {
    let scene = Scene::new("filesystems");
    let ran = filesystems(&scene, "ext4 xfs ext4-encrypted");
    if ran.err.contains("fewer than two") || ran.err.contains("needs root") {
        eprintln!("skipped: this user or this machine mounts no file systems\n{}", ran.err);
        return;
    }
    ran.expect_code(0);
    let (folder, _) = scene.listing().remove(0);
    let page = fs::read_to_string(scene.path(format!("{folder}/comparison.html"))).unwrap();
    assert!(page.contains(">xfs<") && page.contains(">ext4<"), "both are on the page");
    // What a machine cannot do is said: a kernel may read encrypted files through its cache alone.
    let is_compared = scene.path(format!("{folder}/ext4-encrypted")).exists();
    assert!(is_compared || ran.err.contains("skipped: ext4-encrypted: "), "{}", ran.err);
    assert!(!scene.path(format!("{folder}/work")).exists());
    let name = scene.folder.display().to_string();
    assert!(!fs::read_to_string("/proc/mounts").unwrap().contains(&name));
    let devices = Command::new("losetup").arg("--all").output().unwrap();
    assert!(!String::from_utf8_lossy(&devices.stdout).contains(&name));
}

#[test]
fn a_file_system_that_is_not_known_is_refused_before_anything_is_made() {
    let scene = Scene::new("filesystems-unknown");
    let ran = filesystems(&scene, "ext4 fat");
    if !ran.err.contains("needs root") {
        assert_eq!(ran.code, Some(64), "{}", ran.err);
        ran.expect_err(&["fat: not known here; name ext4, xfs, btrfs or ext4-encrypted"]);
    }
    assert!(scene.listing().is_empty());
}

#[test]
fn a_flash_cache_is_compared_before_cold_and_warm_and_leaves_no_volume_behind() {
    let scene = Scene::new("flash-cache");
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut command = Command::new(repository.join("examples/flash-cache/compare.sh"));
    command.current_dir(&scene.folder).env("PLIMSOLL", env!("CARGO_BIN_EXE_plimsoll"));
    for (name, value) in
        [("SIZE", "16MiB"), ("CACHE", "96MiB"), ("DURATION", "4s"), ("WARM_UP", "1s")]
    {
        command.env(name, value);
    }
    let ran = Ran::of(&command.output().unwrap());
    let lacks = ["needs root", "control group", "no loop device", "io controller", "is missing"];
    if lacks.iter().any(|lack| ran.err.contains(lack)) {
        eprintln!("skipped: this user or this machine slows no volume down\n{}", ran.err);
        return;
    }
    ran.expect_code(0);
    let (folder, _) = scene.listing().remove(0);
    let page = fs::read_to_string(scene.path(format!("{folder}/comparison.html"))).unwrap();
    assert!(page.contains(">before<") && page.contains(">cold<") && page.contains(">warm<"));
    assert!(page.contains("Flash cache: page reads answered"), "{}", ran.out);
    assert!(!scene.path(format!("{folder}/work")).exists());
    let name = scene.folder.display().to_string();
    assert!(!fs::read_to_string("/proc/mounts").unwrap().contains(&name));
}
