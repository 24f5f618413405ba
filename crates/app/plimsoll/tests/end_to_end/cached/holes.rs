//! Clients see the holes of the volume behind the cache, and make new ones.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;

use serde_json::Value;

use super::{Served, address, peer, same, scene};

/// Bytes of the volume that occupy no storage, as a client sees them.
fn holes(scene: &crate::scene::Scene) -> Option<u64> {
    let map = peer(scene, &["nbdinfo", "--map", "--json", &address(scene)])?;
    map.expect_code(0);
    let map: Value = serde_json::from_str(&map.out).unwrap();
    let parts = map.as_array().unwrap();
    let whole: u64 = parts.iter().map(|part| part["length"].as_u64().unwrap()).sum();
    assert_eq!(whole, super::VOLUME_BYTES);
    let empty = parts.iter().filter(|part| part["type"] == 3);
    Some(empty.map(|part| part["length"].as_u64().unwrap()).sum())
}

#[test]
fn a_trim_empties_cache_and_file_and_clients_see_the_hole() {
    let scene = scene("cache-holes");
    let file = File::options().write(true).open(scene.path("disk.img")).unwrap();
    file.set_len(32 << 20).unwrap();
    file.set_len(64 << 20).unwrap();
    let served = Served::start(&scene);
    if holes(&scene).is_none() {
        return;
    }
    assert_eq!(holes(&scene), Some(32 << 20), "the second half was never written");
    let address = address(&scene);
    let uri = format!("--uri={address}");
    let words = ["fio", "--name=t", "--ioengine=nbd", "--bs=32k", "--size=8M", uri.as_str()];
    let Some(warm) = peer(&scene, &[&words[..], &["--rw=randread"]].concat()) else {
        return;
    };
    warm.expect_code(0);
    let cached = |served: &Served<'_>| served.status()["volumes"][0]["cached_bytes"].as_u64();
    assert_eq!(cached(&served), Some(8 << 20));
    let before = fs::metadata(scene.path("disk.img")).unwrap().blocks();
    peer(&scene, &[&words[..], &["--rw=randtrim"]].concat()).unwrap().expect_code(0);
    assert_eq!(cached(&served), Some(0));
    let after = fs::metadata(scene.path("disk.img")).unwrap().blocks();
    assert_eq!((before - after) * 512, 8 << 20, "the file gave its storage back");
    assert_eq!(holes(&scene), Some(40 << 20));
    peer(&scene, &["nbdcopy", &address, "copy.img"]).unwrap().expect_code(0);
    assert_eq!(served.stop(), 0);
    assert!(same(&scene.path("copy.img"), &scene.path("disk.img")));
    assert!(scene.read("copy.img")[..8 << 20].iter().all(|&byte| byte == 0));
}
