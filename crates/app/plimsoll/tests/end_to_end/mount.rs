//! File systems of a test's own, where this user may mount any.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::fault_volume::FaultVolume;

use crate::scene::{Scene, small_plan};

pub(crate) const EXT4: [&str; 5] = ["mkfs.ext4", "-q", "-F", "-m", "0"];
pub(crate) const BTRFS: [&str; 2] = ["mkfs.btrfs", "-q"];

/// Where something is mounted; unmounted at the end.
pub(crate) struct Mount(pub PathBuf);

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn succeeds<W: AsRef<OsStr>>(program: &str, words: impl IntoIterator<Item = W>) -> bool {
    let output = Command::new(program).args(words).output();
    output.is_ok_and(|output| output.status.success())
}

impl Mount {
    /// A small file system in a file. None, said aloud, where this machine or this user cannot.
    pub(crate) fn new(scene: &Scene, make: &[&str], mebibytes: u64) -> Option<Self> {
        let image = image(scene, make, mebibytes)?;
        Self::of(scene, "volume", &["-o", "loop", &image])
    }

    /// The same with a loop device that reads past the cache.
    pub(crate) fn past_the_cache(scene: &Scene, make: &[&str], mebibytes: u64) -> Option<Self> {
        let image = image(scene, make, mebibytes)?;
        let words = ["--find", "--show", "--direct-io=on", &image];
        let shown = Command::new("losetup").args(words).output().ok()?;
        let device = String::from_utf8(shown.stdout).unwrap();
        let mounted = Self::of(scene, "volume", &[device.trim()]);
        // While it is mounted this only asks for it to go with the mount.
        let _ = Command::new("losetup").args(["-d", device.trim()]).status();
        mounted
    }

    /// `mount WORDS` on a new folder of the scene.
    pub(crate) fn of(scene: &Scene, name: &str, words: &[&str]) -> Option<Self> {
        let folder = scene.path(name);
        fs::create_dir(&folder).unwrap();
        let all = words.iter().map(OsStr::new).chain([folder.as_os_str()]);
        let mounted = succeeds("mount", all);
        if !mounted {
            eprintln!("skipped: mount {} does not work here", words.join(" "));
        }
        mounted.then_some(Self(folder))
    }
}

/// A scene and a mounted volume in it whose storage has faults; it must be unmounted before the
/// scene's folder goes. None, said aloud, where no such volume can be mounted.
pub(crate) fn fault_volume(name: &str) -> Option<(FaultVolume, Scene)> {
    if !FaultVolume::is_possible() {
        eprintln!("skipped: a FUSE volume cannot be mounted here");
        return None;
    }
    let scene = Scene::new(name);
    let (backing, mount) = (scene.path("backing"), scene.path("disk"));
    for folder in [&backing, &mount] {
        fs::create_dir(folder).unwrap();
    }
    let volume = FaultVolume::mount(&backing, &mount).unwrap();
    let plan = small_plan(&mount).replace("count = 2", "count = 1");
    scene.write("plan.toml", plan.as_bytes());
    scene.load_fully();
    Some((volume, scene))
}

/// The path of a file with a new file system in it.
pub(crate) fn image(scene: &Scene, make: &[&str], mebibytes: u64) -> Option<String> {
    let image = scene.path("volume.img");
    let file = fs::File::create(&image).unwrap();
    file.set_len(mebibytes << 20).unwrap();
    let words = make[1..].iter().map(OsStr::new);
    let made = succeeds(make[0], words.chain([image.as_os_str()]));
    if !made {
        eprintln!("skipped: there is no {} here", make[0]);
    }
    made.then(|| image.display().to_string())
}

/// A path as the program receives it.
pub(crate) fn text(path: &Path) -> String {
    path.display().to_string()
}
