//! Requirements for every backend and every transparent decorator.
//!
//! Tests pass [`check_all`] an executor and an empty folder; each check makes its own files and
//! removes them. Panics name the broken requirement.

use std::rc::Rc;

use units::{Prng, Seed};

use crate::{
    ALIGNMENT, Boxed, Buffer, Completed, Device, DeviceError, Durability, Executor, OpenMode,
    Purpose, Request, Volume,
};

type CheckRun = fn(Rc<dyn Volume>) -> Boxed<'static, ()>;

/// One requirement on every backend.
#[derive(Clone, Copy, Debug)]
pub struct ConformanceCheck {
    /// Its purpose, in a few words.
    pub name: &'static str,
    run: CheckRun,
}

impl ConformanceCheck {
    const fn new(name: &'static str, run: CheckRun) -> Self {
        Self { name, run }
    }

    /// Runs the check on an empty folder, which is empty again afterwards. Panics on failure.
    pub fn run(self, executor: &Executor, volume: &Rc<dyn Volume>) {
        let volume = Rc::clone(volume);
        executor.block_on(async move {
            (self.run)(Rc::clone(&volume)).await;
            let left = volume.list().await.expect("the folder lists");
            assert_eq!(left, [], "a check leaves nothing behind");
        });
    }
}

/// Runs every check on an empty folder, which is empty again afterwards.
pub fn check_all(executor: &Executor, volume: &Rc<dyn Volume>) {
    for check in checks().into_iter().chain([open_files_are_replaced()]) {
        check.run(executor, volume);
    }
}

/// Like [`check_all`], for a system that cannot replace an open file: it must refuse to and leave
/// both files unchanged.
pub fn check_all_where_open_files_stay(executor: &Executor, volume: &Rc<dyn Volume>) {
    for check in checks().into_iter().chain([open_files_stay()]) {
        check.run(executor, volume);
    }
}

/// Every check except those for renames over open files, in which systems differ.
// Not inlined: every check would be compiled once more where this is called.
#[inline(never)]
pub fn checks() -> [ConformanceCheck; 11] {
    [
        ConformanceCheck::new("new files are zeros and are listed", |volume| {
            Box::pin(new_files_are_zeros_and_listed(volume))
        }),
        ConformanceCheck::new("files to be written whole begin as zeros", |volume| {
            Box::pin(unwritten_files_begin_as_zeros(volume))
        }),
        ConformanceCheck::new("what is written is read", |volume| {
            Box::pin(what_is_written_is_read(volume))
        }),
        ConformanceCheck::new("the end of a file is kept", |volume| {
            Box::pin(the_end_of_the_file_is_kept(volume))
        }),
        ConformanceCheck::new("files grow and shrink", |volume| {
            Box::pin(lengths_change_both_ways(volume))
        }),
        ConformanceCheck::new("names are kept", |volume| Box::pin(names_are_kept(volume))),
        ConformanceCheck::new("locks exclude writers", |volume| {
            Box::pin(locks_exclude_writers(volume))
        }),
        ConformanceCheck::new("files opened for reads are not changed", |volume| {
            Box::pin(read_only_refuses_changes(volume))
        }),
        ConformanceCheck::new("open files follow their names", |volume| {
            Box::pin(devices_follow_their_file(volume))
        }),
        ConformanceCheck::new("requests that nothing waits for happen", |volume| {
            Box::pin(outcomes_without_a_waiter_still_happen(volume))
        }),
        ConformanceCheck::new("requests at random do what bytes in memory do", |volume| {
            Box::pin(files_behave_as_plain_bytes(volume))
        }),
    ]
}

/// The check for a system that can rename a file over an open one.
// Not inlined, like the others.
#[inline(never)]
pub fn open_files_are_replaced() -> ConformanceCheck {
    ConformanceCheck {
        name: "an open file is replaced",
        run: |volume| Box::pin(open_file_is_replaced(volume)),
    }
}

