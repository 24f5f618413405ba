//! Databases on raw block devices: a file used as one, and a loop device if the machine has one to
//! spare.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;

use crate::scene::Scene;

const DISK_BYTES: u64 = 256 << 20;

/// A blank disk in the folder of `scene`.
fn disk(scene: &Scene) -> PathBuf {
    disk_of(scene, DISK_BYTES)
}

fn disk_of(scene: &Scene, bytes: u64) -> PathBuf {
    let path = scene.path("disk.img");
    File::create_new(&path).unwrap().set_len(bytes).unwrap();
    path
}

#[test]
fn databases_on_a_device_are_filled_loaded_checked_and_recovered() {
    let scene = Scene::new("raw");
    disk(&scene);
    scene.write_plan("raw:disk.img");
    let not_yet = ["raw:disk.img: holds nothing, not a volume of Plimsoll", "`plimsoll format`"];
    scene.run(["prepare", "plan.toml"]).expect_refusal(&not_yet);
    scene.run(["format", "raw:disk.img"]).expect_code(0).expect_out(&["247.0 MiB for files"]);
    scene.run(["prepare", "plan.toml"]).expect_code(0);
    scene.run(["prepare", "plan.toml"]).expect_code(0).expect_out(&["was complete already"]);
    let files = ["raw:disk.img/Plimsoll001.edb", "raw:disk.img/Plimsoll002.edb"];
    scene.run(["check", files[0], files[1]]).expect_code(0).expect_out(&[", 0 bad"]);
    scene.run(["verify", files[0]]).expect_code(0);
    scene.kill_run(&["run", "plan.toml"]);
    scene
        .run(["check", files[0]])
        .expect_code(2)
        .expect_out(&["recover raw:disk.img/Plimsoll001.edb first"]);
    scene.run(["recover", files[0]]).expect_code(0).expect_out(&["recovered from log generations"]);
    scene.run(["check", files[0]]).expect_code(0);
    // Two seconds prove nothing; the findings depend on the disk.
    scene.run(["run", "plan.toml", "-o", "run", "--quiet"]).expect_code(2);
    // The room is that of the device, and not of the file system that its file lies on.
    let journal = String::from_utf8(scene.read("run/record.jsonl")).unwrap();
    assert!(journal.contains(&format!("\"size_bytes\":{DISK_BYTES},")), "size of the device");
    scene.run(["check", files[0], files[1]]).expect_code(0).expect_out(&[", 0 bad"]);
    let others = ["there is no such file on raw:disk.img", "Plimsoll001.edb to Plimsoll002.edb"];
    for verb in ["check", "header", "recover", "verify", "space"] {
        scene.run([verb, "raw:disk.img/none.edb"]).expect_refusal(&others);
    }
    scene.run(["check", "raw:disk.img"]).expect_refusal(&["raw:disk.img: is a whole device"]);
}

#[test]
fn a_device_that_may_be_in_use_is_not_taken() {
    let scene = Scene::new("raw-foreign");
    let path = disk(&scene);
    scene.run(["format", "raw:disk.img"]).expect_code(0);
    let again = ["holds a volume of Plimsoll with 0 files", "--force"];
    scene.run(["format", "raw:disk.img"]).expect_refusal(&again);
    scene.change("disk.img", |bytes| bytes[..4].copy_from_slice(b"XFSB"));
    let before = fs::read(&path).unwrap();
    scene.run(["format", "raw:disk.img"]).expect_refusal(&["a file system (XFS)", "--force"]);
    scene.run(["quick", "raw:disk.img"]).expect_refusal(&["holds a file system (XFS)"]);
    assert!(fs::read(&path).unwrap() == before, "a refusal writes nothing");
    scene.run(["format", "raw:none.img"]).expect_refusal(&["raw:none.img", "no such file"]);
    scene.run(["format", "."]).expect_refusal(&["is no block device"]);
    let held = File::open(&path).unwrap();
    held.lock().unwrap();
    scene.run(["format", "--force", "raw:disk.img"]).expect_refusal(&["in use by another"]);
    drop(held);
    scene.run(["format", "--force", "raw:disk.img"]).expect_code(0);
}

#[test]
fn a_device_that_fills_up_ends_the_run_before_it_is_full() {
    let scene = Scene::new("raw-filling");
    // Little more than a run asks for, so that it is full soon.
    disk_of(&scene, 176 << 20);
    scene.run(["format", "raw:disk.img"]).expect_code(0);
    scene.write_plan("raw:disk.img");
    scene.run(["prepare", "plan.toml"]).expect_code(0);
    scene.load_fully();
    let ran = scene.run(["run", "plan.toml", "--duration", "10m", "-o", "run"]);
    ran.expect_code(2);
    let words = ["raw:disk.img was about to be full", "raw:disk.img has no room for the run"];
    assert!(words.iter().any(|words| ran.unfolded().contains(words)), "{}", ran.out);
    let files = ["raw:disk.img/Plimsoll001.edb", "raw:disk.img/Plimsoll002.edb"];
    scene.run(["check", files[0], files[1]]).expect_code(0).expect_out(&[", 0 bad"]);
}

/// A loop device over a file, detached when dropped.
struct LoopDevice(String);

impl LoopDevice {
    /// None, said aloud, where this machine gives none.
    fn over(file: &std::path::Path) -> Option<Self> {
        let made = Command::new("losetup").args(["--find", "--show"]).arg(file).output();
        match made {
            Ok(made) if made.status.success() => {
                Some(Self(String::from_utf8(made.stdout).unwrap().trim().to_owned()))
            }
            _ => {
                eprintln!("skipped: losetup gives no loop device here");
                None
            }
        }
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

#[test]
fn a_block_device_is_used_as_a_whole_and_never_one_that_is_mounted() {
    let scene = Scene::new("raw-loop");
    let path = disk(&scene);
    let Some(device) = LoopDevice::over(&path) else {
        return;
    };
    scene.run(["format", "raw:disk.img"]).expect_refusal(&["in use by the system"]);
    scene.run(["format", &device.0]).expect_code(0);
    scene.write_plan(&device.0);
    scene.run(["prepare", "plan.toml"]).expect_code(0);
    scene.run(["run", "plan.toml", "-o", "run", "--quiet"]).expect_code(2);
    // The room is that of the device, and not of the file system that its file lies on.
    let journal = String::from_utf8(scene.read("run/record.jsonl")).unwrap();
    assert!(journal.contains(&format!("\"size_bytes\":{DISK_BYTES},")), "size of the device");
    let files = ["Plimsoll001.edb", "Plimsoll002.edb"].map(|file| format!("{}/{file}", device.0));
    scene.run(["check", &files[0], &files[1]]).expect_code(0).expect_out(&[", 0 bad"]);
    let made = Command::new("mkfs.ext4").args(["-q", "-F", &device.0]).status();
    let mount = scene.path("mounted");
    fs::create_dir(&mount).unwrap();
    let mounted = Command::new("mount").arg(&device.0).arg(&mount).status();
    if !(made.is_ok_and(|made| made.success()) && mounted.is_ok_and(|mounted| mounted.success())) {
        eprintln!("skipped: no file system can be made and mounted here");
        return;
    }
    let refused = scene.run(["format", "--force", &device.0]);
    assert!(Command::new("umount").arg(&mount).status().unwrap().success());
    refused.expect_refusal(&[&device.0, "is mounted, or in use by the system"]);
}
