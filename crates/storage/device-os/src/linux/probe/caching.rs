//! Whether reads and writes of files in a folder bypass every cache of the operating system,
//! according to the kernel and the layers below stacked file systems and loop devices.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::super::sys;
use super::Mount;
use crate::probe::Caching;

/// Maximum depth of stacked mounts to follow: more are a cycle.
const MOST_LAYERS: u32 = 8;

/// File systems whose `O_DIRECT` reaches the block device below them.
const DIRECT: [&str; 8] = ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "bcachefs", "jfs"];

/// Caching of the mount that holds `path`; `table` is `/proc/self/mountinfo`.
pub(super) fn of(path: &Path, mount: &Mount, table: &str, sys_folder: &Path) -> Caching {
    below(path, mount, table, sys_folder, 0)
}

fn below(path: &Path, mount: &Mount, table: &str, sys_folder: &Path, layer: u32) -> Caching {
    if layer >= MOST_LAYERS {
        return Caching::Unknown("its file systems are stacked too deep to follow".to_owned());
    }
    match in_folder(path, mount) {
        Caching::None if mount.file_system == "overlay" => {}
        Caching::None => return loop_device(mount, table, sys_folder, layer),
        found => return found,
    }
    let Some(upper) = option(&mount.options, "upperdir") else {
        return Caching::Unknown("the folder below the overlay is not named".to_owned());
    };
    let upper = Path::new(upper);
    match super::mount_of(table, upper).filter(|_| upper.exists()) {
        Some(mount) => below(upper, &mount, table, sys_folder, layer + 1),
        None => Caching::Unknown(format!(
            "the folder below the overlay, {}, cannot be reached",
            upper.display()
        )),
    }
}

/// Caching of the block device `source`, read and written as a whole.
pub(super) fn of_device(source: &str, table: &str, sys_folder: &Path) -> Caching {
    let mount = Mount { source: source.to_owned(), ..Mount::default() };
    loop_device(&mount, table, sys_folder, 0)
}

/// Caching according to the file system that holds `path`.
fn in_folder(path: &Path, mount: &Mount) -> Caching {
    let kind = mount.file_system.as_str();
    let file = any_file(path);
    if let Some(file) = &file {
        if sys::lives_in_memory(file).unwrap_or(false) {
            return Caching::InFileSystem(format!("{kind} keeps its files in memory"));
        }
        if let Ok(Some(0)) = sys::direct_alignment(file) {
            return Caching::InFileSystem(format!(
                "{kind} reads and writes these files through the page cache, as with data=journal, \
                 encryption or verity"
            ));
        }
    }
    match kind {
        "ecryptfs" => Caching::InFileSystem("ecryptfs works in the page cache".to_owned()),
        "ext3" | "ext4" if option(&mount.options, "data") == Some("journal") => {
            Caching::InFileSystem(format!(
                "{kind} with data=journal reads and writes through the page cache"
            ))
        }
        _ if kind == "overlay" || DIRECT.contains(&kind) => Caching::None,
        _ => Caching::Unknown(format!(
            "{kind} does not report whether requests bypass its cache or its server's"
        )),
    }
}

/// A file system on a loop device is cached if the device reads its backing file through the cache.
fn loop_device(mount: &Mount, table: &str, sys_folder: &Path, layer: u32) -> Caching {
    let Some(name) = mount.source.strip_prefix("/dev/") else {
        return Caching::None;
    };
    let folder = sys_folder.join("class/block").join(name).join("loop");
    let Some(backing) = super::read(&folder.join("backing_file")) else {
        return Caching::None;
    };
    if super::read(&folder.join("dio")).as_deref() != Some("1") {
        return Caching::Below(format!(
            "{name} reads {backing} through the page cache; to fix: losetup --direct-io=on \
             /dev/{name}"
        ));
    }
    let backing = Path::new(&backing);
    match super::mount_of(table, backing) {
        Some(mount) => below(backing, &mount, table, sys_folder, layer + 1),
        None => Caching::Unknown(format!("nothing is known of {}", backing.display())),
    }
}

/// A regular file of the folder `path`, an unnamed one if possible; or `path` itself.
fn any_file(path: &Path) -> Option<File> {
    if path.is_file() {
        return File::open(path).ok();
    }
    let mut unnamed = OpenOptions::new();
    unnamed.read(true).write(true).custom_flags(libc::O_TMPFILE);
    unnamed.open(path).ok().or_else(|| {
        let entries = fs::read_dir(path).ok()?.flatten();
        let mut files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
        File::open(files.next()?.path()).ok()
    })
}

/// The value of `name=value` among mount options.
fn option<'a>(options: &'a str, name: &str) -> Option<&'a str> {
    let mut options = options.split(',');
    options.find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::option;

    #[test]
    fn a_mount_option_is_found_by_its_whole_name() {
        let options = "rw,relatime,lowerdir=/l,upperdir=/u,data=journal";
        assert_eq!(option(options, "upperdir"), Some("/u"));
        assert_eq!(option(options, "data"), Some("journal"));
        assert_eq!(option(options, "dir"), None);
    }
}
