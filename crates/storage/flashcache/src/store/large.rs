//! Memory of the index and duration of a restart with 400 GB of flash. `cargo xtask bench cache`
//! runs this; the flash is simulated in memory and keeps only pages that are not empty.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::{Duration, Instant};

use device::{
    Caps, Completed, Completion, Device, Executor, Op, Request, Runtime, VirtualReactor, completion,
};
use units::Nanos;

use super::index::{CachedEntry, Key};
use super::segments::Segments;
use super::{CacheStore, FormatOptions, format};
use crate::policy::PoolShare;

const FLASH_BYTES: u64 = 400_000_000_000;
const BLOCK: u32 = 32 << 10;
const PAGE: usize = 4 << 10;

/// Limits for the index's memory and for a restart's CPU time, which excludes time taken by other
/// programs.
const MOST_BYTES: u64 = 260_000_000;
const LONGEST: Duration = Duration::from_secs(10);

/// Blocks that are cached after the checkpoint, so that a restart reads the log too.
const LOGGED: u32 = 20_000;

#[derive(Default)]
struct EmptyPages {
    pages: RefCell<BTreeMap<u64, Box<[u8]>>>,
}

impl EmptyPages {
    fn read(&self, offset: u64, bytes: &mut [u8]) {
        let pages = self.pages.borrow();
        bytes.fill(0);
        for (at, page) in pages.range(offset..offset + bytes.len() as u64) {
            let from = usize::try_from(at - offset).unwrap();
            bytes[from..from + page.len()].copy_from_slice(page);
        }
    }

    fn write(&self, offset: u64, bytes: &[u8]) {
        let mut pages = self.pages.borrow_mut();
        for (at, page) in (offset..).step_by(PAGE).zip(bytes.chunks(PAGE)) {
            let end = page.iter().rposition(|&byte| byte != 0);
            match end {
                Some(end) => drop(pages.insert(at, page[..=end].into())),
                None => drop(pages.remove(&at)),
            }
        }
    }
}

impl Device for EmptyPages {
    fn submit(&self, request: Request) -> Completion {
        let (completer, completed) = completion();
        let mut op = request.op;
        match &mut op {
            Op::Read { offset, buffer } => self.read(*offset, buffer),
            Op::Write { offset, buffer, .. } => self.write(*offset, buffer),
            Op::Flush | Op::SetLength { .. } => {}
        }
        let buffer = op.into_buffer();
        let now = Nanos(0);
        completer.complete(Completed { buffer, result: Ok(()), submitted: now, completed: now });
        completed
    }

    fn caps(&self) -> Caps {
        Caps {
            atomic_write_unit: 4096,
            sector: 4096,
            physical_sector: 4096,
            volatile_cache: false,
            unbuffered: true,
            zeroed: true,
        }
    }

    fn length(&self) -> u64 {
        FLASH_BYTES
    }

    fn name(&self) -> &'static str {
        "flash"
    }
}

/// CPU time of this thread.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let spent = text.split_whitespace().next().and_then(|text| text.parse().ok());
    Duration::from_nanos(spent.unwrap_or(0))
}

/// Memory of this process in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) << 10
}

/// Fills every segment but those that a store needs free, as months of use do.
async fn fill(flash: Rc<dyn Device>, runtime: &Runtime) -> u32 {
    let options = FormatOptions { block_bytes: BLOCK, identity: [5; 16], force: true };
    format(&flash, options).await.unwrap();
    let (store, _) = CacheStore::open(flash, runtime).await.unwrap();
    let volume = store.attach("volume", 1 << 44, 1, PoolShare::default()).await.unwrap();
    let core = &store.core;
    let geometry = core.geometry;
    let full = geometry.segments - 40;
    let filled = full * geometry.blocks_per_segment();
    {
        let mut state = core.state.borrow_mut();
        let small = full / 10;
        let queues = [(0..small).collect::<VecDeque<_>>(), (small..full).collect()];
        state.segments = Segments::new(geometry.segments, queues);
        for position in 0..filled {
            let key = Key { volume, block: position };
            state.index.insert(position, CachedEntry { key, accesses: 1, checksum: 9 });
        }
    }
    core.save(false).await.unwrap();
    let zeros = vec![0; BLOCK as usize];
    for block in filled..filled + LOGGED {
        core.changed.until(|| core.state.borrow().in_flight.len() < 4).await;
        store.insert(Key { volume, block }, &zeros, None);
    }
    core.changed.until(|| core.state.borrow().in_flight.is_empty()).await;
    filled
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are what the test is for")]
#[expect(clippy::disallowed_methods, reason = "real time is measured")]
#[ignore = "minutes without optimisation: `cargo xtask bench cache` runs it"]
fn four_hundred_gigabytes_of_flash_restart_in_seconds_and_take_little_memory() {
    let executor = Executor::new(VirtualReactor::new());
    let runtime = executor.runtime();
    let flash: Rc<dyn Device> = Rc::new(EmptyPages::default());
    let (device, own) = (Rc::clone(&flash), runtime.clone());
    let filled = executor.block_on(async move { fill(device, &own).await });
    let before = resident();
    let (began, spent) = (Instant::now(), processor_time());
    let opening = async move { CacheStore::open(flash, &runtime).await.unwrap() };
    let (store, recovery) = executor.block_on(opening);
    let (took, spent) = (began.elapsed(), processor_time().saturating_sub(spent));
    let index = store.core.state.borrow().index.memory_bytes() as u64;
    let grown = resident().saturating_sub(before).max(index);
    println!(
        "400 GB of flash, {} blocks of 32 KiB: restart {:.2} s, of them {:.2} s of processor time \
         (checkpoint and {} groups of log), index {} MB, all memory of the open store {} MB",
        recovery.blocks,
        took.as_secs_f64(),
        spent.as_secs_f64(),
        recovery.groups_replayed,
        index / 1_000_000,
        grown / 1_000_000
    );
    assert!(recovery.blocks > u64::from(filled) && recovery.groups_replayed > 1_000);
    assert!(spent <= LONGEST, "{spent:?}");
    assert!(grown <= MOST_BYTES, "{grown} bytes");
}
