//! A guest that writes unique contents through whichever host serves the volume, and checks every
//! read against the history of its block.

use std::future::Future;
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

use super::history::{BLOCK, History};

/// Blocks that are written again and again.
const HOT: u64 = 512;

/// Requests in flight.
const DEPTH: u64 = 4;

/// Blocks that a check reads at once.
const CHECKED_BLOCKS: u64 = 32;

/// What a guest and its observer share.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) stop: AtomicBool,
    pub(super) acknowledged: AtomicU64,
    pub(super) history: Arc<History>,
    /// Hosts that are paused and had the volume: machines on them are frozen, not gone.
    pub(super) frozen: [AtomicBool; 2],
}

impl Progress {
    pub(super) fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Connects to the volume at `address`; `None` if no server answers.
pub(super) fn open(address: &str, world: &World) -> Option<Rc<dyn Device>> {
    let (place, name, _) = NbdAddress::parse(address, Path::exists).unwrap();
    connect(&place, &name, OpenMode::ReadWrite, world.remote()).ok()
}

/// Reads `count` blocks from `first` and checks them; `true` once they have been read.
pub(super) fn read(
    device: &dyn Device,
    history: &Arc<History>,
    (first, count): (u64, u64),
) -> impl Future<Output = bool> + use<> {
    let begun: Vec<_> = (first..first + count).map(|block| history.begin_read(block)).collect();
    let bytes = begun.len() * BLOCK;
    let read = device.submit(Request::read(Purpose::Database, first * BLOCK as u64, bytes));
    async move {
        let Ok(bytes) = read.await.into_buffer() else { return false };
        begun.into_iter().zip(bytes.chunks(BLOCK)).for_each(|(read, bytes)| read.end(bytes));
        true
    }
}

/// Writes `count` blocks from `first`; `true` once they are acknowledged, and at once if another
/// write to one of them is under way.
pub(super) fn write(
    device: &dyn Device,
    history: &Arc<History>,
    (first, count): (u64, u64),
    durability: Durability,
) -> impl Future<Output = bool> + use<> {
    let begun: Option<Vec<_>> =
        (first..first + count).map(|block| history.begin_write(block)).collect();
    let request = begun.map(|begun| {
        let (begun, contents): (Vec<_>, Vec<_>) = begun.into_iter().unzip();
        let mut buffer = Buffer::zeroed(contents.len() * BLOCK);
        buffer.copy_from_slice(&contents.concat());
        let at = first * BLOCK as u64;
        (begun, device.submit(Request::write(Purpose::Database, at, buffer, durability)))
    });
    async move {
        let Some((begun, write)) = request else { return true };
        let is_done = write.await.result.is_ok();
        if is_done {
            begun.into_iter().for_each(super::history::BegunWrite::acknowledge);
        }
        is_done
    }
}

/// Works until it is stopped, through the hosts in turn.
pub(super) fn work(addresses: &[String; 2], progress: &Arc<Progress>, seed: u64) {
    let mut host = 0;
    for number in 1.. {
        if progress.is_over() {
            break;
        }
        session(&addresses[host], progress, seed << 16 | number);
        host = 1 - host;
        thread::sleep(Duration::from_millis(50));
    }
    progress.history.check();
}

/// One connection: lanes of requests, each over its own blocks, until one fails.
fn session(address: &str, progress: &Arc<Progress>, seed: u64) {
    let world = World::new(Backend::Auto).unwrap();
    let Some(device) = open(address, &world) else { return };
    let runtime = world.executor().runtime();
    let lanes: Vec<_> = (0..DEPTH)
        .map(|number| {
            let (device, progress) = (Rc::clone(&device), Arc::clone(progress));
            runtime.spawn(Lane { device, progress, number }.run(seed))
        })
        .collect();
    world.executor().block_on(async move {
        for lane in lanes {
            lane.await;
        }
    });
}

struct Lane {
    device: Rc<dyn Device>,
    progress: Arc<Progress>,
    number: u64,
}

impl Lane {
    async fn run(self, seed: u64) {
        let mut prng = Prng::new(Seed(seed << 8 | self.number));
        while !self.progress.is_over() {
            let block = prng.below(HOT / DEPTH) * DEPTH + self.number;
            if !step(&*self.device, &self.progress, block, &mut prng).await {
                return;
            }
        }
    }
}

/// A drawn request to `block`, or a flush; `false` if it failed.
pub(super) async fn step(
    device: &dyn Device,
    progress: &Progress,
    block: u64,
    prng: &mut Prng,
) -> bool {
    let history = &progress.history;
    match prng.below(10) {
        0..4 => read(device, history, (block, 1)).await,
        4 => device.submit(Request::flush(Purpose::Database)).await.result.is_ok(),
        _ => {
            let is_durable = prng.below(5) == 0;
            let durability = if is_durable { Durability::Durable } else { Durability::Volatile };
            let is_done = write(device, history, (block, 1), durability).await;
            progress.acknowledged.fetch_add(u64::from(is_done), Ordering::Relaxed);
            is_done
        }
    }
}

/// Reads every block of the history through one host.
pub(super) fn verify(address: &str, history: &Arc<History>) {
    let world = World::new(Backend::Auto).unwrap();
    let device = open(address, &world).unwrap();
    let mut end = 0;
    for block in history.blocks() {
        if block >= end {
            end = block + CHECKED_BLOCKS;
            let read = read(&*device, history, (block, CHECKED_BLOCKS));
            assert!(world.executor().block_on(read), "block {block} cannot be read");
        }
    }
    history.check();
}

/// Writes for a moment through one host.
pub(super) fn burst(address: &str, progress: &Arc<Progress>, seed: u64) {
    let (before, enough) = (progress.acknowledged.load(Ordering::Relaxed), 200);
    progress.stop.store(false, Ordering::Relaxed);
    thread::scope(|scope| {
        let guest = scope.spawn(move || session(address, progress, seed + 1));
        while !guest.is_finished()
            && progress.acknowledged.load(Ordering::Relaxed) < before + enough
        {
            thread::sleep(Duration::from_millis(5));
        }
        progress.stop.store(true, Ordering::Relaxed);
        guest.join().unwrap();
    });
    progress.history.check();
    assert!(progress.acknowledged.load(Ordering::Relaxed) >= before + enough);
}
