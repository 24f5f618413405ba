//! Distinguishes a volume from another one at the same path, and from itself after a foreign write.

use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::PathBuf;

/// Milliseconds by which a file's last change may be later than the last recorded one: the server
/// records it every second, and a killed server was writing until its end.
const NOTED_LATE: u64 = 3_000;

/// Milliseconds by which a file's last change may be earlier than the last recorded one: after a
/// power failure, a file has the time that its file system last persisted.
const FORGOTTEN: u64 = 3_600_000;

/// Bits of the time in the stamp of a file in use, above the lowest bit, which is set.
const TIME_BITS: u32 = 42;

/// See the module.
pub(super) struct BackingIdentity {
    /// `None` if the volume is on another machine.
    pub path: Option<PathBuf>,
}

impl BackingIdentity {
    /// Changes with every change of a file that bypasses this process. It uses the inode change
    /// time, since programs that restore a file reset its modification time.
    pub(super) fn mark(&self) -> u64 {
        let found = self.path.as_ref().and_then(|path| fs::metadata(path).ok());
        found.filter(Metadata::is_file).map_or(0, |found| {
            let nanos = found.ctime().wrapping_mul(1_000_000_000).wrapping_add(found.ctime_nsec());
            nanos.cast_unsigned() ^ found.ino().rotate_left(32)
        })
    }

    /// The stamp of a volume in use. A device node may belong to another disk after a reboot, so
    /// its blocks are dropped unless the last session ended cleanly.
    pub(super) fn in_use(&self) -> u64 {
        let found = self.path.as_ref().and_then(|path| fs::metadata(path).ok().map(|f| (path, f)));
        let Some((path, found)) = found else {
            return 1;
        };
        if found.is_file() {
            return file_in_use(found.ino(), found.ctime(), found.ctime_nsec());
        }
        let is_named = path.starts_with("/dev/disk") || path.starts_with("/dev/mapper");
        if is_named || !found.file_type().is_block_device() {
            return 1;
        }
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        boot.bytes().fold(3, |sum: u64, byte| sum.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte))
    }
}

/// The stamp of a file in use: its inode, and the time of its last change.
fn file_in_use(inode: u64, seconds: i64, nanos: i64) -> u64 {
    let millis = seconds.cast_unsigned().wrapping_mul(1_000) + nanos.cast_unsigned() / 1_000_000;
    let mixed = inode.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (TIME_BITS + 1);
    mixed << (TIME_BITS + 1) | (millis & ((1 << TIME_BITS) - 1)) << 1 | 1
}

/// `true` if a killed server whose volume last had the in-use stamp `noted` may have left it with
/// the stamp `found`: the same, or for a file with a time between [`FORGOTTEN`] before and
/// [`NOTED_LATE`] after. A foreign change right after the kill passes for a write by the server.
pub(super) fn left_by_kill(noted: u64, found: u64) -> bool {
    let [(before, same), (now, other)] = [noted, found].map(|stamp| {
        ((stamp >> 1) & ((1 << TIME_BITS) - 1), stamp & !(((1 << TIME_BITS) - 1) << 1))
    });
    let is_near = now <= before + NOTED_LATE && before <= now + FORGOTTEN;
    noted == found || same == other && is_near
}

#[cfg(test)]
mod tests {
    use super::{file_in_use, left_by_kill};

    #[test]
    fn a_file_changed_well_after_the_kill_is_not_what_the_server_left() {
        let noted = file_in_use(77, 1_800_000_000, 500_000_000);
        for (inode, seconds, expected) in [
            (77, 1_800_000_000, true),
            (77, 1_800_000_002, true),
            (77, 1_800_000_005, false),
            (77, 1_799_999_000, true),
            (77, 1_799_000_000, false),
            (78, 1_800_000_000, false),
        ] {
            let found = file_in_use(inode, seconds, 0);
            assert_eq!(left_by_kill(noted, found), expected, "{inode} {seconds}");
        }
        assert!(left_by_kill(1, 1) && !left_by_kill(0x1234_5679, 0x9abc_def1));
    }
}
