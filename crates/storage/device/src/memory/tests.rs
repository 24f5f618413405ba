use std::rc::Rc;

use units::{Nanos, Seed};

use super::{FileImage, MemoryVolume};
use crate::{
    Buffer, Device, Durability, Executor, Latency, OpenMode, Purpose, Request, VirtualReactor,
    Volume, conformance,
};

fn world(latency: Latency) -> (Executor, MemoryVolume) {
    let reactor = VirtualReactor::new();
    let volume = MemoryVolume::new("memory", &reactor, latency);
    (Executor::new(reactor), volume)
}

fn jittery(seed: u64) -> Latency {
    Latency::spread(Nanos::from_micros(5), Nanos::from_micros(90), Seed(seed))
}

fn write(offset: u64, length: usize) -> Request {
    let buffer = Buffer::zeroed(length);
    Request::write(Purpose::Database, offset, buffer, Durability::Volatile)
}

/// Opens a file of 64 KiB and submits all `requests` at once.
fn submit_together(requests: Vec<Request>) {
    let (executor, volume) = world(Latency::fixed(Nanos(10)));
    executor.block_on(async move {
        let mode = OpenMode::CreateNew { length: 65_536 };
        let device = volume.open("file", mode).await.unwrap();
        let completions: Vec<_> = requests.into_iter().map(|r| device.submit(r)).collect();
        for completion in completions {
            completion.await.result.unwrap();
        }
    });
}

#[test]
fn conforms_where_deleted_files_have_left_something() {
    let (executor, memory) = world(Latency::fixed(Nanos(5)));
    memory.leave_behind(FileImage::of(&vec![7; 3 << 20]));
    let volume: Rc<dyn Volume> = Rc::new(memory);
    conformance::check_all(&executor, &volume);
    executor.block_on(async move {
        let length = 2 << 20;
        let file = volume.open("file", OpenMode::CreateUnwritten { length }).await.unwrap();
        assert!(!file.caps().zeroed);
        let read = Request::read(Purpose::Fill, length - 4_096, 4_096);
        let bytes = file.submit(read).await.into_buffer().unwrap();
        assert!(bytes.iter().all(|&byte| byte == 7), "what was left is there");
    });
}

#[test]
fn conforms_where_open_files_stay() {
    let (executor, memory) = world(jittery(1));
    memory.keep_open_files();
    let volume: Rc<dyn Volume> = Rc::new(memory);
    conformance::check_all_where_open_files_stay(&executor, &volume);
}

#[test]
fn conforms() {
    let (executor, volume) = world(jittery(1));
    conformance::check_all(&executor, &(Rc::new(volume) as Rc<dyn Volume>));
}

#[test]
#[should_panic(expected = "memory/file: Write of bytes 4096..8192 overlaps Write of bytes 0..8192")]
fn overlapping_writes_are_found_out() {
    submit_together(vec![write(0, 8_192), write(4_096, 4_096)]);
}

#[test]
#[should_panic(expected = "overlaps Write")]
fn reading_what_is_being_written_is_found_out() {
    submit_together(vec![write(0, 4_096), Request::read(Purpose::Database, 0, 4_096)]);
}

#[test]
#[should_panic(expected = "overlaps Read")]
fn cutting_what_is_being_read_is_found_out() {
    let read = Request::read(Purpose::Database, 8_192, 4_096);
    submit_together(vec![read, Request::set_length(Purpose::Database, 8_192)]);
}

#[test]
fn neighbours_and_equal_reads_may_be_in_flight_together() {
    let read = || Request::read(Purpose::Database, 8_192, 4_096);
    submit_together(vec![write(0, 4_096), write(4_096, 4_096), read(), read()]);
}

/// The order in which eight reads complete, and the instant of the last.
fn order(seed: u64) -> (Vec<u64>, Nanos) {
    let (executor, volume) = world(jittery(seed));
    let runtime = executor.runtime();
    executor.block_on(async move {
        let mode = OpenMode::CreateNew { length: 65_536 };
        let device: Rc<dyn Device> = volume.open("file", mode).await.unwrap();
        let order = Rc::new(std::cell::RefCell::new(Vec::new()));
        let handles: Vec<_> = (0..8)
            .map(|index| {
                let (device, order) = (Rc::clone(&device), Rc::clone(&order));
                runtime.spawn(async move {
                    let read = Request::read(Purpose::Database, index * 8_192, 8_192);
                    device.submit(read).await.result.unwrap();
                    order.borrow_mut().push(index);
                })
            })
            .collect();
        for handle in handles {
            handle.await;
        }
        (order.take(), runtime.now())
    })
}

#[test]
fn the_same_seed_completes_in_the_same_order() {
    assert_eq!(order(7), order(7));
    assert_ne!(order(7), order(8));
    assert!(!order(7).0.is_sorted(), "requests overtake each other");
}

#[test]
fn an_image_begins_a_new_volume() {
    let (executor, volume) = world(Latency::fixed(Nanos(10)));
    let twin = volume.clone();
    executor.block_on(async move {
        let mode = OpenMode::CreateNew { length: 4_096 };
        let device = twin.open("file", mode).await.unwrap();
        let bytes = Buffer::copy_of(&[9; 4_096]);
        let write = Request::write(Purpose::Database, 0, bytes, Durability::Volatile);
        device.submit(write).await.result.unwrap();
    });
    let image = volume.image();
    let reactor = VirtualReactor::new();
    let next = MemoryVolume::of("next", &reactor, Latency::fixed(Nanos(10)), &image);
    assert_eq!(next.image().files["file"].to_vec(), [9; 4_096]);
}
