//! A small separate volume: a file system on a loop device, backed by an image file and without a
//! cache.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The file systems of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestFileSystem {
    /// ext4.
    Ext4,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
}

impl TestFileSystem {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Ext4, Self::Xfs, Self::Btrfs];

    /// The program that creates this file system.
    pub(crate) fn maker(self) -> &'static str {
        match self {
            Self::Ext4 => "mkfs.ext4",
            Self::Xfs => "mkfs.xfs",
            Self::Btrfs => "mkfs.btrfs",
        }
    }
}

impl fmt::Display for TestFileSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
        })
    }
}

/// A mounted volume, removed when dropped.
pub(crate) struct LoopVolume {
    image: PathBuf,
    mount: PathBuf,
}

impl LoopVolume {
    /// Creates a volume of `bytes` with its image in the file `image`, mounted at the folder
    /// `mount`.
    pub(crate) fn new(
        system: TestFileSystem,
        bytes: u64,
        image: &Path,
        mount: &Path,
    ) -> io::Result<Self> {
        File::create(image)?.set_len(bytes)?;
        call(Command::new(system.maker()).arg("-q").arg(image))?;
        // Without direct I/O the page cache would hold the image, and nothing could be judged.
        let mut attach = Command::new("losetup");
        attach.args(["--find", "--show", "--direct-io=on"]).arg(image);
        let device = call(&mut attach)?;
        let device = device.trim();
        let mounted = call(Command::new("mount").arg(device).arg(mount));
        // Detaching takes effect once the last user, the mount, is gone.
        call(Command::new("losetup").args(["--detach", device]))?;
        mounted?;
        Ok(Self { image: image.to_owned(), mount: mount.to_owned() })
    }

    /// Bytes that are free.
    pub(crate) fn free_bytes(&self) -> io::Result<u64> {
        let found = nix::sys::statvfs::statvfs(&self.mount)?;
        Ok(found.blocks_available() * found.fragment_size())
    }
}

impl Drop for LoopVolume {
    fn drop(&mut self) {
        let _ = call(Command::new("umount").arg(&self.mount));
        let _ = fs::remove_file(&self.image);
    }
}

/// What a command prints.
fn call(command: &mut Command) -> io::Result<String> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(io::Error::other(format!("{command:?}: {said}")))
}
