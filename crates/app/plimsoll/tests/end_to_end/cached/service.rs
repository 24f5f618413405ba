//! Under a service manager: sockets are handed over, readiness and the end are reported. Errors of
//! the device behind the cache reach the client.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::{Served, address, peer, scene};

/// What the manager is sent until `state` arrives.
fn reported(manager: &UnixDatagram, state: &str) -> Vec<String> {
    manager.set_read_timeout(Some(super::PATIENCE)).unwrap();
    let mut said = Vec::new();
    while !said.iter().any(|known| known == state) {
        let mut bytes = [0; 1_024];
        let length = manager.recv(&mut bytes).unwrap();
        said.push(String::from_utf8_lossy(&bytes[..length]).into_owned());
    }
    said
}

#[test]
fn a_manager_hands_sockets_over_and_learns_of_readiness_and_end() {
    let scene = scene("cache-service");
    let manager = UnixDatagram::bind(scene.path("notify.sock")).unwrap();
    let clients = UnixListener::bind(scene.path("nbd.sock")).unwrap();
    let program = env!("CARGO_BIN_EXE_plimsoll");
    let line = format!(
        "exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec {program} cache serve flash.img \
         --volume mail=disk.img --listen unix:unused.sock"
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(&scene.folder).stdin(OwnedFd::from(clients));
    shell.env("NOTIFY_SOCKET", scene.path("notify.sock")).stdout(Stdio::null());
    shell.stderr(fs::File::create(scene.path("serve.err")).unwrap());
    let served = Served { scene: &scene, child: shell.spawn().unwrap() };
    reported(&manager, "READY=1");
    assert!(!scene.path("unused.sock").exists(), "the manager's sockets replace those of flags");
    if let Some(info) = peer(&scene, &["nbdinfo", "--size", &address(&scene)]) {
        info.expect_code(0).expect_out(&["67108864"]);
    }
    // A client that is connected but silent does not keep the server from stopping.
    let silent = UnixStream::connect(scene.path("nbd.sock")).unwrap();
    thread::sleep(Duration::from_millis(50));
    served.signal("TERM");
    reported(&manager, "STOPPING=1");
    assert_eq!(served.ended(), 0);
    drop(silent);
}

#[test]
fn errors_of_the_device_behind_reach_the_client_and_the_status() {
    let scene = scene("cache-errors");
    let mut nbdkit = Command::new("nbdkit");
    nbdkit.args(["--foreground", "--exit-with-parent", "--unix", "back.sock", "--filter=error"]);
    nbdkit.args(["memory", "64M", "error-pread=EIO", "error-pread-rate=1"]);
    nbdkit.arg("error-pread-file=broken").current_dir(&scene.folder).stdin(Stdio::null());
    let Ok(mut nbdkit) = nbdkit.stderr(Stdio::null()).spawn() else {
        eprintln!("skipped: nbdkit is not installed");
        return;
    };
    for _ in 0..500 {
        if UnixStream::connect(scene.path("back.sock")).is_ok() {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    let words = ["cache", "serve", "flash.img", "--volume"];
    let behind = ["mail=nbd+unix:///?socket=back.sock", "--listen", "unix:nbd.sock"];
    let served = Served::with(&scene, words.iter().chain(&behind).copied().collect());
    let copied = peer(&scene, &["nbdcopy", "disk.img", &address(&scene)]);
    if let Some(copied) = copied {
        copied.expect_code(0);
        scene.write("broken", b"");
        let failed = peer(&scene, &["nbdcopy", &address(&scene), "null:"]).unwrap();
        assert_ne!(failed.code, Some(0), "{}", failed.err);
        scene.run(["cache", "status", "flash.img"]).expect_code(0).expect_out(&["LAST ERROR"]);
        fs::remove_file(scene.path("broken")).unwrap();
        peer(&scene, &["nbdcopy", &address(&scene), "copy.img"]).unwrap().expect_code(0);
        assert!(super::same(&scene.path("copy.img"), &scene.path("disk.img")));
    }
    assert_eq!(served.stop(), 0);
    let _ = nbdkit.kill();
    let _ = nbdkit.wait();
}
