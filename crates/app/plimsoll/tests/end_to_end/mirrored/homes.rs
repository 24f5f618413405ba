//! A volume on flash alone that is larger than the memory of its servers: blocks go to their
//! homes, come back after a restart, and one that was damaged there is noticed.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::sync::Arc;

use device::Durability;
use device_os::{Backend, World};

use super::history::{BLOCK, History};
use super::{HOSTS, Pair, guest};

/// Bytes of the volume, and of its written part.
const BYTES: u64 = 1 << 30;
const WRITTEN: u64 = 256 << 20;

/// Blocks of a request.
const AT_ONCE: u64 = 64;

/// Most memory of a server, in KiB: less than the written part.
const MOST_MEMORY_KIB: u64 = 220 << 10;

#[test]
fn a_volume_needs_less_memory_than_it_has_data() {
    let Some(mut pair) = Pair::of_size("mirror-homes", false, BYTES) else { return };
    pair.start(0);
    pair.start(1);
    let (owner, history) = (pair.wait_for_both(), Arc::<History>::default());
    fill(&pair.address(owner), &history);
    for host in [0, 1] {
        pair.wait("a log written anew", |pair| {
            pair.status(host)["flash_file_bytes"].as_u64().is_some_and(|bytes| bytes < 192 << 20)
        });
        let homes = fs::metadata(homes(&pair, host)).unwrap();
        assert!(homes.len() > BYTES, "each block has a place");
        let stored = homes.blocks() * 512;
        assert!(stored > WRITTEN / 2 && stored < WRITTEN + (16 << 20), "{stored} bytes");
        let memory = memory_kib(&pair, host);
        assert!(memory < MOST_MEMORY_KIB, "{} takes {memory} KiB", HOSTS[host]);
    }
    guest::verify(&pair.address(owner), &history);
    pair.kill(0);
    pair.kill(1);
    pair.start(0);
    pair.start(1);
    let owner = pair.wait_for_both();
    guest::verify(&pair.address(owner), &history);
    // A damaged home: the copy is off, and the other host's answers.
    let file = File::options().write(true).open(homes(&pair, owner)).unwrap();
    file.write_all_at(&[0xa5; BLOCK], BLOCK as u64).unwrap();
    let world = World::new(Backend::Auto).unwrap();
    let device = guest::open(&pair.address(owner), &world).unwrap();
    let read = guest::read(&*device, &history, (0, 1));
    assert!(world.executor().block_on(read), "{}", pair.messages());
    history.check();
    assert!(pair.messages().contains("block 0 does not hold what was written"));
}

fn homes(pair: &Pair, host: usize) -> std::path::PathBuf {
    pair.scene.path(format!("{}.flash.blocks", HOSTS[host]))
}

/// Writes the first part of the volume.
fn fill(address: &str, history: &Arc<History>) {
    let world = World::new(Backend::Auto).unwrap();
    let device = guest::open(address, &world).unwrap();
    let blocks = WRITTEN / BLOCK as u64;
    for first in (0..blocks).step_by(AT_ONCE.try_into().unwrap()) {
        let write = guest::write(&*device, history, (first, AT_ONCE), Durability::Volatile);
        assert!(world.executor().block_on(write), "block {first}");
    }
}

/// The most memory that the server of a host has had.
fn memory_kib(pair: &Pair, host: usize) -> u64 {
    let id = pair.hosts[host].as_ref().unwrap().id();
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
