//! Mistakes that the server refuses or notices.

use std::fs;
use std::io::Write as _;
use std::os::unix::net::UnixStream;

use super::{Served, address, peer, scene};
use crate::scene::Scene;

#[test]
fn flash_that_holds_anything_is_never_written_unasked() {
    let scene = Scene::new("cache-foreign");
    let mut disk = vec![0; 64 << 20];
    disk[..4].copy_from_slice(b"XFSB");
    scene.write("foreign.img", &disk);
    let text = ["holds a file system (XFS)", "--force"];
    scene.run(["cache", "create", "foreign.img"]).expect_refusal(&text);
    let not_a_cache = ["holds no cache", "`plimsoll cache create`"];
    scene.run(["cache", "check", "foreign.img"]).expect_refusal(&not_a_cache);
    scene.run(["cache", "status", "foreign.img"]).expect_refusal(&not_a_cache);
    scene.run(["cache", "remove", "foreign.img", "--all"]).expect_refusal(&not_a_cache);
    scene.write("disk.img", &vec![0; 1 << 20]);
    let serve = ["cache", "serve", "foreign.img", "--volume", "mail=disk.img"];
    scene.run(serve).expect_refusal(&not_a_cache);
    assert!(scene.read("foreign.img") == disk, "a refusal writes nothing");
    scene.run(["cache", "create", "foreign.img", "--force"]).expect_code(0);
    let again = ["holds a cache already", "--force"];
    scene.run(["cache", "create", "foreign.img"]).expect_refusal(&again);
    scene.run(["cache", "create", "small.img", "--size", "4MiB"]).expect_refusal(&["16 MiB"]);
    assert!(!scene.path("small.img").exists(), "nothing is left of it");
    scene.run(["cache", "create", "none.img"]).expect_refusal(&["none.img", "no such file"]);
    let nowhere = ["cache", "create", "none/flash.img", "--size", "64MiB"];
    scene.run(nowhere).expect_refusal(&["none: no such folder; create it first"]);
}

#[test]
fn words_that_make_no_sense_are_refused_before_anything_is_opened() {
    let scene = scene("cache-words");
    let serve =
        |more: &[&str]| scene.run(["cache", "serve", "flash.img"].iter().chain(more).copied());
    serve(&["--volume", "mail"]).expect_code(64).expect_err(&["mail=/dev/sdx"]);
    serve(&["--volume", "a b=disk.img"]).expect_code(64).expect_err(&["letters, digits"]);
    let open = ["--volume", "mail=disk.img", "--listen"];
    serve(&[&open[..], &["0.0.0.0:10809"]].concat()).expect_refusal(&["has no TLS"]);
    serve(&[&open[..], &["nowhere"]].concat()).expect_refusal(&["no address to listen at"]);
    for socket in ["guest.sock", "mail=", "other=guest.sock"] {
        let words = ["--volume", "mail=disk.img", "--vhost-user", socket];
        serve(&words).expect_code(64).expect_err(&["give a volume of --volume and a path"]);
    }
    serve(&["--volume", "mail=none.img"]).expect_refusal(&["none.img", "no such file"]);
    serve(&["--volume", "mail=flash.img"]).expect_refusal(&["in use by another plimsoll"]);
    scene.write("cache.toml", b"flash = \"flash.img\"\nlissten = []\n");
    let refused = scene.run(["cache", "serve", "--config", "cache.toml"]);
    refused.expect_code(2).expect_err(&["did you mean `listen`", "[[volume]]"]);
}

#[test]
fn a_second_server_and_a_change_beside_the_server_are_refused() {
    let scene = scene("cache-second");
    let served = Served::start(&scene);
    let serve = ["cache", "serve", "flash.img", "--volume", "m=x.img", "--listen", "unix:b.sock"];
    scene.run(serve).expect_refusal(&["flash.img", "in use by another plimsoll process"]);
    scene.run(["cache", "create", "flash.img", "--force"]).expect_refusal(&["in use by another"]);
    scene.run(["cache", "remove", "flash.img", "--all"]).expect_refusal(&["in use by another"]);
    scene.run(["cache", "drain", "flash.img"]).expect_code(0).expect_out(&["not in use any more"]);
    drop(served);
    scene.run(["cache", "drain", "flash.img"]).expect_refusal(&["no server answers"]);
}

#[test]
fn a_volume_that_changed_behind_the_cache_is_dropped_and_it_says_so() {
    let scene = scene("cache-changed");
    let warm = || {
        let served = Served::start(&scene);
        let uri = format!("--uri={}", address(&scene));
        let words =
            ["fio", "--name=warm", "--ioengine=nbd", "--rw=randread", "--bs=32k", "--size=8M"];
        let is_warm = peer(&scene, &[&words[..], &[uri.as_str()]].concat()).is_some();
        assert_eq!(served.stop(), 0);
        is_warm
    };
    if !warm() {
        return;
    }
    scene.run(["cache", "check", "flash.img"]).expect_code(0).expect_out(&["disk.img: "]);
    scene.change("disk.img", |bytes| bytes[5 << 20] ^= 1);
    let served = Served::start(&scene);
    assert!(served.messages().contains("something else changed it"), "{}", served.messages());
    assert_eq!(served.status()["volumes"][0]["cached_bytes"], 0);
    let copied = peer(&scene, &["nbdcopy", &address(&scene), "copy.img"]);
    if let Some(copied) = copied {
        copied.expect_code(0);
        assert!(super::same(&scene.path("copy.img"), &scene.path("disk.img")));
    }
    assert_eq!(served.stop(), 0);
}

