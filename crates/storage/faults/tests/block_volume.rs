//! Power that fails at every request of a script on a raw block device: the directory is the old
//! one or the new one, and no file that was durable is lost.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use device::block::{BlockContent, BlockVolume, content, format};
use device::{
    Buffer, Device, DeviceError, Durability, Executor, FileImage, Latency, MemoryVolume, OpenMode,
    Purpose, Request, Runtime, VirtualReactor, Volume, VolumeImage,
};
use faults::{
    Call, CrashOptions, CrashVolume, Effect, Fault, FaultPlan, FaultyVolume, Matching, Occurrence,
};
use units::{Nanos, Seed};

const DISK: &str = "disk";
const DISK_BYTES: u64 = 64 << 20;
const SEEDS: u64 = 20;

#[derive(Clone, Copy, Debug)]
enum Step {
    Create(&'static str, u64),
    Write(&'static str, u64, usize, u8),
    SetLength(&'static str, u64),
    Rename(&'static str, &'static str),
    Remove(&'static str),
}

/// What an engine does: a database grows; logs are made, closed and removed.
const SCRIPT: &[Step] = &[
    Step::Create("db", 1 << 20),
    Step::Write("db", 0, 8_192, 1),
    Step::Create("next", 65_536),
    Step::Write("next", 0, 65_536, 2),
    Step::Rename("next", "log"),
    Step::SetLength("db", 3 << 20),
    Step::Write("db", (1 << 20) - 4_096, 8_192, 3),
    Step::Create("next", 65_536),
    Step::Write("next", 4_096, 4_096, 4),
    Step::Rename("next", "log"),
    Step::SetLength("db", 5_000),
    Step::SetLength("db", 2 << 20),
    Step::Remove("log"),
    Step::Create("reuses/space", 2 << 20),
    Step::Write("reuses/space", 0, 4_096, 5),
    Step::Remove("db"),
];

/// Makes names long enough that a directory of two files takes more than one sector, and can be
/// torn.
const TAIL: &str = "-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789\
                    -0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789\
                    -0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789";

fn long(name: &str) -> String {
    format!("{name}{TAIL}")
}

/// Bytes by name.
type Files = BTreeMap<String, Vec<u8>>;

/// Contents of the files after `n` steps.
fn states() -> Vec<Files> {
    let mut states = vec![Files::new()];
    for step in SCRIPT {
        let mut files = states.last().unwrap().clone();
        match *step {
            Step::Create(name, length) => _ = files.insert(long(name), vec![0; size(length)]),
            Step::Write(name, offset, length, byte) => {
                files.get_mut(&long(name)).unwrap()[size(offset)..][..length].fill(byte);
            }
            Step::SetLength(name, length) => {
                files.get_mut(&long(name)).unwrap().resize(size(length), 0);
            }
            Step::Rename(from, to) => {
                let file = files.remove(&long(from)).unwrap();
                files.insert(long(to), file);
            }
            Step::Remove(name) => _ = files.remove(&long(name)),
        }
        states.push(files);
    }
    states
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap()
}

async fn carry_out(volume: &BlockVolume, step: Step) {
    let name = match step {
        Step::Create(name, _)
        | Step::Write(name, ..)
        | Step::SetLength(name, _)
        | Step::Rename(name, _)
        | Step::Remove(name) => name,
    };
    let name = long(name);
    let (folder, name) = name.rsplit_once('/').unwrap_or(("", &name));
    let volume = volume.folder(folder);
    let change = match step {
        Step::Create(_, length) => {
            return drop(volume.open(name, OpenMode::CreateNew { length }).await.unwrap());
        }
        Step::Rename(_, to) => return volume.rename(name, &long(to)).await.unwrap(),
        Step::Remove(_) => return volume.remove(name).await.unwrap(),
        Step::SetLength(_, length) => Request::set_length(Purpose::Database, length),
        Step::Write(_, offset, length, byte) => {
            let bytes = Buffer::copy_of(&vec![byte; length]);
            Request::write(Purpose::Database, offset, bytes, Durability::Durable)
        }
    };
    let device = volume.open(name, OpenMode::ReadWrite).await.unwrap();
    device.submit(change).await.result.unwrap();
}

/// A disk whose bytes are known, in virtual time.
fn memory(image: &VolumeImage) -> (Executor, Rc<dyn Volume>) {
    let reactor = VirtualReactor::new();
    let latency = Latency::spread(Nanos(10), Nanos(90), Seed(3));
    let memory = MemoryVolume::of("memory", &reactor, latency, image);
    (Executor::new(reactor), Rc::new(memory))
}

fn image_of(disk: FileImage) -> VolumeImage {
    VolumeImage { files: BTreeMap::from([(DISK.to_owned(), disk)]) }
}

/// A disk of rubbish.
fn rubbish() -> VolumeImage {
    let mut disk = FileImage::zeroed(DISK_BYTES);
    for at in (0..DISK_BYTES).step_by(1 << 20) {
        disk.write(at, &vec![0xA5; 1 << 20]);
    }
    image_of(disk)
}

async fn open_disk(volume: &Rc<dyn Volume>) -> Rc<dyn Device> {
    volume.open(DISK, OpenMode::ReadWrite).await.unwrap()
}

fn formatted() -> VolumeImage {
    let before = rubbish();
    let (executor, memory) = memory(&before);
    let crash = CrashVolume::new(memory, &before, CrashOptions::default());
    let volume: Rc<dyn Volume> = Rc::new(crash.clone());
    executor.block_on(async move { format(&open_disk(&volume).await, [1; 16]).await }).unwrap();
    crash.survivors(Seed(0))
}

/// The script until power fails; returns the number of completed steps, and the remains.
fn crashed_at(before: &VolumeImage, options: CrashOptions) -> (usize, CrashVolume) {
    let (executor, memory) = memory(before);
    let crash = CrashVolume::new(memory, before, options);
    let (volume, runtime): (Rc<dyn Volume>, Runtime) = (Rc::new(crash.clone()), executor.runtime());
    let done = Rc::new(Cell::new(0));
    let counter = Rc::clone(&done);
    crash.run(&executor, async move {
        let volume = BlockVolume::open(open_disk(&volume).await, &runtime).await.unwrap();
        for step in SCRIPT {
            carry_out(&volume, *step).await;
            counter.set(counter.get() + 1);
        }
    });
    (done.get(), crash)
}

/// Every file of the volume that an image holds.
fn files_of(image: &VolumeImage) -> Files {
    let (executor, memory) = memory(image);
    let runtime = executor.runtime();
    executor.block_on(async move {
        let volume = BlockVolume::open(open_disk(&memory).await, &runtime).await.unwrap();
        let mut files = Files::new();
        for folder in ["", "reuses"] {
            let part = volume.folder(folder);
            for entry in part.list().await.unwrap() {
                let file = part.open(&entry.name, OpenMode::ReadOnly).await.unwrap();
                let whole = size(entry.length.next_multiple_of(512));
                let read = file.submit(Request::read(Purpose::Database, 0, whole)).await;
                let mut bytes = read.buffer.unwrap().to_vec();
                bytes.truncate(size(entry.length));
                let name =
                    if folder.is_empty() { entry.name } else { format!("{folder}/{}", entry.name) };
                files.insert(name, bytes);
            }
        }
        files
    })
}

fn shape(files: &Files) -> Vec<(&str, usize)> {
    files.iter().map(|(name, bytes)| (name.as_str(), bytes.len())).collect()
}

/// Whether each sector of `found` is that of one of the two states.
fn is_mixed_of(found: &Files, before: &Files, after: &Files) -> bool {
    found.iter().all(|(name, bytes)| {
        let sectors = bytes.chunks(512).enumerate();
        sectors.into_iter().all(|(number, sector)| {
            let same = |state: &Files| {
                state.get(name).and_then(|bytes| bytes.chunks(512).nth(number)) == Some(sector)
            };
            same(before) || same(after)
        })
    })
}

#[test]
fn power_that_fails_at_any_request_leaves_the_old_directory_or_the_new_one() {
    let (before, states) = (formatted(), states());
    let (all, whole) = crashed_at(&before, CrashOptions::default());
    assert_eq!((all, files_of(&whole.survivors(Seed(0)))), (SCRIPT.len(), states[all].clone()));
    let (mut old, mut new) = (0, 0);
    for request in 1..=whole.requests() {
        let options = CrashOptions { at_request: Some(request), ..CrashOptions::default() };
        let (done, crash) = crashed_at(&before, options);
        let last = states.get(done + 1).unwrap_or(&states[done]);
        for seed in 0..SEEDS {
            let found = files_of(&crash.survivors(Seed(seed)));
            let is_old = shape(&found) == shape(&states[done]);
            let is_new = shape(&found) == shape(last);
            assert!(is_old || is_new, "request {request}, seed {seed}: {:?}", shape(&found));
            let content = is_mixed_of(&found, &states[done], last);
            assert!(content, "request {request}, seed {seed}: the content of a file");
            old += u32::from(is_old && !is_new);
            new += u32::from(is_new && !is_old);
        }
    }
    assert!(old > 20 && new > 20, "both are seen: {old} and {new}");
}

#[test]
fn power_that_fails_during_a_format_leaves_no_volume_or_an_empty_one() {
    let (before, mut kinds) = (rubbish(), BTreeMap::new());
    for request in 1..=6 {
        let (executor, memory) = memory(&before);
        let options = CrashOptions { at_request: Some(request), ..CrashOptions::default() };
        let crash = CrashVolume::new(memory, &before, options);
        let volume: Rc<dyn Volume> = Rc::new(crash.clone());
        crash.run(&executor, async move { format(&open_disk(&volume).await, [1; 16]).await });
        for seed in 0..40 {
            let (executor, memory) = self::memory(&crash.survivors(Seed(seed)));
            let found = executor.block_on(async move { content(&open_disk(&memory).await).await });
            let kind = match found.unwrap() {
                BlockContent::Foreign(_) | BlockContent::Blank | BlockContent::Damaged(_) => "none",
                BlockContent::Volume { files: 0 } => "empty",
                BlockContent::Volume { .. } => panic!("files out of nothing"),
            };
            *kinds.entry(kind).or_insert(0) += 1;
        }
    }
    assert_eq!(kinds.len(), 2, "{kinds:?}");
}

/// A disk on which the first request of this kind and purpose fails.
fn failing(call: Call, purpose: Purpose) -> (Executor, Rc<dyn Volume>) {
    let (executor, memory) = memory(&formatted());
    let fault = Fault {
        matching: Matching { call: Some(call), purpose: Some(purpose), file: None },
        occurrence: Occurrence::Nth(1),
        effect: Effect::Fail { done: false },
    };
    let plan = FaultPlan { seed: Seed(1), faults: vec![fault] };
    let faulty = FaultyVolume::new(memory, plan, executor.runtime());
    (executor, Rc::new(faulty))
}

#[test]
fn after_a_directory_that_was_not_written_nothing_is_changed_until_the_volume_is_opened_anew() {
    let (executor, disk) = failing(Call::Write, Purpose::Header);
    let runtime = executor.runtime();
    executor.block_on(async move {
        let new = OpenMode::CreateNew { length: 4_096 };
        let device = open_disk(&disk).await;
        let volume = BlockVolume::open(device, &runtime).await.unwrap();
        let first = volume.open("a", new).await.err();
        assert!(matches!(first, Some(DeviceError::Io { .. })), "{first:?}");
        assert_eq!(volume.open("b", new).await.err(), first, "the device would take it");
        assert_eq!(volume.list().await.unwrap(), []);
        drop(volume);
        let volume = BlockVolume::open(open_disk(&disk).await, &runtime).await.unwrap();
        assert!(volume.open("b", new).await.is_ok());
    });
}

#[test]
fn what_the_device_fails_at_is_told_as_a_failure_of_the_file() {
    let (executor, disk) = failing(Call::Read, Purpose::Log);
    let runtime = executor.runtime();
    let failure = executor.block_on(async move {
        let volume = BlockVolume::open(open_disk(&disk).await, &runtime).await.unwrap();
        let file = volume.open("a", OpenMode::CreateNew { length: 8_192 }).await.unwrap();
        file.submit(Request::read(Purpose::Log, 4_096, 4_096)).await.result
    });
    let Err(DeviceError::Io { file, offset, .. }) = failure else {
        panic!("the device fails: {failure:?}");
    };
    assert_eq!((file.as_str(), offset), ("memory/disk/a", 4_096));
}
