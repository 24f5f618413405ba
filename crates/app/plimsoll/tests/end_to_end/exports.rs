//! Databases on exports of real NBD servers, nbdkit and qemu-nbd, where they are installed; else
//! skipped aloud.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::scene::{Ran, Scene};

/// How the tests call an export; the program runs in the folder of the socket.
const EXPORT: &str = "nbd+unix:///lun?socket=nbd.sock";

const DISK_BYTES: u64 = 512 << 20;

/// A server on the socket `nbd.sock` of a scene, ended when dropped.
struct Server {
    child: Child,
    socket: PathBuf,
}

impl Server {
    fn nbdkit(scene: &Scene, words: &[&str]) -> Option<Self> {
        let mut command = Command::new("nbdkit");
        command.args(["--foreground", "--exit-with-parent", "--unix", "nbd.sock"]).args(words);
        Self::start(scene, command)
    }

    /// One client at a time, as is its custom.
    fn qemu(scene: &Scene) -> Option<Self> {
        File::create_new(scene.path("disk.img")).unwrap().set_len(DISK_BYTES).unwrap();
        let mut command = Command::new("qemu-nbd");
        command.args(["--persistent", "--format=raw", "--export-name=lun", "--socket"]);
        command.arg(scene.path("nbd.sock")).arg("disk.img");
        Self::start(scene, command)
    }