#[test]
fn a_volume_that_changed_after_a_kill_is_dropped_and_one_that_did_not_is_warm() {
    let scene = scene("cache-killed-changed");
    let served = Served::start(&scene);
    let uri = format!("--uri={}", address(&scene));
    // Blocks of regions that were written last are dropped after a kill, and the others kept.
    for (way, size) in [("--rw=randread", "--size=8M"), ("--rw=randwrite", "--size=1M")] {
        let words = ["fio", "--name=w", "--ioengine=nbd", "--bs=32k", way, size, uri.as_str()];
        if peer(&scene, &words).is_none() {
            return;
        }
    }
    served.kill();
    let served = Served::start(&scene);
    assert!(!served.messages().contains("something else changed it"), "{}", served.messages());
    assert!(served.status()["volumes"][0]["cached_bytes"].as_u64() > Some(1 << 20));
    served.kill();
    // A change within three seconds of the last write is taken for the server's own.
    std::thread::sleep(std::time::Duration::from_millis(3_500));
    scene.change("disk.img", |bytes| bytes[5 << 20] ^= 1);
    let served = Served::start(&scene);
    assert!(served.messages().contains("something else changed it"), "{}", served.messages());
    assert_eq!(served.status()["volumes"][0]["cached_bytes"], 0);
    assert_eq!(served.stop(), 0);
}

#[test]
fn bits_that_rot_in_the_flash_reach_no_client_and_check_counts_them() {
    let scene = scene("cache-rot");
    let served = Served::start(&scene);
    let address = address(&scene);
    let uri = format!("--uri={address}");
    let words = ["fio", "--name=warm", "--ioengine=nbd", "--rw=randread", "--bs=32k", "--size=16M"];
    if peer(&scene, &[&words[..], &[uri.as_str()]].concat()).is_none() {
        return;
    }
    assert_eq!(served.stop(), 0);
    scene.change("flash.img", |bytes| {
        for at in (8 << 20..bytes.len()).step_by(16 << 10) {
            bytes[at + 5_000] ^= 1;
        }
    });
    let rotten = scene.run(["cache", "check", "flash.img"]);
    rotten.expect_code(1).expect_out(&["do not match their checksum"]);
    let served = Served::start(&scene);
    peer(&scene, &["nbdcopy", &address, "copy.img"]).unwrap().expect_code(0);
    assert!(super::same(&scene.path("copy.img"), &scene.path("disk.img")));
    assert!(served.status()["blocks_damaged"].as_u64().unwrap() > 0);
    assert_eq!(served.stop(), 0);
}

#[test]
fn noise_from_a_client_ends_its_connection_and_nothing_else() {
    let scene = scene("cache-noise");
    let served = Served::start(&scene);
    for seed in 0..200 {
        let mut noise = [0; 4_096];
        units::Prng::new(units::Seed(seed)).fill(&mut noise);
        noise[..4].copy_from_slice(&3_u32.to_be_bytes());
        noise[4..12].copy_from_slice(b"IHAVEOPT");
        let mut stream = UnixStream::connect(scene.path("nbd.sock")).unwrap();
        // The server may be faster and close first.
        let _ = stream.write_all(&noise);
    }
    assert_eq!(served.status()["state"], "working");
    assert_eq!(served.stop(), 0);
    assert!(!fs::read_to_string(scene.path("serve.err")).unwrap().contains("bug in plimsoll"));
}

#[test]
fn a_volume_and_the_cache_are_removed_by_name() {
    let scene = scene("cache-remove");
    assert_eq!(Served::start(&scene).stop(), 0);
    let unused = scene.run(["cache", "check", "flash.img"]);
    unused.expect_code(0).expect_out(&["ended cleanly, with nothing cached"]);
    let refused = ["holds no volume nothing", "disk.img"];
    scene.run(["cache", "remove", "flash.img", "nothing"]).expect_refusal(&refused);
    let device = fs::canonicalize(scene.path("disk.img")).unwrap().display().to_string();
    scene.run(["cache", "remove", "flash.img", &device]).expect_code(0);
    let empty = scene.run(["cache", "check", "flash.img"]);
    empty.expect_code(0).expect_out(&["No volume was served"]);
    scene.run(["cache", "remove", "flash.img", "--all"]).expect_code(0);
    scene.run(["cache", "check", "flash.img"]).expect_refusal(&["holds no cache"]);
    scene.run(["cache", "create", "flash.img"]).expect_code(0);
}
