use std::rc::Rc;

use units::{Nanos, Seed};

use super::{BlockContent, BlockVolume, content, format};
use crate::{
    Buffer, Device, DeviceError, Durability, Executor, FileImage, Latency, MemoryVolume, OpenMode,
    Purpose, Request, VirtualReactor, Volume, VolumeImage, conformance,
};

const DISK_BYTES: u64 = 64 << 20;

/// A disk in memory that holds `bytes`, and the executor of its requests.
fn disk(bytes: FileImage) -> (Executor, Rc<dyn Device>) {
    let reactor = VirtualReactor::new();
    let mut image = VolumeImage::default();
    image.files.insert("disk".to_owned(), bytes);
    let latency = Latency::spread(Nanos(10), Nanos(90), Seed(3));
    let memory = MemoryVolume::of("memory", &reactor, latency, &image);
    let executor = Executor::new(reactor);
    let device = executor.block_on(async move { memory.open("disk", OpenMode::ReadWrite).await });
    (executor, device.unwrap())
}

/// A disk full of garbage: any of it that shows up in a volume is a leak.
fn used_disk() -> (Executor, Rc<dyn Device>) {
    let mut image = FileImage::zeroed(DISK_BYTES);
    for at in (0..DISK_BYTES).step_by(1 << 20) {
        image.write(at, &vec![0xA5; 1 << 20]);
    }
    disk(image)
}

fn formatted() -> (Executor, Rc<dyn Device>, Rc<dyn Volume>) {
    let (executor, device) = used_disk();
    let (disk, runtime) = (Rc::clone(&device), executor.runtime());
    let opened = executor.block_on(async move {
        format(&disk, [1; 16]).await?;
        BlockVolume::open(disk, &runtime).await
    });
    (executor, device, Rc::new(opened.unwrap()))
}

fn reopened(executor: &Executor, device: &Rc<dyn Device>) -> BlockVolume {
    let (device, runtime) = (Rc::clone(device), executor.runtime());
    executor.block_on(async move { BlockVolume::open(device, &runtime).await }).unwrap()
}

#[test]
fn conforms() {
    let (executor, _, volume) = formatted();
    conformance::check_all(&executor, &volume);
}

#[test]
fn a_folder_of_it_conforms_and_is_apart_from_others() {
    let (executor, device, volume) = formatted();
    let kept = OpenMode::CreateNew { length: 4_096 };
    drop(executor.block_on(volume.open("kept", kept)).unwrap());
    drop(volume);
    let root = reopened(&executor, &device);
    let folder: Rc<dyn Volume> = Rc::new(root.folder("db1"));
    conformance::check_all(&executor, &folder);
    assert_eq!(folder.name(), "memory/disk/db1");
    let names = executor.block_on(root.list()).unwrap();
    assert_eq!(names.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["kept"]);
}

/// Fragmented files: two files grow by a unit alternately.
#[test]
fn files_in_many_pieces_are_read_as_written_after_the_volume_is_opened_anew() {
    let (executor, device, volume) = formatted();
    executor.block_on(async move {
        let empty = OpenMode::CreateNew { length: 0 };
        let files =
            [volume.open("a", empty).await.unwrap(), volume.open("b", empty).await.unwrap()];
        for unit in 1..=6_u64 {
            for file in &files {
                let grow = Request::set_length(Purpose::Database, (unit << 20) - 512);
                file.submit(grow).await.result.unwrap();
            }
        }
        for (file, byte) in files.iter().zip([1, 2]) {
            let bytes = Buffer::copy_of(&vec![byte; 3 << 20]);
            let write = Request::write(Purpose::Database, 700 << 10, bytes, Durability::Durable);
            file.submit(write).await.into_buffer().unwrap();
        }
    });
    let volume = reopened(&executor, &device);
    executor.block_on(async move {
        for (name, byte) in [("a", 1), ("b", 2)] {
            let file = volume.open(name, OpenMode::ReadOnly).await.unwrap();
            let length = usize::try_from(file.length()).unwrap();
            let read = file.submit(Request::read(Purpose::Database, 0, length)).await;
            let bytes = read.into_buffer().unwrap();
            let (before, rest) = bytes.split_at(700 << 10);
            let (written, after) = rest.split_at(3 << 20);
            assert!(before.iter().chain(after).all(|&found| found == 0), "{name}: new is zero");
            assert!(written.iter().all(|&found| found == byte), "{name}: what was written");
        }
    });
}

#[test]
fn space_comes_back_once_a_removed_file_is_closed_and_a_full_volume_says_so() {
    let (executor, _, volume) = formatted();
    executor.block_on(async move {
        let free = volume.free_bytes().await.unwrap();
        assert_eq!(free, 55 << 20);
        let file = volume.open("a", OpenMode::CreateNew { length: free }).await.unwrap();
        assert_eq!(volume.free_bytes().await.unwrap(), 0);
        let more = volume.open("b", OpenMode::CreateNew { length: 1 }).await.err();
        assert_eq!(more, Some(DeviceError::Full { file: "memory/disk/b".to_owned(), offset: 1 }));
        volume.remove("a").await.unwrap();
        assert_eq!(volume.free_bytes().await.unwrap(), 0, "it may still be read");
        drop(file);
        assert_eq!(volume.free_bytes().await.unwrap(), free);
        let file = volume.open("a", OpenMode::CreateNew { length: 9 << 20 }).await.unwrap();
        let cut = Request::set_length(Purpose::Database, (2 << 20) + 1);
        file.submit(cut).await.result.unwrap();
        assert_eq!(volume.free_bytes().await.unwrap(), free - (3 << 20), "what was cut off");
    });
}

