//! Common behaviour of every backend on the file system that holds the build. If one is
//! unavailable, the tests say so and pass.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use device::{Buffer, DeviceError, Durability, OpenMode, Purpose, Request, Volume};
use units::Nanos;

use crate::{Backend, World, system};

/// A new folder on the disk that holds the build, removed when dropped.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let executable = std::env::current_exe().expect("a test has an executable");
        let build = executable.parent().expect("an executable lies in a folder");
        let path = build.join(format!("scratch-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the build folder takes another one");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A world and its folder, or `None`, with a message, if this machine cannot have them.
pub(super) fn world(test: &str, backend: Backend) -> Option<(Scratch, World, Rc<dyn Volume>)> {
    let scratch = Scratch::new(test);
    let made = World::new(backend).and_then(|world| Ok((world.volume(&scratch.0)?, world)));
    match made {
        Ok((volume, world)) => Some((scratch, world, volume)),
        Err(error) => {
            skipped(test, &error.to_string());
            None
        }
    }
}

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(super) fn skipped(test: &str, why: &str) {
    eprintln!("skipped: {test}: {why}");
}

#[test]
fn locks_hold_between_worlds() {
    let Some((scratch, first, volume)) = world("lock", Backend::Auto) else {
        return;
    };
    let mode = OpenMode::CreateNew { length: 4_096 };
    let device = first.executor().block_on(volume.open("file", mode)).unwrap();
    let other = system::BACKENDS.last().expect("a system has a backend");
    let second = World::new(*other).unwrap();
    let volume = second.volume(&scratch.0).unwrap();
    let error = second.executor().block_on(volume.open("file", OpenMode::ReadWrite)).err();
    assert!(matches!(error, Some(DeviceError::Locked { .. })), "{error:?}");
    drop(device);
    let again = second.executor().block_on(volume.open("file", OpenMode::ReadWrite));
    assert!(again.is_ok());
}

/// A flush ends on a thread of the kernel, which may hold the file a little longer than its caller.
#[test]
fn a_file_that_was_flushed_and_closed_can_be_opened_at_once() {
    let Some((_scratch, world, volume)) = world("reopen", Backend::Auto) else {
        return;
    };
    world.executor().block_on(async move {
        let mode = OpenMode::CreateNew { length: 4_096 };
        let mut device = volume.open("file", mode).await.unwrap();
        for time in 0..500 {
            let bytes = Buffer::copy_of(&vec![7; 4_096]);
            let write = Request::write(Purpose::Fill, 0, bytes, Durability::Volatile);
            device.submit(write).await.into_buffer().unwrap();
            let flush = device.submit(Request::flush(Purpose::Fill));
            flush.await.result.unwrap();
            drop(device);
            let again = volume.open("file", OpenMode::ReadWrite).await;
            device = again.unwrap_or_else(|error| panic!("time {time}: {error}"));
        }
    });
}

/// A request is not delayed by its task's further work.
#[test]
fn a_request_is_on_its_way_before_its_task_waits() {
    let Some((scratch, world, volume)) = world("at-once", Backend::Auto) else {
        return;
    };
    let file = scratch.0.join("file");
    world.executor().block_on(async move {
        let mode = OpenMode::CreateNew { length: 4_096 };
        let device = volume.open("file", mode).await.unwrap();
        let bytes = Buffer::copy_of(&[7; 4_096]);
        let write = Request::write(Purpose::Fill, 0, bytes, Durability::Volatile);
        let write = device.submit(write);
        let is_there = || std::fs::read(&file).unwrap() == [7; 4_096];
        let patience = std::iter::repeat_n(Duration::from_millis(10), 1_000);
        assert!(patience.map(std::thread::sleep).any(|()| is_there()));
        write.await.into_buffer().unwrap();
    });
}

#[test]
fn timers_end_waits_on_both_backends() {
    for backend in system::BACKENDS {
        let world = World::new(*backend).unwrap();
        let runtime = world.executor().runtime();
        world.executor().block_on(async move {
            let before = runtime.now();
            runtime.sleep(Nanos::from_millis(3)).await;
            assert!(runtime.now().since(before) >= Nanos::from_millis(3));
        });
    }
}

#[test]
fn a_world_outlives_nothing_that_is_in_flight() {
    for backend in system::BACKENDS {
        let Some((scratch, world, volume)) = world("drop", *backend) else {
            return;
        };
        let path = scratch.0.join("file");
        world.executor().block_on(async move {
            let mode = OpenMode::CreateNew { length: 1 << 20 };
            let device = volume.open("file", mode).await.unwrap();
            for index in 0..16 {
                let bytes = Buffer::copy_of(&vec![7; 65_536]);
                let durability = Durability::Volatile;
                let write = Request::write(Purpose::Fill, index * 65_536, bytes, durability);
                drop(device.submit(write));
            }
        });
        drop(world);
        let bytes = std::fs::read(path).unwrap();
        assert!(bytes.iter().all(|&byte| byte == 7), "{backend}");
    }
}

#[test]
fn a_length_beyond_the_volume_is_refused_and_leaves_nothing() {
    let Some((_scratch, world, volume)) = world("full", Backend::Auto) else {
        return;
    };
    world.executor().block_on(async move {
        // Longer than any file may be: if it were not refused beforehand, the error would differ,
        // and nothing would be allocated.
        let length = 1 << 62;
        let full = |error| matches!(error, Some(DeviceError::Full { .. }));
        let new = OpenMode::CreateNew { length };
        assert!(full(volume.open("file", new).await.err()));
        assert_eq!(volume.list().await.unwrap(), []);
        let new = OpenMode::CreateNew { length: 4_096 };
        let device = volume.open("file", new).await.unwrap();
        let grow = Request::set_length(Purpose::Database, length);
        assert!(full(device.submit(grow).await.result.err()));
        assert_eq!(volume.list().await.unwrap()[0].length, 4_096);
        assert_eq!(device.length(), 4_096);
    });
}