    /// None, said aloud, where it is not installed.
    fn start(scene: &Scene, mut command: Command) -> Option<Self> {
        command.current_dir(&scene.folder).stdin(Stdio::null()).stderr(Stdio::null());
        let Ok(child) = command.spawn() else {
            eprintln!("skipped: {} is not installed", command.get_program().display());
            return None;
        };
        let server = Self { child, socket: scene.path("nbd.sock") };
        for _ in 0..500 {
            if UnixStream::connect(scene.path("nbd.sock")).is_ok() {
                return Some(server);
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("{command:?} does not listen");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.socket);
    }
}

/// From a blank export to databases that were loaded and checked.
fn whole_journey(scene: &Scene) {
    scene.write_plan(EXPORT);
    let blank = [EXPORT, "holds nothing, not a volume of Plimsoll", "`plimsoll format`"];
    scene.run(["prepare", "plan.toml"]).expect_refusal(&blank);
    scene.run(["format", EXPORT]).expect_code(0).expect_out(&["503.0 MiB for files"]);
    scene.run(["prepare", "plan.toml"]).expect_code(0);
    let files = [1, 2].map(|number| format!("{EXPORT}/Plimsoll00{number}.edb"));
    scene.run(["check", &files[0], &files[1]]).expect_code(0).expect_out(&[", 0 bad"]);
    scene.run(["format", EXPORT]).expect_refusal(&["a volume of Plimsoll with ", "--force"]);
    // Two seconds prove nothing; the findings depend on the machine.
    scene.run(["run", "plan.toml", "-o", "run", "--quiet"]).expect_code(2);
    let journal = String::from_utf8(scene.read("run/record.jsonl")).unwrap();
    assert!(journal.contains(&format!("\"size_bytes\":{DISK_BYTES},")), "size of the export");
    for verb in ["verify", "header", "space"] {
        scene.run([verb, &files[0]]).expect_code(0);
    }
    scene.run(["check", &files[0], &files[1]]).expect_code(0).expect_out(&[", 0 bad"]);
    // What a server does with requests cannot be seen, and that is no fault.
    scene.run(["inspect", EXPORT]).expect_code(0).expect_out(&["cannot be seen from here"]);
    let gone = format!("{EXPORT}/none.edb");
    let others = [&gone, "no such file", "Plimsoll001.edb to Plimsoll002.edb"];
    scene.run(["check", &gone]).expect_refusal(&others);
    scene.run(["format", EXPORT, "--force"]).expect_code(0);
    let quick = ["quick", EXPORT, "--size", "16MiB", "--duration", "3s", "--quiet"];
    scene.run(quick).expect_code(2).expect_out(&["Measured time"]);
    scene.run(["check", &files[0]]).expect_code(0).expect_out(&[", 0 bad"]);
}

#[test]
fn databases_on_an_export_of_nbdkit_are_filled_loaded_and_checked() {
    let scene = Scene::new("nbdkit");
    if let Some(_server) = Server::nbdkit(&scene, &["memory", "512M"]) {
        whole_journey(&scene);
    }
}

/// Each write takes as long on the way to an export, durable or not.
#[test]
fn what_writes_meet_on_an_export_is_measured_and_nothing_is_left() {
    let scene = Scene::new("measured-export");
    let slow = ["--filter=delay", "memory", "512M", "wdelay=8ms"];
    let Some(_server) = Server::nbdkit(&scene, &slow) else {
        return;
    };
    let words = ["inspect", EXPORT, "--measure", "--measure-size", "128MiB"];
    let measured = || scene.run(words.into_iter().chain(["--measure-for", "10s"]));
    measured().expect_refusal(&[EXPORT, "not a volume of Plimsoll"]);
    scene.run(["format", EXPORT]).expect_code(0);
    measured().expect_out(&["Write cache as measured", "none: "]);
    // The whole room is free again.
    let all = ["inspect", EXPORT, "--measure", "--measure-size", "503MiB", "--measure-for", "1s"];
    scene.run(all).expect_out(&["Write cache as measured"]);
    let more = ["inspect", EXPORT, "--measure", "--measure-size", "504MiB"];
    scene.run(more).expect_refusal(&["are free"]);
}

#[test]
fn databases_on_an_export_of_qemu_need_one_connection_at_a_time() {
    let scene = Scene::new("qemu-nbd");
    let Some(_server) = Server::qemu(&scene) else {
        return;
    };
    whole_journey(&scene);
    // nbdkit 1.32 may end with a client that is killed, so only here.
    scene.kill_run(&["run", "plan.toml"]);
    let file = format!("{EXPORT}/Plimsoll001.edb");
    scene.run(["check", &file]).expect_code(2).expect_out(&["first"]);
    scene.run(["recover", &file]).expect_code(0);
    scene.run(["check", &file]).expect_code(0).expect_out(&[", 0 bad"]);
}

#[test]
fn what_is_no_export_for_databases_is_refused_in_a_sentence() {
    let scene = Scene::new("no-export");
    // A port that was free a moment ago.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nowhere = format!("nbd://{free}/lun");
    for verb in ["format", "quick"] {
        let parts = [&nowhere, "no connection", "that the server runs"];
        scene.run([verb, &nowhere]).expect_refusal(&parts);
    }
    let file = format!("{nowhere}/a.edb");
    scene.run(["check", &file]).expect_refusal(&[&nowhere, "no connection"]);
    for text in ["nbd://", "nbd://array:port/lun", "nbd+unix:///lun"] {
        scene.run(["quick", text]).expect_refusal(&[text, "names no export", "nbd://HOST/EXPORT"]);
    }
    let Some(server) = Server::nbdkit(&scene, &["--readonly", "memory", "512M"]) else {
        return;
    };
    let read_only = [EXPORT, "takes no writes"];
    scene.run(["format", EXPORT]).expect_refusal(&read_only);
    scene.run(["quick", EXPORT]).expect_refusal(&read_only);
    drop(server);
    if let Some(_server) = Server::qemu(&scene) {
        let other = EXPORT.replace("lun", "other");
        let parts = [&other, "no export of that name", "nbdinfo --list"];
        scene.run(["format", &other]).expect_refusal(&parts);
    }
}

/// The second one has another name for the same volume, which the server does not tell.
#[test]
fn a_volume_that_a_run_uses_is_not_taken_under_another_name() {
    let scene = Scene::new("held-export");
    let Some(_server) = Server::nbdkit(&scene, &["memory", "512M"]) else {
        return;
    };
    scene.run(["format", EXPORT]).expect_code(0);
    scene.write_plan(EXPORT);
    scene.run(["prepare", "plan.toml"]).expect_code(0);
    let mut run = scene.start_load(&["run", "plan.toml"]);
    let other = EXPORT.replace("lun", "other");
    let file = format!("{other}/Plimsoll001.edb");
    let busy = [&other[..], "in use by another plimsoll process"];
    scene.run(["check", &file]).expect_refusal(&busy);
    scene.run(["quick", &other, "--size", "16MiB"]).expect_refusal(&busy);
    scene.run(["format", "--force", &other]).expect_refusal(&busy);
    run.kill().unwrap();
    run.wait().unwrap();
}

#[test]
fn a_server_that_goes_during_a_run_leaves_nothing_measured_and_is_named() {
    let scene = Scene::new("lost-export");
    let Some(server) = Server::nbdkit(&scene, &["memory", "512M"]) else {
        return;
    };
    scene.run(["format", EXPORT]).expect_code(0);
    scene.write_plan(EXPORT);
    scene.run(["prepare", "plan.toml"]).expect_code(0);
    let run = scene.start_load(&["run", "plan.toml"]);
    thread::sleep(Duration::from_secs(2));
    drop(server);
    let ran = Ran::of(&run.wait_with_output().unwrap());
    ran.expect_code(2).expect_out(&[
        "Connection to the storage",
        EXPORT,
        "the connection",
        "look at the server and the network",
    ]);
    assert!(!ran.out.contains("FAIL"), "{}", ran.out);
    let report = String::from_utf8(scene.read("out/report.txt")).unwrap();
    assert!(report.contains("Connection to the storage") && report.contains(EXPORT), "{report}");
}

#[test]
fn a_server_that_goes_while_a_database_is_read_damages_no_page() {
    let scene = Scene::new("lost-check");
    File::create_new(scene.path("disk.img")).unwrap().set_len(DISK_BYTES).unwrap();
    let Some(server) = Server::nbdkit(&scene, &["file", "disk.img"]) else {
        return;
    };
    scene.run(["format", EXPORT]).expect_code(0);
    scene.write_plan(EXPORT);
    scene.run(["prepare", "plan.toml"]).expect_code(0);
    drop(server);
    let file = format!("{EXPORT}/Plimsoll001.edb");
    for words in
        [&["check", &file][..], &["verify", &file], &["export", &file, "--all", "-o", "rows"]]
    {
        // Every read takes a while, so that one is under way when the server goes.
        let slow = ["--filter=delay", "file", "disk.img", "rdelay=400ms"];
        let server = Server::nbdkit(&scene, &slow).unwrap();
        let reader = scene.start(words);
        thread::sleep(Duration::from_secs(5));
        drop(server);
        let ran = Ran::of(&reader.wait_with_output().unwrap());
        // Beside other work the reader may still be connecting: "check ... that the server runs".
        ran.expect_refusal(&[EXPORT, "the server"]);
    }
}
