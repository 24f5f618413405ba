//! A backing folder and a flash folder in memory and virtual time.

use std::rc::Rc;

use device::{
    Buffer, Device, Durability, Executor, Latency, MemoryVolume, OpenMode, Purpose, Request,
    VirtualReactor, Volume,
};
use flashcache::{CacheStore, Cached, FlashCache, FormatOptions, PoolShare, Recovery, format};
use units::{Nanos, Prng, Seed};

/// Bytes of a block in these tests.
pub(crate) const BLOCK: usize = 32 << 10;

/// Slow backing storage and fast flash.
pub(crate) struct World {
    pub(crate) executor: Executor,
    pub(crate) backing: Rc<dyn Volume>,
    pub(crate) flash: Rc<dyn Volume>,
}

impl World {
    pub(crate) fn new() -> Self {
        let reactor = VirtualReactor::new();
        let slow = Latency::spread(Nanos::from_millis(5), Nanos::from_millis(15), Seed(1));
        let fast = Latency::fixed(Nanos::from_micros(100));
        let backing_memory = MemoryVolume::new("backing", &reactor, slow);
        let flash_memory = MemoryVolume::new("flash", &reactor, fast);
        Self {
            executor: Executor::new(reactor),
            backing: Rc::new(backing_memory),
            flash: Rc::new(flash_memory),
        }
    }
}

/// A new store of `bytes` of flash.
pub(crate) async fn new_flash(flash: &Rc<dyn Volume>, bytes: u64) -> Rc<dyn Device> {
    let device = flash
        .open("cache", OpenMode::CreateNew { length: bytes })
        .await
        .expect("storage that works");
    let block_bytes = u32::try_from(BLOCK).expect("storage that works");
    let options = FormatOptions { block_bytes, identity: [7; 16], force: false };
    format(&device, options).await.expect("storage that works");
    device
}

/// Opens the existing store.
pub(crate) async fn open_store(
    flash: &Rc<dyn Volume>,
    runtime: &device::Runtime,
) -> (CacheStore, Recovery) {
    let device = flash.open("cache", OpenMode::ReadWrite).await.expect("storage that works");
    CacheStore::open(device, runtime).await.expect("storage that works")
}

/// A volume of `bytes` behind the cache, created if it does not exist.
pub(crate) async fn cached(cache: &FlashCache, backing: &Rc<dyn Volume>, bytes: u64) -> Cached {
    let made = backing.open("volume", OpenMode::CreateNew { length: bytes }).await;
    let inner = match made {
        Ok(made) => made,
        Err(_) => backing.open("volume", OpenMode::ReadWrite).await.expect("storage that works"),
    };
    Cached::new(cache, inner, ("volume", 0), PoolShare::default()).await
}

pub(crate) fn pattern(seed: u64) -> Buffer {
    let mut buffer = Buffer::zeroed(BLOCK);
    Prng::new(Seed(seed)).fill(&mut buffer);
    buffer
}

pub(crate) async fn read(device: &dyn Device, block: u64) -> Buffer {
    let request = Request::read(Purpose::Database, block * BLOCK as u64, BLOCK);
    device.submit(request).await.into_buffer().expect("storage that works")
}

pub(crate) async fn write(device: &dyn Device, block: u64, buffer: Buffer) {
    let at = block * BLOCK as u64;
    let request = Request::write(Purpose::Database, at, buffer, Durability::Volatile);
    device.submit(request).await.result.expect("storage that works");
}
