//! Limits that control groups set for this process on a disk, per second (the kernel's
//! Documentation/admin-guide/cgroup-v2.rst, `io.max`, and cgroup-v1/blkio-controller.rst): a slow
//! answer may be caused by the group and not by the storage.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::probe::IoLimit;

/// Mount point of the control groups.
const GROUPS: &str = "/sys/fs/cgroup";

/// Files of cgroup v1, and the corresponding key of `io.max`.
const FIRST_VERSION: [(&str, &str); 4] = [
    ("blkio.throttle.read_bps_device", "rbps"),
    ("blkio.throttle.write_bps_device", "wbps"),
    ("blkio.throttle.read_iops_device", "riops"),
    ("blkio.throttle.write_iops_device", "wiops"),
];

/// I/O limits that the control groups of this process set for the disk with this folder in `/sys`.
pub(super) fn of_disk(folder: &Path) -> Vec<IoLimit> {
    let whole = super::whole_device(folder.to_owned());
    let Some(device) = super::read(&whole.join("dev")) else {
        return Vec::new();
    };
    let membership = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    of_groups(Path::new(GROUPS), &membership, &device, &|file| fs::read_to_string(file))
}

/// The limits set by the groups below `root` that `membership` (`/proc/self/cgroup`) names, from
/// files that `read` returns.
fn of_groups(
    root: &Path,
    membership: &str,
    device: &str,
    read: &dyn Fn(&Path) -> io::Result<String>,
) -> Vec<IoLimit> {
    let mut limits = Vec::new();
    for line in membership.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let path = path.trim_start_matches('/');
        if controllers.is_empty() {
            // Each group is subject to the limits of its ancestors.
            for folder in root.join(path).ancestors().take_while(|folder| folder.starts_with(root))
            {
                let group = name(root, folder);
                limits.extend(match text_of(&folder.join("io.max"), read) {
                    Ok(text) => of_second(&text, device, &group),
                    Err(error) => vec![unreadable(&group, device, "io.max", &error)],
                });
            }
        } else if controllers.split(',').any(|name| name == "blkio") {
            // Only the second version applies the limits of ancestors as well.
            let root = root.join("blkio");
            let folder = root.join(path);
            limits.extend(of_first(&folder, device, &name(&root, &folder), read));
        }
    }
    limits
}

fn name(root: &Path, folder: &Path) -> String {
    let inner = folder.strip_prefix(root).unwrap_or(folder);
    PathBuf::from("/").join(inner).display().to_string()
}

/// Parses lines such as `8:0 rbps=max wbps=1048576 riops=max wiops=200`.
fn of_second(text: &str, device: &str, group: &str) -> Vec<IoLimit> {
    let mine = text.lines().filter_map(|line| line.split_once(' '));
    let mut limits = Vec::new();
    for (_, words) in mine.filter(|(name, _)| *name == device) {
        for word in words.split_whitespace() {
            match word.split_once('=') {
                Some((_, "max")) => {}
                Some((what, number)) => limits.push(limit(group, device, what, number)),
                None => limits.push(limit(group, device, word, "")),
            }
        }
    }
    limits
}

/// Reads one file for each kind of limit, with lines such as `8:0 1048576`.
fn of_first(
    folder: &Path,
    device: &str,
    group: &str,
    read: &dyn Fn(&Path) -> io::Result<String>,
) -> Vec<IoLimit> {
    let mut limits = Vec::new();
    for (file, what) in FIRST_VERSION {
        let text = match text_of(&folder.join(file), read) {
            Ok(text) => text,
            Err(error) => {
                limits.push(unreadable(group, device, file, &error));
                continue;
            }
        };
        let mine = text.lines().filter_map(|line| line.split_once(' '));
        let mine = mine.filter(|(name, _)| *name == device);
        limits.extend(mine.map(|(_, number)| limit(group, device, what, number)));
    }
    limits
}

/// The text of a group's file; empty if the group has no such file, and so no such limit.
fn text_of(file: &Path, read: &dyn Fn(&Path) -> io::Result<String>) -> io::Result<String> {
    match read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => read,
    }
}

fn unreadable(group: &str, device: &str, file: &str, error: &io::Error) -> IoLimit {
    IoLimit { unreadable: Some(error.to_string()), ..limit(group, device, file, "") }
}

fn limit(group: &str, device: &str, what: &str, number: &str) -> IoLimit {
    IoLimit {
        group: group.to_owned(),
        device: device.to_owned(),
        what: what.to_owned(),
        per_second: number.trim().parse().ok(),
        unreadable: None,
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use super::of_groups;

    fn told(membership: &str, files: &[(&str, &str)]) -> Vec<String> {
        let read = |file: &Path| {
            let mut found = files.iter().filter(|(name, _)| Path::new(name) == file);
            match found.next() {
                Some((_, "closed")) => Err(io::ErrorKind::PermissionDenied.into()),
                Some((_, text)) => Ok((*text).to_owned()),
                None => Err(io::ErrorKind::NotFound.into()),
            }
        };
        let limits = of_groups(Path::new("/g"), membership, "8:0", &read);
        limits.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_group_around_the_process_limits_it() {
        let files = [
            ("/g/pod/box/io.max", "8:16 wiops=9\n8:0 rbps=max wbps=1048576 riops=max wiops=200\n"),
            ("/g/pod/io.max", "8:0 rbps=max wbps=max riops=5000 wiops=max\n"),
        ];
        assert_eq!(
            told("0::/pod/box\n", &files),
            [
                "the control group /pod/box allows writes of 1.0 MiB a second on 8:0",
                "the control group /pod/box allows 200 writes a second on 8:0",
                "the control group /pod allows 5,000 reads a second on 8:0",
            ]
        );
    }

    #[test]
    fn the_first_version_has_a_file_for_each_limit() {
        let files = [
            ("/g/blkio/box/blkio.throttle.write_iops_device", "8:0 200\n"),
            ("/g/blkio/box/blkio.throttle.read_bps_device", "8:16 1\n"),
        ];
        let told = told("7:blkio:/box\n4:memory:/box\n0::/\n", &files);
        assert_eq!(told, ["the control group /box allows 200 writes a second on 8:0"]);
    }

    #[test]
    fn a_limit_that_is_not_understood_is_shown() {
        let files = [("/g/io.max", "8:0 latency=75 wiops=some odd\n")];
        assert_eq!(
            told("0::/\n", &files),
            [
                "the control group / limits \"latency\" on 8:0 to 75 a second",
                "the control group / limits \"wiops\" on 8:0 in a way that is not understood",
                "the control group / limits \"odd\" on 8:0 in a way that is not understood",
            ]
        );
    }

    #[test]
    fn a_limit_that_cannot_be_read_may_be_there() {
        let files = [
            ("/g/pod/io.max", "closed"),
            ("/g/blkio/box/blkio.throttle.read_bps_device", "closed"),
        ];
        assert_eq!(
            told("0::/pod/box\n7:blkio:/box\n", &files),
            [
                "the control group /pod may limit 8:0: io.max cannot be read (permission denied)",
                "the control group /box may limit 8:0: blkio.throttle.read_bps_device cannot be \
                 read (permission denied)",
            ]
        );
    }
}
