//! A guest that writes unique contents through whichever host serves the volume, and checks every
//! read against the history of its block.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use device::{Buffer, Device, Durability, OpenMode, Purpose, Request};
use device_net::{NbdAddress, connect};
use device_os::{Backend, World};
use units::{Prng, Seed};

/// Bytes of a write.
pub(super) const BLOCK: usize = 4_096;

/// Blocks that are written again and again.
pub(super) const HOT: u64 = 512;

/// Requests in flight.
const DEPTH: u64 = 4;

/// Versions that a block may have: the acknowledged one, or those whose outcome is unknown.
pub(super) type Versions = BTreeMap<u64, Vec<u64>>;

/// What a guest and its observer share.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) stop: AtomicBool,
    pub(super) acknowledged: AtomicU64,
}

/// The content of a block after the write of this version; 0: never written.
fn content(block: u64, version: u64) -> Buffer {
    let mut buffer = Buffer::zeroed(BLOCK);
    if version > 0 {
        Prng::new(Seed(block << 32 | version)).fill(&mut buffer);
        buffer[..8].copy_from_slice(&version.to_le_bytes());
    }
    buffer
}

fn open(address: &str, world: &World) -> Option<Rc<dyn Device>> {
    let (place, name, _) = NbdAddress::parse(address, Path::exists).unwrap();
    connect(&place, &name, OpenMode::ReadWrite, world.remote()).ok()
}

/// Works until it is stopped, through the hosts in turn; what every block may hold at the end.
pub(super) fn work(addresses: &[String; 2], progress: &Arc<Progress>, seed: u64) -> Versions {
    let mut versions = Versions::new();
    let mut host = 0;
    for number in 1.. {
        if progress.stop.load(Ordering::Relaxed) {
            break;
        }
        versions = session(&addresses[host], progress, seed << 16 | number, versions);
        host = 1 - host;
        thread::sleep(Duration::from_millis(50));
    }
    versions
}

/// One connection: lanes of requests, each over its own blocks, until one fails.
fn session(address: &str, progress: &Arc<Progress>, seed: u64, versions: Versions) -> Versions {
    let world = World::new(Backend::Auto).unwrap();
    let Some(device) = open(address, &world) else { return versions };
    let versions = Rc::new(RefCell::new(versions));
    let runtime = world.executor().runtime();
    let lanes: Vec<_> = (0..DEPTH)
        .map(|number| {
            let (device, versions) = (Rc::clone(&device), Rc::clone(&versions));
            let lane = Lane { device, versions, progress: Arc::clone(progress), number };
            runtime.spawn(lane.run(seed))
        })
        .collect();
    world.executor().block_on(async move {
        for lane in lanes {
            lane.await;
        }
    });
    versions.take()
}

struct Lane {
    device: Rc<dyn Device>,
    versions: Rc<RefCell<Versions>>,
    progress: Arc<Progress>,
    number: u64,
}

impl Lane {
    async fn run(self, seed: u64) {
        let mut prng = Prng::new(Seed(seed << 8 | self.number));
        for step in 1.. {
            if self.progress.stop.load(Ordering::Relaxed) {
                return;
            }
            let block = prng.below(HOT / DEPTH) * DEPTH + self.number;
            let is_done = match prng.below(10) {
                0..4 => self.read(block).await,
                4 => self.device.submit(Request::flush(Purpose::Database)).await.result.is_ok(),
                _ => self.write(block, seed << 24 | step).await,
            };
            if !is_done {
                return;
            }
        }
    }

    async fn read(&self, block: u64) -> bool {
        let read = Request::read(Purpose::Database, block * BLOCK as u64, BLOCK);
        let Ok(bytes) = self.device.submit(read).await.into_buffer() else { return false };
        expect(&mut self.versions.borrow_mut(), block, &bytes);
        true
    }

    async fn write(&self, block: u64, version: u64) -> bool {
        self.versions.borrow_mut().entry(block).or_insert_with(|| vec![0]).push(version);
        let (at, buffer) = (block * BLOCK as u64, content(block, version));
        let durability =
            if version.is_multiple_of(5) { Durability::Durable } else { Durability::Volatile };
        let write = Request::write(Purpose::Database, at, buffer, durability);
        if self.device.submit(write).await.result.is_err() {
            return false;
        }
        self.versions.borrow_mut().insert(block, vec![version]);
        self.progress.acknowledged.fetch_add(1, Ordering::Relaxed);
        true
    }
}

/// Panics unless the bytes are one of the versions that the block may have. From then on it has
/// that one: another must not surface later.
fn expect(versions: &mut Versions, block: u64, bytes: &[u8]) {
    let found = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    let known = versions.entry(block).or_insert_with(|| vec![0]);
    let is_whole = known.contains(&found) && content(block, found)[..] == *bytes;
    assert!(is_whole, "block {block}: found {found:#x}, may be one of {known:x?}");
    *known = vec![found];
}

/// Reads every block through one host.
pub(super) fn verify(address: &str, versions: &mut Versions) {
    let world = World::new(Backend::Auto).unwrap();
    let device = open(address, &world).unwrap();
    for block in 0..HOT {
        let read = device.submit(Request::read(Purpose::Database, block * BLOCK as u64, BLOCK));
        let bytes = world.executor().block_on(read).into_buffer().unwrap();
        expect(versions, block, &bytes);
    }
}

/// Writes for a moment through one host.
pub(super) fn burst(address: &str, progress: &Arc<Progress>, seed: u64, versions: &mut Versions) {
    let (before, enough) = (progress.acknowledged.load(Ordering::Relaxed), 200);
    progress.stop.store(false, Ordering::Relaxed);
    thread::scope(|scope| {
        let taken = std::mem::take(versions);
        let guest = scope.spawn(move || session(address, progress, seed + 1, taken));
        while !guest.is_finished()
            && progress.acknowledged.load(Ordering::Relaxed) < before + enough
        {
            thread::sleep(Duration::from_millis(5));
        }
        progress.stop.store(true, Ordering::Relaxed);
        *versions = guest.join().unwrap();
    });
    assert!(progress.acknowledged.load(Ordering::Relaxed) >= before + enough);
}