/// The check for a system that cannot rename a file over an open one.
// Not inlined, like the others.
#[inline(never)]
pub fn open_files_stay() -> ConformanceCheck {
    ConformanceCheck {
        name: "a rename over an open file is refused",
        run: |volume| Box::pin(open_file_stays(volume)),
    }
}

async fn create(volume: &Rc<dyn Volume>, file: &str, length: u64) -> Rc<dyn Device> {
    let mode = OpenMode::CreateNew { length };
    volume.open(file, mode).await.expect("a new file opens")
}

async fn remove(volume: &Rc<dyn Volume>, file: &str) {
    volume.remove(file).await.expect("a file is removed");
}

fn pattern(length: usize, seed: u64) -> Buffer {
    let mut buffer = Buffer::zeroed(length);
    Prng::new(Seed(seed)).fill(&mut buffer);
    buffer
}

fn write(offset: u64, buffer: Buffer) -> Request {
    Request::write(Purpose::Database, offset, buffer, Durability::Volatile)
}

async fn read(device: &Rc<dyn Device>, offset: u64, length: usize) -> Buffer {
    let request = Request::read(Purpose::Database, offset, length);
    let outcome = device.submit(request).await;
    outcome.into_buffer().expect("a read inside the file")
}

async fn done(device: &Rc<dyn Device>, request: Request) {
    let outcome = device.submit(request).await;
    outcome.result.expect("a request that must succeed");
}

/// A device cannot be printed, so it is removed from a result before the comparison.
fn error<T>(result: Result<T, DeviceError>) -> Option<DeviceError> {
    result.err()
}

async fn new_files_are_zeros_and_listed(volume: Rc<dyn Volume>) {
    // An order in which a file system is unlikely to list them.
    let files = ["f", "b", "h", "a", "d", "c", "g", "e"];
    for (blocks, file) in (0..).zip(files) {
        let device = create(&volume, file, blocks * 4_096).await;
        assert_eq!(device.length(), blocks * 4_096);
        assert!(device.name().contains(file), "errors name the file");
        assert!(device.caps().atomic_write_unit.is_power_of_two());
    }
    let device = volume.open("e", OpenMode::ReadOnly).await.expect("opens");
    let bytes = read(&device, 0, 28_672).await;
    assert!(bytes.iter().all(|&byte| byte == 0), "new bytes are zeros");
    let entries = volume.list().await.expect("the folder lists");
    let listed = entries.iter().map(|e| (e.name.as_str(), e.length / 4_096));
    let sorted = [3, 1, 5, 4, 7, 0, 6, 2];
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    assert!(listed.eq(names.into_iter().zip(sorted)), "sorted: {entries:?}");
    let free = volume.free_bytes().await.expect("free space is known");
    assert!(free > 0, "the tests need some free space");
    for file in files {
        remove(&volume, file).await;
    }
}

async fn unwritten_files_begin_as_zeros(volume: Rc<dyn Volume>) {
    const MIB: usize = 1 << 20;
    for mib in [0, 1, 3_u64] {
        let mode = OpenMode::CreateUnwritten { length: mib * MIB as u64 };
        let device = volume.open("file", mode).await.expect("a new file opens");
        assert_eq!(device.length(), mib * MIB as u64);
        for index in 0..mib {
            let bytes = read(&device, index * MIB as u64, MIB).await;
            let may_be_anything = index > 0 && !device.caps().zeroed;
            assert!(may_be_anything || bytes.iter().all(|&byte| byte == 0), "MiB {index} is zeros");
            done(&device, write(index * MIB as u64, pattern(MIB, index))).await;
        }
        done(&device, Request::set_length(Purpose::Fill, (mib + 1) * MIB as u64)).await;
        for index in 0..mib {
            let bytes = read(&device, index * MIB as u64, MIB).await;
            assert!(bytes[..] == pattern(MIB, index)[..], "MiB {index} is what was written");
        }
        let grown = read(&device, mib * MIB as u64, MIB).await;
        assert!(grown.iter().all(|&byte| byte == 0), "what it grows by is zeros");
        let again = volume.open("file", mode).await;
        assert!(matches!(error(again), Some(DeviceError::AlreadyExists { .. })));
        drop(device);
        remove(&volume, "file").await;
    }
}

