//! The port on the file system that holds the build, on Windows or under Wine.

use std::path::Path;

use device::{DeviceError, conformance};

use crate::tests::world;
use crate::{Backend, World};

#[test]
fn the_port_conforms() {
    if let Some((_scratch, world, volume)) = world("port", Backend::CompletionPort) {
        assert_eq!(world.backend(), Backend::CompletionPort);
        if crate::windows::sys::is_wine() {
            conformance::check_all_where_open_files_stay(world.executor(), &volume);
        } else {
            conformance::check_all(world.executor(), &volume);
        }
    }
}

#[test]
fn folders_that_cannot_serve_are_refused() {
    let world = World::new(Backend::Auto).unwrap();
    let missing = world.volume(Path::new("C:\\no\\such\\folder")).err();
    assert!(matches!(missing, Some(DeviceError::NotFound { .. })));
    let file = world.volume(&std::env::current_exe().unwrap()).err();
    assert!(matches!(file, Some(DeviceError::BadPath { .. })), "{file:?}");
}

#[test]
fn the_folder_of_the_build_lies_on_a_device_that_has_sectors() {
    let here = std::env::current_dir().unwrap();
    let devices = crate::probe::devices(&here).unwrap();
    assert!(
        devices.first().is_some_and(|device| device.facts.logical_sector >= 512),
        "{devices:?}"
    );
    let facts = crate::probe::volume(&here).unwrap();
    assert!(facts.bitlocker.is_some() && facts.disk.is_some());
}
