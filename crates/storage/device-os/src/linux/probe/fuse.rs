//! File systems served by a process (FUSE): the folders that they show, and the bytes that the
//! kernel accounts to the server (`proc_pid_io(5)`). A server may answer from memory.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::super::sys;
use super::Mount;

/// Whether a file system of this kind is served by a process.
fn is_served(file_system: &str) -> bool {
    file_system == "fuse" || file_system == "fuseblk" || file_system.starts_with("fuse.")
}

/// The folders that the mount shows at another place; empty if it shows none, or does not name
/// them.
pub(super) fn shown_folders(mount: &Mount) -> Vec<PathBuf> {
    if !is_served(&mount.file_system) {
        return Vec::new();
    }
    let source = Path::new(&mount.source);
    if source.is_absolute() && source.is_dir() {
        return vec![source.to_owned()];
    }
    let control = Path::new(&mount.point).join(".mergerfs");
    let Ok(control) = CString::new(control.as_os_str().as_bytes()) else {
        return Vec::new();
    };
    let told = sys::attribute(&control, c"user.mergerfs.branches");
    told.map_or_else(|_| Vec::new(), |branches| branches_of(&branches))
}

/// Parses branches such as `/mnt/a=RW:/mnt/b=NC,4G`.
fn branches_of(told: &str) -> Vec<PathBuf> {
    told.split(':')
        .filter_map(|branch| branch.split('=').next())
        .filter(|path| path.starts_with('/'))
        .map(PathBuf::from)
        .collect()
}

/// Upper bound of the bytes that the kernel accounts to device reads of `path`: those of this
/// process, and of the server if the file system has one. `None` if an account cannot be read.
pub(crate) fn accounted_read_bytes(path: &Path) -> Option<u64> {
    let path = fs::canonicalize(path).ok()?;
    let table = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mount = super::mount_of(&table, &path)?;
    let own = account(Path::new("/proc/self"))?;
    if !is_served(&mount.file_system) {
        return Some(own);
    }
    let connection = libc::minor(fs::metadata(&path).ok()?.dev());
    let servers = servers(Path::new("/proc"), connection)?;
    if servers.is_empty() {
        return None;
    }
    let accounts: Option<u64> = servers.iter().map(|server| account(server)).sum();
    Some(own.saturating_add(accounts?))
}

/// Processes that serve this connection, or may serve it: kernels before 6.18 do not number
/// connections. `None` if that cannot be determined.
fn servers(processes: &Path, connection: u32) -> Option<Vec<PathBuf>> {
    let mut servers = Vec::new();
    for process in fs::read_dir(processes).ok()?.flatten() {
        let name = process.file_name();
        if !name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        match serves(&process.path(), connection) {
            Ok(true) => servers.push(process.path()),
            Ok(false) => {}
            // The process exited meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => return None,
        }
    }
    Some(servers)
}

fn serves(process: &Path, connection: u32) -> io::Result<bool> {
    for descriptor in fs::read_dir(process.join("fd"))?.flatten() {
        let target = fs::read_link(descriptor.path());
        if target.is_ok_and(|target| target == Path::new("/dev/fuse")) {
            let facts = process.join("fdinfo").join(descriptor.file_name());
            if may_be(&fs::read_to_string(facts)?, connection) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether a descriptor of `/dev/fuse` belongs to the connection; `true` also if the facts name no
/// connection.
fn may_be(facts: &str, connection: u32) -> bool {
    let mut lines = facts.lines();
    let number = lines.find_map(|line| line.strip_prefix("fuse_connection:"));
    number.is_none_or(|number| number.trim().parse() == Ok(connection))
}

/// Bytes that a process caused to be read from devices.
fn account(process: &Path) -> Option<u64> {
    let text = fs::read_to_string(process.join("io")).ok()?;
    let mut lines = text.lines();
    lines.find_map(|line| line.strip_prefix("read_bytes:")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::super::tests::Scratch;
    use super::{account, branches_of, is_served, servers};

    #[test]
    fn branches_are_paths_without_their_modes() {
        let expected = ["/mnt/a", "/mnt/b"].map(PathBuf::from);
        assert_eq!(branches_of("/mnt/a=RW:/mnt/b=NC,4G"), expected);
        assert!(branches_of("").is_empty());
    }

    #[test]
    fn a_server_is_known_by_its_connection_and_one_that_does_not_say_counts() {
        let scratch = Scratch::named("fuse");
        for (process, facts) in
            [("7", "fuse_connection:\t39\n"), ("8", "fuse_connection:\t40\n"), ("9", "")]
        {
            scratch.put(&format!("{process}/fdinfo/3"), facts);
            scratch.put(&format!("{process}/io"), "rchar: 900\nread_bytes: 400\n");
            std::fs::create_dir_all(scratch.0.join(process).join("fd")).unwrap();
            symlink("/dev/fuse", scratch.0.join(process).join("fd/3")).unwrap();
        }
        scratch.put("10/fd/0", "");
        scratch.put("sys/kernel", "");
        let mut found = servers(&scratch.0, 39).unwrap();
        found.sort();
        assert_eq!(found, ["7", "9"].map(|name| scratch.0.join(name)));
        assert_eq!(account(&found[0]), Some(400));
        // A process whose descriptors cannot be seen may be the server.
        scratch.put("11/fd", "");
        assert_eq!(servers(&scratch.0, 39), None);
    }

    #[test]
    fn file_systems_of_fuse_have_several_names() {
        assert!(["fuse", "fuseblk", "fuse.mergerfs"].into_iter().all(is_served));
        assert!(!["fusectl", "ext4"].into_iter().any(is_served));
    }
}