async fn what_is_written_is_read(volume: Rc<dyn Volume>) {
    let device = create(&volume, "file", 1 << 20).await;
    let writes: Vec<_> = (0..32)
        .map(|index| {
            let durability = match index % 4 {
                0 => Durability::Durable,
                _ => Durability::Volatile,
            };
            let buffer = pattern(32_768, index);
            let purpose = Purpose::Log;
            device.submit(Request::write(purpose, index * 32_768, buffer, durability))
        })
        .collect();
    for write in writes {
        let outcome = write.await;
        assert!(outcome.submitted <= outcome.completed, "time runs forward");
        let buffer = outcome.into_buffer().expect("a write inside the file");
        assert_eq!(buffer.len(), 32_768, "a write gives its buffer back");
    }
    done(&device, Request::flush(Purpose::Log)).await;
    let reads: Vec<_> = (0..32)
        .map(|index| device.submit(Request::read(Purpose::Log, index * 32_768, 32_768)))
        .collect();
    for (index, read) in (0..).zip(reads) {
        let bytes = read.await.into_buffer().expect("a read inside the file");
        assert!(bytes[..] == pattern(32_768, index)[..], "write {index} is read");
    }
    remove(&volume, "file").await;
}

fn moved(outcome: &Completed) -> usize {
    assert!(outcome.buffer.is_some(), "the buffer comes back on failure");
    match &outcome.result {
        Err(DeviceError::Short { moved, .. }) => *moved,
        other => panic!("across the end of the file: {other:?} instead of Short"),
    }
}

async fn the_end_of_the_file_is_kept(volume: Rc<dyn Volume>) {
    let device = create(&volume, "file", 16_384).await;
    done(&device, write(8_192, pattern(8_192, 1))).await;
    done(&device, Request::set_length(Purpose::Database, 10_000)).await;
    let outcome = device.submit(Request::read(Purpose::Database, 4_096, 8_192)).await;
    assert_eq!(moved(&outcome), 10_000 - 4_096);
    let bytes = outcome.buffer.expect("invariant: asserted above");
    assert!(bytes[4_096..5_904] == pattern(8_192, 1)[..1_808], "the tail is read");
    let outcome = device.submit(Request::read(Purpose::Database, 1 << 20, 4_096)).await;
    assert_eq!(moved(&outcome), 0);
    let outcome = device.submit(write(8_192, pattern(4_096, 2))).await;
    assert_eq!(moved(&outcome), 0);
    assert_eq!(device.length(), 10_000, "a write does not extend the file");
    remove(&volume, "file").await;
}

async fn lengths_change_both_ways(volume: Rc<dyn Volume>) {
    let device = create(&volume, "file", 8_192).await;
    done(&device, write(0, pattern(8_192, 3))).await;
    done(&device, Request::set_length(Purpose::Database, 5_000)).await;
    done(&device, Request::set_length(Purpose::Database, 2 << 20)).await;
    assert_eq!(device.length(), 2 << 20);
    let bytes = read(&device, 0, 2 << 20).await;
    assert!(bytes[..5_000] == pattern(8_192, 3)[..5_000], "bytes kept stay");
    assert!(bytes[5_000..].iter().all(|&byte| byte == 0), "bytes cut off are zeros");
    done(&device, write((2 << 20) - 4_096, pattern(4_096, 4))).await;
    assert_eq!(volume.list().await.expect("lists")[0].length, 2 << 20);
    remove(&volume, "file").await;
}

const fn is_missing(error: Option<&DeviceError>) -> bool {
    matches!(error, Some(DeviceError::NotFound { .. }))
}