#[test]
fn changes_that_are_asked_for_together_are_all_made() {
    let (executor, device, volume) = formatted();
    let runtime = executor.runtime();
    executor.block_on(async move {
        let mut tasks = Vec::new();
        for name in ["a", "b", "c", "d"] {
            let volume = Rc::clone(&volume);
            tasks.push(runtime.spawn(async move {
                let new = OpenMode::CreateNew { length: 3 << 20 };
                drop(volume.open(name, new).await.unwrap());
                volume.rename(name, &format!("{name}{name}")).await.unwrap();
            }));
        }
        for task in tasks {
            task.await;
        }
    });
    let entries = executor.block_on(reopened(&executor, &device).list()).unwrap();
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["aa", "bb", "cc", "dd"]);
}

#[test]
fn errors_name_the_file_and_its_own_offsets() {
    let (executor, _, volume) = formatted();
    let moved = executor.block_on(async move {
        let file = volume.open("a", OpenMode::CreateNew { length: 8_192 }).await.unwrap();
        file.submit(Request::read(Purpose::Database, 4_096, 8_192)).await.result
    });
    let file = "memory/disk/a".to_owned();
    assert_eq!(moved, Err(DeviceError::Short { file, offset: 4_096, wanted: 8_192, moved: 4_096 }));
}

fn content_of(image: FileImage) -> BlockContent {
    let (executor, device) = disk(image);
    executor.block_on(async move { content(&device).await }).unwrap()
}

fn refusal(image: FileImage) -> Option<DeviceError> {
    let (executor, device) = disk(image);
    let runtime = executor.runtime();
    executor.block_on(async move { BlockVolume::open(device, &runtime).await }).err()
}

#[test]
fn a_device_that_was_not_formatted_is_refused_by_what_it_holds() {
    let mut foreign = FileImage::zeroed(DISK_BYTES);
    foreign.write(0, b"XFSB");
    let file = "memory/disk".to_owned();
    let blank = FileImage::zeroed(DISK_BYTES);
    for (image, holds) in [(blank, "nothing"), (foreign, "a file system (XFS)")] {
        let expected = DeviceError::NotAVolume { file: file.clone(), holds: holds.to_owned() };
        assert_eq!(refusal(image), Some(expected));
    }
    let mut unknown = FileImage::zeroed(DISK_BYTES);
    unknown.write(DISK_BYTES - 1, &[1]);
    assert_eq!(content_of(unknown), BlockContent::Foreign("data of an unknown kind"));
    assert_eq!(content_of(FileImage::zeroed(DISK_BYTES)), BlockContent::Blank);
    assert_eq!(content_of(FileImage::zeroed(4_096)), BlockContent::Blank);
}

/// The bytes of a volume with one file and two written directories.
fn volume_image() -> FileImage {
    let (executor, device, volume) = formatted();
    drop(executor.block_on(volume.open("a", OpenMode::CreateNew { length: 9 })).unwrap());
    let read = Request::read(Purpose::Header, 0, usize::try_from(DISK_BYTES).unwrap());
    let read = executor.block_on(async move { device.submit(read).await });
    FileImage::of(&read.into_buffer().unwrap())
}

#[test]
fn one_damaged_directory_leaves_the_other_and_two_are_refused() {
    let damage =
        |image: &mut FileImage, copy: u64| image.write((1 << 20) + copy * (4 << 20) + 30, &[9]);
    let mut image = volume_image();
    assert_eq!(content_of(image.clone()), BlockContent::Volume { files: 1 });
    damage(&mut image, 0);
    assert_eq!(content_of(image.clone()), BlockContent::Volume { files: 0 });
    damage(&mut image, 1);
    assert!(matches!(content_of(image.clone()), BlockContent::Damaged(_)));
    let error = refusal(image);
    assert!(matches!(error, Some(DeviceError::VolumeDamaged { .. })), "{error:?}");
}

#[test]
fn a_device_that_has_shrunk_is_refused() {
    let mut image = volume_image();
    image.set_length(DISK_BYTES);
    let mut short = FileImage::zeroed(0);
    short.set_length(DISK_BYTES);
    let mut first = vec![0; 9 << 20];
    image.read(0, &mut first);
    // The same volume, claiming one unit more than the device has space for.
    let longer = super::superblock::Superblock::of([1; 16], DISK_BYTES + (1 << 20));
    first[..4_096].copy_from_slice(&longer.encode());
    short.write(0, &first);
    let BlockContent::Damaged(problem) = content_of(short) else {
        panic!("a volume that does not fit");
    };
    assert_eq!(problem, "it takes 68157440 bytes and the device has 67108864");
}
