//! The server killed while clients write: nothing that it acknowledged is lost, and nothing stale
//! is read afterwards. `PLIMSOLL_CACHE_KILLS`, which `cargo xtask cache-kill` sets, is the number
//! of kills.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::rc::Rc;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use device::{Buffer, Device, Durability, OpenMode, Purpose, Request};
use device_net::{NbdAddress, connect};
use device_os::{Backend, World};
use units::{Prng, Seed};

use super::{Served, VOLUME_BYTES, address, noise, scene};
use crate::scene::Scene;

/// Bytes of a write.
const BLOCK: usize = 4_096;

/// Blocks that are written again and again, so that they are in the cache.
const HOT: u64 = 1_024;

/// Requests in flight.
const DEPTH: usize = 8;

/// The version of a block before its first write.
const NOISE: u64 = 0;

/// Versions that a block may have: acknowledged, or in flight when the server was killed.
type Versions = BTreeMap<u64, Vec<u64>>;

fn kills() -> u64 {
    std::env::var("PLIMSOLL_CACHE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

fn content(block: u64, version: u64) -> Buffer {
    if version == NOISE {
        let mut first = Buffer::zeroed(BLOCK);
        first.copy_from_slice(&noise()[usize::try_from(block).unwrap() * BLOCK..][..BLOCK]);
        return first;
    }
    let mut buffer = Buffer::zeroed(BLOCK);
    Prng::new(Seed(block << 32 | version)).fill(&mut buffer);
    buffer[..8].copy_from_slice(&version.to_le_bytes());
    buffer
}

fn client(scene: &Scene, world: &World) -> Rc<dyn Device> {
    let text = address(scene);
    let (place, name, _) = NbdAddress::parse(&text, Path::exists).unwrap();
    connect(&place, &name, OpenMode::ReadWrite, world.remote()).unwrap()
}

/// Writes and reads hot blocks until the connection breaks; the versions that may be there.
fn load(scene: &Scene, seed: u64, versions: Versions, connected: &Sender<()>) -> Versions {
    let world = World::new(Backend::Auto).unwrap();
    let device = client(scene, &world);
    connected.send(()).unwrap();
    let runtime = world.executor().runtime();
    let versions = Rc::new(std::cell::RefCell::new(versions));
    let mut tasks = Vec::new();
    for lane in 0..DEPTH as u64 {
        let (device, versions) = (Rc::clone(&device), Rc::clone(&versions));
        tasks.push(runtime.spawn(async move {
            let mut prng = Prng::new(Seed(seed << 8 | lane));
            for version in 1.. {
                // Each lane has its own blocks, so that the order of versions is known.
                let block = prng.below(HOT / DEPTH as u64) * DEPTH as u64 + lane;
                let at = block * BLOCK as u64;
                if prng.below(3) > 0 {
                    let read = device.submit(Request::read(Purpose::Database, at, BLOCK)).await;
                    let Ok(bytes) = read.into_buffer() else {
                        return;
                    };
                    expect(&versions.borrow(), block, &bytes);
                    continue;
                }
                let version = seed << 32 | version;
                versions.borrow_mut().entry(block).or_insert_with(|| vec![NOISE]).push(version);
                let durability = if version.is_multiple_of(5) {
                    Durability::Durable
                } else {
                    Durability::Volatile
                };
                let buffer = content(block, version);
                let write = Request::write(Purpose::Database, at, buffer, durability);
                if device.submit(write).await.result.is_err() {
                    return;
                }
                versions.borrow_mut().insert(block, vec![version]);
            }
        }));
    }
    world.executor().block_on(async move {
        for task in tasks {
            task.await;
        }
    });
    versions.take()
}

/// Panics unless the bytes are one of the versions that the block may have.
fn expect(versions: &Versions, block: u64, bytes: &[u8]) {
    let known = versions.get(&block).map_or(&[NOISE][..], Vec::as_slice);
    let found = version_of(block, bytes);
    let is_whole = known.contains(&found) && content(block, found)[..] == *bytes;
    assert!(is_whole, "block {block}: found {found:#x}, may be one of {known:x?}");
}

/// The version that the bytes of a block begin with.
fn version_of(block: u64, bytes: &[u8]) -> u64 {
    if content(block, NOISE)[..] == *bytes {
        return NOISE;
    }
    u64::from_le_bytes(bytes[..8].try_into().unwrap())
}

/// Reads every block through the cache, twice, and the volume beside it.
fn verify(scene: &Scene, versions: &mut Versions) {
    let world = World::new(Backend::Auto).unwrap();
    let device = client(scene, &world);
    let beside = scene.read("disk.img");
    for block in 0..HOT {
        let at = block * BLOCK as u64;
        for _ in 0..2 {
            let read = device.submit(Request::read(Purpose::Database, at, BLOCK));
            let bytes = world.executor().block_on(read).into_buffer().unwrap();
            expect(versions, block, &bytes);
            let place = usize::try_from(at).unwrap();
            assert!(bytes[..] == beside[place..place + BLOCK], "block {block} is stale");
            if let Some(known) = versions.get_mut(&block) {
                *known = vec![version_of(block, &bytes)];
            }
        }
    }
    assert_eq!(beside.len() as u64, VOLUME_BYTES);
}

#[test]
fn a_killed_server_loses_no_acknowledged_write_and_serves_nothing_stale() {
    let scene = scene("cache-kills");
    let mut versions = Versions::new();
    for round in 1..=kills() {
        let served = Served::start(&scene);
        verify(&scene, &mut versions);
        let delay = Duration::from_millis(150 + round * 97 % 600);
        versions = thread::scope(|scope| {
            let (scene, before) = (&scene, std::mem::take(&mut versions));
            let (connected, is_connected) = mpsc::channel();
            let load = scope.spawn(move || load(scene, round, before, &connected));
            is_connected.recv().unwrap();
            thread::sleep(delay);
            served.kill();
            load.join().unwrap()
        });
        assert!(versions.len() > 8, "round {round} wrote too little to prove anything");
    }
    let served = Served::start(&scene);
    verify(&scene, &mut versions);
    assert_eq!(served.stop(), 0);
}

#[test]
fn fio_finds_no_mismatch_although_the_server_is_killed() {
    let scene = scene("cache-fio-kills");
    let uri = format!("--uri={}", address(&scene));
    for round in 1..=kills() {
        let served = Served::start(&scene);
        let mut fio = std::process::Command::new("fio");
        fio.args(["--name=mixed", "--ioengine=nbd", "--rw=randrw", "--bs=4k", "--size=32M"]);
        fio.args(["--verify=crc32c", "--verify_backlog=32", "--iodepth=8", "--time_based"]);
        fio.args(["--runtime=60", &uri]).current_dir(&scene.folder);
        let Ok(child) = fio.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() else {
            eprintln!("skipped: fio is not installed");
            return;
        };
        thread::sleep(Duration::from_millis(400 + round * 131 % 700));
        served.kill();
        let output = child.wait_with_output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(!text.contains("verify:") && !text.contains("crc32c:"), "{text}");
    }
    scene.run(["cache", "check", "flash.img"]).expect_code(0).expect_out(&["killed"]);
}
