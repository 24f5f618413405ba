//! Both backends on a real file system: the build folder, which is on a disk on a developer's
//! machine. If it is not, the tests say so and pass.

use std::path::Path;

use device::{DeviceError, conformance};

use crate::tests::{skipped, world};
use crate::{Backend, World};

#[test]
fn uring_conforms() {
    if let Some((_scratch, world, volume)) = world("uring", Backend::Uring) {
        assert_eq!(world.backend(), Backend::Uring);
        conformance::check_all(world.executor(), &volume);
    }
}

#[test]
fn pool_conforms() {
    if let Some((_scratch, world, volume)) = world("pool", Backend::Pool) {
        assert_eq!(world.backend(), Backend::Pool);
        conformance::check_all(world.executor(), &volume);
    }
}

#[test]
fn folders_that_cannot_serve_are_refused() {
    let world = World::new(Backend::Auto).unwrap();
    let missing = world.volume(Path::new("/no/such/folder")).err();
    assert!(matches!(missing, Some(DeviceError::NotFound { .. })));
    let file = world.volume(Path::new("/proc/self/mountinfo")).err();
    assert!(matches!(file, Some(DeviceError::BadPath { .. })), "{file:?}");
    let memory = Path::new("/dev/shm");
    if memory.exists() {
        let memory = world.volume(memory).err();
        assert!(matches!(memory, Some(DeviceError::Unbuffered { .. })), "{memory:?}");
    } else {
        skipped("unbuffered", "no file system in memory here");
    }
}
