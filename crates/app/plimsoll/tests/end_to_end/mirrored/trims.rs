//! A guest gives storage back, and so do both hosts. Trimmed blocks stay empty through restarts and
//! after the return of a host that was away.

use std::fs::File;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use super::{HOSTS, Pair};
use crate::cached::peer;

/// Bytes of the volume.
const BYTES: u64 = 1 << 30;

/// The trimmed part of the volume.
const HOMES_MIB: usize = 40;

/// Bytes of the file of homes before the first of them.
const HEADER_BYTES: u64 = 4_096;

/// Commands of a disk to the volume on `host`; `false`, said aloud, on a machine without qemu-io.
fn disk(pair: &Pair, host: usize, orders: &[&str]) -> bool {
    let socket = pair.scene.path(format!("{}.sock", HOSTS[host]));
    let address = format!("nbd:unix:{}:exportname=mail", socket.display());
    let mut words = vec!["qemu-io", "-f", "raw", "-t", "none", "-d", "unmap"];
    words.extend(orders.iter().flat_map(|order| ["-c", order]));
    words.push(&address);
    let Some(ran) = peer(&pair.scene, &words) else { return false };
    ran.expect_code(0);
    assert!(!ran.out.contains("Pattern verification failed"), "{}", ran.out);
    true
}

/// The homes of the first `HOMES_MIB` MiB of the volume on a host.
fn homes(pair: &Pair, host: usize) -> (File, Vec<u8>) {
    let file = File::open(pair.scene.path(format!("{}.flash.blocks", HOSTS[host]))).unwrap();
    let mut bytes = vec![0; HOMES_MIB << 20];
    file.read_exact_at(&mut bytes, HEADER_BYTES).unwrap();
    (file, bytes)
}

#[test]
fn a_trim_gives_storage_back_on_both_hosts_and_lasts() {
    let Some(mut pair) = Pair::of_size("mirror-trims", false, BYTES) else { return };
    pair.start(0);
    pair.start(1);
    let owner = pair.wait_for_both();
    if !disk(&pair, owner, &["write -P 0x5a 0 80M"]) {
        return;
    }
    for host in [0, 1] {
        pair.wait("blocks at home", |pair| homes(pair, host).1.contains(&0x5a));
    }
    // The log is written anew, and homes are given back, once it is long enough.
    let reads = ["read -P 0 0 40M", "read -P 0x5a 40M 40M", "read -P 0 200M 1M"];
    disk(&pair, owner, &["discard 0 40M", reads[0], reads[1], "write -P 0xa5 512M 80M"]);
    for host in [0, 1] {
        pair.wait("homes given back", |pair| homes(pair, host).1.iter().all(|&byte| byte == 0));
        let stored = homes(&pair, host).0.metadata().unwrap().blocks() * 512;
        assert!(stored < 130 << 20, "{stored} bytes: zeros occupy storage");
    }
    disk(&pair, owner, &reads);
    pair.kill(0);
    pair.kill(1);
    pair.start(0);
    pair.start(1);
    let owner = pair.wait_for_both();
    disk(&pair, owner, &reads);
    // A host that was away must not bring the old content back.
    pair.kill(1 - owner);
    disk(&pair, owner, &["discard 40M 8M", "discard 200M 8M"]);
    pair.start(1 - owner);
    pair.wait_for_both();
    pair.kill(owner);
    pair.wait("the peer", |pair| pair.is_owner(1 - owner));
    disk(&pair, 1 - owner, &[reads[0], "read -P 0 40M 8M", "read -P 0x5a 48M 8M"]);
}
