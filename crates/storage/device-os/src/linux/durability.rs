//! Chooses how to make writes durable on a file system: not every one honours the flag of a durable
//! write (`RWF_DSYNC`).

use std::fs::File;
use std::io;

use super::sys;
use crate::probe::DurableWrites;

/// `XFS_SUPER_MAGIC` of linux/magic.h.
const XFS_MAGIC: libc::c_long = 0x5846_5342;

/// The way to make a write durable to `file`, or to a file in the folder `file`.
pub(super) fn of(file: &File) -> io::Result<DurableWrites> {
    Ok(by_kind(sys::file_system(file)?))
}

/// ext4, XFS and btrfs flush the device, or write through it, before they complete a write with
/// `RWF_DSYNC`. FUSE passes the flag to a server that may ignore it and sends no flush; other file
/// systems are unknown. For those a flush after the write is requested and awaited.
const fn by_kind(kind: libc::c_long) -> DurableWrites {
    match kind {
        libc::EXT4_SUPER_MAGIC | XFS_MAGIC | libc::BTRFS_SUPER_MAGIC => DurableWrites::Flag,
        _ => DurableWrites::Flush,
    }
}

#[cfg(test)]
mod tests {
    use super::{DurableWrites, by_kind};

    #[test]
    fn what_is_not_known_to_heed_the_flag_is_flushed() {
        assert_eq!(by_kind(libc::EXT4_SUPER_MAGIC), DurableWrites::Flag);
        assert_eq!(by_kind(libc::FUSE_SUPER_MAGIC), DurableWrites::Flush);
        assert_eq!(by_kind(libc::NFS_SUPER_MAGIC), DurableWrites::Flush);
        assert_eq!(by_kind(0), DurableWrites::Flush);
    }
}
