//! Counters of the block devices under a folder (the kernel's Documentation/block/stat.rst).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::fuse;

/// Maximum depth of folders that show other folders: more are a cycle.
const MOST_LAYERS: u32 = 8;

/// Bytes read by the block devices under `path` since they were attached; `None` if no device can
/// be identified, or if one does not count.
///
/// A FUSE file system that shows other folders (bindfs names its folder as its source, mergerfs
/// lists its branches) is counted by the devices of those folders.
pub(crate) fn read_bytes(path: &Path) -> Option<u64> {
    let mut devices = BTreeSet::new();
    devices_below(path, 0, &mut devices)?;
    devices.iter().map(|device| counted(device)).sum()
}

/// Adds the devices below `path`, each as its folder in `/sys`.
fn devices_below(path: &Path, layer: u32, devices: &mut BTreeSet<PathBuf>) -> Option<()> {
    let path = fs::canonicalize(path).ok()?;
    let table = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mount = super::mount_of(&table, &path)?;
    let shown = fuse::shown_folders(&mount);
    if !shown.is_empty() && layer < MOST_LAYERS {
        return shown.iter().try_for_each(|folder| devices_below(folder, layer + 1, devices));
    }
    let number = super::device_number(&fs::metadata(&path).ok()?);
    let sys = Path::new("/sys");
    let folder = super::folder_of(sys, number, &mount.source)?;
    match mount.file_system.as_str() {
        "btrfs" => devices.extend(members_of_btrfs(sys, &folder)?),
        _ => devices.extend([folder]),
    }
    Some(())
}

/// Every member device of the btrfs that `device` belongs to.
fn members_of_btrfs(sys: &Path, device: &Path) -> Option<Vec<PathBuf>> {
    for entry in fs::read_dir(sys.join("fs/btrfs")).ok()?.flatten() {
        let members: Vec<_> = fs::read_dir(entry.path().join("devices"))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|link| fs::canonicalize(link.path()).ok())
            .collect();
        if members.iter().any(|member| member == device) {
            return Some(members);
        }
    }
    None
}

fn counted(folder: &Path) -> Option<u64> {
    let whole = super::whole_device(folder.to_owned());
    if super::read(&whole.join("queue/iostats")).as_deref() == Some("0") {
        return None;
    }
    sectors_read(&super::read(&folder.join("stat"))?).map(|sectors| sectors * 512)
}

/// The third field: sectors of 512 bytes read. `None` for a device that has never counted anything,
/// such as some stacked ones.
fn sectors_read(stat: &str) -> Option<u64> {
    let fields: Vec<u64> = stat.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let counts = fields.iter().any(|field| *field > 0);
    fields.get(2).copied().filter(|_| counts)
}

#[cfg(test)]
mod tests {
    use super::sectors_read;

    #[test]
    fn sectors_are_the_third_field_and_a_device_that_counts_nothing_says_nothing() {
        assert_eq!(sectors_read("2061452 93630 107 2356429 10 2 5 6 0 1 4"), Some(107));
        assert_eq!(sectors_read("0 0 0 0 12 2 5 6 0 1 4"), Some(0));
        assert_eq!(sectors_read("0 0 0 0 0 0 0 0 0 0 0"), None);
        assert_eq!(sectors_read(""), None);
    }
}