const fn is_locked(error: Option<&DeviceError>) -> bool {
    matches!(error, Some(DeviceError::Locked { .. }))
}

async fn names_are_kept(volume: Rc<dyn Volume>) {
    assert!(is_missing(error(volume.open("none", OpenMode::ReadOnly).await).as_ref()));
    assert!(is_missing(error(volume.open("none", OpenMode::ReadWrite).await).as_ref()));
    assert!(is_missing(error(volume.remove("none").await).as_ref()));
    assert!(is_missing(error(volume.rename("none", "other").await).as_ref()));
    drop(create(&volume, "file", 4_096).await);
    let again = volume.open("file", OpenMode::CreateNew { length: 0 }).await;
    let error = error(again);
    assert!(matches!(error, Some(DeviceError::AlreadyExists { .. })), "{error:?}");
    let lengths = volume.list().await.expect("lists");
    assert_eq!(lengths[0].length, 4_096, "a refused creation changes nothing");
    remove(&volume, "file").await;
}

async fn locks_exclude_writers(volume: Rc<dyn Volume>) {
    let created = create(&volume, "file", 4_096).await;
    assert!(is_locked(error(volume.open("file", OpenMode::ReadWrite).await).as_ref()));
    let reader = volume.open("file", OpenMode::ReadOnly).await;
    assert!(reader.is_ok(), "readers pass the lock");
    drop(created);
    let writer = volume.open("file", OpenMode::ReadWrite).await;
    assert!(writer.is_ok(), "a closed file is unlocked: {:?}", error(writer));
    assert!(is_locked(error(volume.open("file", OpenMode::ReadWrite).await).as_ref()));
    drop(writer);
    remove(&volume, "file").await;
}

async fn read_only_refuses_changes(volume: Rc<dyn Volume>) {
    let writer = create(&volume, "file", 8_192).await;
    done(&writer, write(0, pattern(8_192, 5))).await;
    let device = volume.open("file", OpenMode::ReadOnly).await.expect("opens");
    let changes = [
        write(0, Buffer::zeroed(4_096)),
        Request::flush(Purpose::Database),
        Request::set_length(Purpose::Database, 0),
    ];
    for change in changes {
        let kind = change.op.kind();
        let result = device.submit(change).await.result;
        assert!(
            matches!(result, Err(DeviceError::PermissionDenied { .. })),
            "{kind:?} of a file opened for reads only: {result:?}"
        );
    }
    assert!(read(&device, 0, 8_192).await[..] == pattern(8_192, 5)[..]);
    remove(&volume, "file").await;
}

/// Two open files, `old` and `new`, with different contents.
async fn old_and_new(volume: &Rc<dyn Volume>) -> [Rc<dyn Device>; 2] {
    let old = create(volume, "old", 4_096).await;
    let new = create(volume, "new", 4_096).await;
    done(&old, write(0, pattern(4_096, 6))).await;
    done(&new, write(0, pattern(4_096, 7))).await;
    [old, new]
}

async fn holds(device: &Rc<dyn Device>, seed: u64) -> bool {
    read(device, 0, 4_096).await[..] == pattern(4_096, seed)[..]
}

async fn devices_follow_their_file(volume: Rc<dyn Volume>) {
    let [old, new] = old_and_new(&volume).await;
    drop(new);
    volume.rename("old", "new").await.expect("renames over another");
    let entries = volume.list().await.expect("lists");
    assert_eq!(entries.len(), 1);
    assert!(holds(&old, 6).await, "renamed, still open");
    done(&old, write(0, pattern(4_096, 7))).await;
    let opened = volume.open("new", OpenMode::ReadOnly).await.expect("opens");
    assert!(holds(&opened, 7).await, "written after it was renamed");
    remove(&volume, "new").await;
    assert!(holds(&old, 7).await, "removed, still open");
}

