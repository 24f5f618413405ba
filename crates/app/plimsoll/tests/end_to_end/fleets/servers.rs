//! The private server of a fleet: none outlives its folder, even if the disk is full or it hangs.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{free_address, has_server};
use crate::mount::Mount;
use crate::scene::Scene;

const PAGE_BYTES: usize = 4096;

/// Free pages of the disk: too few for the credentials, for the configuration, for the process id,
/// for the server's own files, and enough.
const FREE_PAGES: std::ops::RangeInclusive<usize> = 0..=8;

/// Processes whose command line names a file of `folder`.
fn processes_of(folder: &Path) -> Vec<String> {
    let name = folder.display().to_string();
    let all = fs::read_dir("/proc").unwrap().flatten();
    let lines = all.filter_map(|of| fs::read_to_string(of.path().join("cmdline")).ok());
    lines.filter(|line| line.contains("nats-server") && line.contains(&name)).collect()
}

#[test]
fn a_server_on_a_full_disk_is_up_and_stopped_or_was_never_there() {
    if !has_server() {
        return;
    }
    let scene = Scene::new("fleet-full");
    for free in FREE_PAGES {
        let size = ["-t", "tmpfs", "-o", "size=256k", "tmpfs"];
        let Some(disk) = Mount::of(&scene, &format!("disk-{free}"), &size) else { return };
        fs::write(disk.0.join("rest"), vec![1; 256 * 1024 - free * PAGE_BYTES]).unwrap();
        let state = disk.0.join("fleet").display().to_string();
        let up = scene.run(["fleet", "up", "--listen", &free_address(), "--state", &state]);
        if up.code == Some(0) {
            scene.run(["fleet", "down", "--state", &state]).expect_code(0);
        } else {
            up.expect_code(2);
        }
        assert_eq!(processes_of(&disk.0), [""; 0], "{free} pages were free: {}", up.err);
    }
}

#[test]
fn a_server_that_hangs_is_killed() {
    if !has_server() {
        return;
    }
    let scene = Scene::new("fleet-hangs");
    scene.run(["fleet", "up", "--listen", &free_address()]).expect_code(0);
    let process = String::from_utf8(scene.read("plimsoll-fleet/server.pid")).unwrap();
    let stopped = Command::new("/bin/sh").args(["-c", &format!("kill -STOP {process}")]).status();
    assert!(stopped.is_ok_and(|status| status.success()));
    scene.run(["fleet", "down"]).expect_code(0).expect_out(&["Stopped"]);
    assert_eq!(processes_of(&scene.folder), [""; 0]);
}
