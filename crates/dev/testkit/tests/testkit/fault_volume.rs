//! Tests the volume with faults through the kernel, if this user may mount one.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test ends at the first surprise, and says aloud what it skips"
)]

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use testkit::fault_volume::FaultVolume;

/// A backing folder and a mount point, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let name = format!("faults-{name}-{}", std::process::id());
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(folder.join("backing")).unwrap();
        fs::create_dir_all(folder.join("mount")).unwrap();
        Self(folder)
    }

    fn mount(&self) -> Option<FaultVolume> {
        if !FaultVolume::is_possible() {
            eprintln!("skipped: a FUSE volume cannot be mounted here");
            return None;
        }
        Some(FaultVolume::mount(&self.0.join("backing"), &self.0.join("mount")).unwrap())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_pass_through_until_a_rule_matches() {
    let scratch = Scratch::new("pass");
    let Some(volume) = scratch.mount() else {
        return;
    };
    let path = volume.folder().join("E00.plg");
    fs::write(&path, [7; 8_192]).unwrap();
    assert_eq!(fs::read(scratch.0.join("backing/E00.plg")).unwrap(), [7; 8_192]);
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).open(&path).unwrap();
    volume.set(vec!["log write drop".parse().unwrap()]);
    file.write_all_at(&[9; 4_096], 0).unwrap();
    assert_eq!(fs::read(&path).unwrap(), [7; 8_192]);
    volume.set(Vec::new());
    file.write_all_at(&[9; 4_096], 0).unwrap();
    assert_eq!(fs::read(&path).unwrap()[..4_096], [9; 4_096]);
    assert_eq!((volume.injected(), volume.flushes()), (1, 0));
    file.sync_data().unwrap();
    assert_eq!(volume.flushes(), 1);
    fs::rename(&path, volume.folder().join("E01.plg")).unwrap();
    fs::remove_file(volume.folder().join("E01.plg")).unwrap();
    assert_eq!(fs::read_dir(scratch.0.join("backing")).unwrap().count(), 0);
}

#[test]
fn a_request_that_hangs_goes_on_when_the_rules_change() {
    let scratch = Scratch::new("hang");
    let Some(volume) = scratch.mount() else {
        return;
    };
    let path = volume.folder().join("a.edb");
    fs::write(&path, [7; 4_096]).unwrap();
    volume.set(vec!["header read hang".parse().unwrap()]);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| fs::read(&path).unwrap());
        while volume.injected() == 0 {
            std::thread::yield_now();
        }
        assert!(!reader.is_finished());
        volume.set(Vec::new());
        assert_eq!(reader.join().unwrap(), [7; 4_096]);
    });
}

#[test]
fn the_volume_goes_with_its_value() {
    let scratch = Scratch::new("gone");
    let Some(volume) = scratch.mount() else {
        return;
    };
    fs::write(volume.folder().join("file"), []).unwrap();
    drop(volume);
    assert_eq!(fs::read_dir(scratch.0.join("mount")).unwrap().count(), 0);
}