async fn open_file_is_replaced(volume: Rc<dyn Volume>) {
    let [old, new] = old_and_new(&volume).await;
    volume.rename("old", "new").await.expect("renames over another");
    assert_eq!(volume.list().await.expect("lists").len(), 1);
    assert!(holds(&old, 6).await);
    assert!(holds(&new, 7).await, "replaced, still open");
    let opened = volume.open("new", OpenMode::ReadOnly).await.expect("opens");
    assert!(holds(&opened, 6).await);
    remove(&volume, "new").await;
    assert!(holds(&old, 6).await, "removed, still open");
}

async fn open_file_stays(volume: Rc<dyn Volume>) {
    let [old, new] = old_and_new(&volume).await;
    let refused = error(volume.rename("old", "new").await);
    assert!(matches!(refused, Some(DeviceError::PermissionDenied { .. })), "{refused:?}");
    for (file, device, seed) in [("old", old, 6), ("new", new, 7)] {
        assert!(holds(&device, seed).await, "{file} is what it was");
        let opened = volume.open(file, OpenMode::ReadOnly).await.expect("opens");
        assert!(holds(&opened, seed).await, "{file} has its name");
        drop((device, opened));
        remove(&volume, file).await;
    }
}

async fn outcomes_without_a_waiter_still_happen(volume: Rc<dyn Volume>) {
    let device = create(&volume, "file", 8_192).await;
    let abandoned = device.submit(write(0, pattern(4_096, 8)));
    let awaited = device.submit(write(4_096, pattern(4_096, 9)));
    drop(abandoned);
    awaited.await.result.expect("a write inside the file");
    for _ in 0..100 {
        // Reads from other places give the abandoned write enough time: reading its own range while
        // it may be in flight would be a bug in this check.
        for _ in 0..64 {
            read(&device, 4_096, 4_096).await;
        }
        if read(&device, 0, 4_096).await[..] == pattern(4_096, 8)[..] {
            remove(&volume, "file").await;
            return;
        }
    }
    panic!("an abandoned write never happened");
}

async fn files_behave_as_plain_bytes(volume: Rc<dyn Volume>) {
    for seed in 0..4 {
        behaves_as_plain_bytes(Rc::clone(&volume), Seed(seed)).await;
    }
}

/// Compares random batches of requests that do not overlap with a plain vector.
async fn behaves_as_plain_bytes(volume: Rc<dyn Volume>, seed: Seed) {
    const BLOCKS: u64 = 64;
    let mut prng = Prng::new(seed);
    let device = create(&volume, "file", BLOCKS * ALIGNMENT as u64).await;
    let block_bytes =
        if prng.percent(50) { u64::from(device.caps().sector) } else { ALIGNMENT as u64 };
    let mut twin = vec![0; usize::try_from(BLOCKS * block_bytes).expect("invariant: 256 KiB")];
    for _ in 0..40 {
        let mut batch = Vec::new();
        let mut block = 0;
        while block < BLOCKS {
            let blocks = 1 + prng.below(8).min(BLOCKS - block - 1);
            let offset = block * block_bytes;
            let range = range_of(offset, blocks * block_bytes);
            let kind = prng.below(3);
            let request = if kind == 0 {
                let buffer = pattern(range.len(), prng.next_u64());
                twin[range.clone()].copy_from_slice(&buffer);
                write(offset, buffer)
            } else {
                Request::read(Purpose::Database, offset, range.len())
            };
            if kind < 2 {
                batch.push((range, device.submit(request)));
            }
            block += blocks;
        }
        for (range, completion) in batch {
            let buffer = completion.await.into_buffer().expect("inside the file");
            assert!(buffer[..] == twin[range.clone()], "{seed}: bytes {range:?}");
        }
    }
    assert!(read(&device, 0, twin.len()).await[..] == twin[..], "{seed}: the whole file");
    remove(&volume, "file").await;
}

fn range_of(offset: u64, length: u64) -> std::ops::Range<usize> {
    let (start, length) = (usize::try_from(offset), usize::try_from(length));
    let start = start.expect("invariant: a short file");
    start..start + length.expect("invariant: a short file")
}
