//! Clients of others: nbdinfo, nbdcopy, qemu-img, fio.

use std::fs;

use super::{Served, address, peer, same, scene};

#[test]
fn every_byte_comes_back_through_the_cache_cold_and_warm() {
    let scene = scene("cache-copy");
    let served = Served::start(&scene);
    let address = address(&scene);
    let Some(info) = peer(&scene, &["nbdinfo", &address]) else {
        return;
    };
    info.expect_code(0).expect_out(&[
        "export-size: 67108864",
        "can_multi_conn: true",
        "can_fua: true",
        "can_trim: true",
        "can_zero: true",
        "base:allocation",
        "block_size_minimum: 1",
        "block_size_preferred: 32768",
        "block_size_maximum: 67108864",
    ]);
    peer(&scene, &["nbdinfo", "--list", &address]).unwrap().expect_code(0).expect_out(&["mail"]);
    for copy in ["cold.img", "warm.img"] {
        peer(&scene, &["nbdcopy", &address, copy]).unwrap().expect_code(0);
        assert!(same(&scene.path(copy), &scene.path("disk.img")), "{copy}");
    }
    if let Some(compared) =
        peer(&scene, &["qemu-img", "compare", "-f", "raw", "-F", "raw", &address, "disk.img"])
    {
        compared.expect_code(0).expect_out(&["Images are identical"]);
    }
    assert_eq!(served.stop(), 0);
}

#[test]
fn a_volume_is_written_by_a_client_and_starts_warm_after_a_clean_end() {
    let scene = scene("cache-write");
    let served = Served::start(&scene);
    let mut changed = scene.read("disk.img");
    units::Prng::new(units::Seed(8)).fill(&mut changed[..(8 << 20) + 12_345]);
    scene.write("changed.img", &changed);
    let address = address(&scene);
    let Some(copied) = peer(&scene, &["nbdcopy", "--flush", "changed.img", &address]) else {
        return;
    };
    copied.expect_code(0);
    let words = ["fio", "--name=warm", "--ioengine=nbd", "--rw=randread", "--bs=32k", "--size=16M"];
    let uri = format!("--uri={address}");
    let uri = uri.as_str();
    let fio = peer(&scene, &[&words[..], &[uri, "--iodepth=4"]].concat());
    let cached = |served: &Served| served.status()["volumes"][0]["cached_bytes"].as_u64().unwrap();
    let before = cached(&served);
    if let Some(fio) = fio {
        fio.expect_code(0);
        // Flash that is slow for the moment refuses some of the 512 blocks.
        assert!(before > 100 * 32_768, "{before} bytes are cached");
    }
    assert_eq!(served.stop(), 0);
    assert!(same(&scene.path("changed.img"), &scene.path("disk.img")), "written through");
    let text = scene.run(["cache", "check", "flash.img"]);
    text.expect_code(0).expect_out(&["ended cleanly", "every one matches its checksum"]);
    let again = Served::start(&scene);
    assert_eq!(cached(&again), before, "bytes are warm");
    drop(again);
}

#[test]
fn fio_verifies_what_it_wrote_with_several_jobs_and_sizes() {
    let scene = scene("cache-fio");
    let served = Served::start(&scene);
    let uri = format!("--uri={}", address(&scene));
    for (size, depth) in [("512", "4"), ("4k", "16"), ("32k", "8"), ("1m", "4")] {
        let words = [
            "fio",
            "--name=verify",
            "--ioengine=nbd",
            "--rw=randrw",
            "--size=8M",
            "--verify=crc32c",
            "--verify_fatal=1",
            "--fsync=64",
            "--bs",
        ];
        let Some(fio) =
            peer(&scene, &[&words[..], &[size, "--iodepth", depth, uri.as_str()]].concat())
        else {
            return;
        };
        fio.expect_code(0);
        assert!(!fio.out.contains("verify failed"), "{}", fio.out);
    }
    let metrics = scene.run(["cache", "status", "flash.img", "--metrics"]);
    metrics.expect_code(0).expect_out(&[
        "plimsoll_cache_up 1",
        "plimsoll_cache_reads_total{class=\"database\"}",
        "plimsoll_cache_request_seconds_bucket{volume=\"mail\",kind=\"reads\",le=\"+Inf\"}",
    ]);
    scene.run(["cache", "status", "flash.img"]).expect_code(0).expect_out(&["from flash"]);
    assert_eq!(served.stop(), 0);
}

#[test]
fn several_volumes_share_a_document_and_a_pool() {
    let scene = scene("cache-several");
    fs::copy(scene.path("disk.img"), scene.path("other.img")).unwrap();
    let document = |most: &str| {
        format!(
            "flash = \"flash.img\"\nlisten = [\"unix:nbd.sock\"]\nmetrics = \"127.0.0.1:0\"\n\
             [[volume]]\nname = \"mail\"\ndevice = \"disk.img\"\nmin = \"8MiB\"\n{most}\
             [[volume]]\nname = \"other\"\ndevice = \"other.img\"\nread_only = true\n"
        )
    };
    scene.write("cache.toml", document("").as_bytes());
    let served = Served::with(&scene, vec!["cache", "serve", "--config", "cache.toml"]);
    scene.write("cache.toml", document("max = \"16MiB\"\n").as_bytes());
    served.signal("HUP");
    for _ in 0..200 {
        if served.status()["volumes"][0]["max_bytes"] == 16 << 20 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(served.status()["volumes"][0]["max_bytes"], 16 << 20, "{}", served.messages());
    let other = address(&scene).replace("/mail", "/other");
    if let Some(refused) = peer(&scene, &["nbdcopy", "disk.img", &other]) {
        assert_ne!(refused.code, Some(0), "it is read-only");
        peer(&scene, &["nbdcopy", &other, "copy.img"]).unwrap().expect_code(0);
        assert!(same(&scene.path("copy.img"), &scene.path("disk.img")));
    }
    assert_eq!(served.stop(), 0);
}
