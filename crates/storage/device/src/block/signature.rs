//! Identifies foreign contents of a device from its first and last bytes.
//!
//! The offsets are those of `blkid` (util-linux, libblkid/src): each format writes its signature at
//! one of them.

/// A signature: its format, its offset, and its bytes.
type Mark = (&'static str, usize, &'static [u8]);

/// Signatures among the first bytes. The last two bytes of a boot sector are only checked if
/// nothing more specific was found, since file systems write them too.
const MARKS: &[Mark] = &[
    ("a partition table (GPT)", 512, b"EFI PART"),
    ("a partition table (GPT)", 4096, b"EFI PART"),
    ("a file system (NTFS)", 3, b"NTFS    "),
    ("a file system (ReFS)", 3, b"ReFS"),
    ("a file system (exFAT)", 3, b"EXFAT   "),
    ("a file system (FAT)", 54, b"FAT1"),
    ("a file system (FAT)", 82, b"FAT32"),
    ("a file system (XFS)", 0, b"XFSB"),
    ("a file system (ext2, ext3 or ext4)", 0x438, &[0x53, 0xEF]),
    ("a file system (btrfs)", 0x1_0040, b"_BHRfS_M"),
    ("an encrypted device (LUKS)", 0, b"LUKS\xba\xbe"),
    ("an encrypted device (BitLocker)", 3, b"-FVE-FS-"),
    ("a physical volume (LVM)", 512, b"LABELONE"),
    ("swap space", 4086, b"SWAPSPACE2"),
    ("a member of a RAID (md)", 0, &[0xFC, 0x4E, 0x2B, 0xA9]),
    ("a member of a RAID (md)", 4096, &[0xFC, 0x4E, 0x2B, 0xA9]),
    ("a cache or its backing device (bcache)", 0x1018, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca"),
    ("a virtual disk image (qcow2)", 0, b"QFI\xfb"),
    ("a partition table (MBR) or a boot sector", 510, &[0x55, 0xAA]),
];

/// Signatures near the end; offsets are distances from the end.
const MARKS_AT_END: &[Mark] = &[
    ("the copy of a partition table (GPT)", 512, b"EFI PART"),
    ("the copy of a partition table (GPT)", 4096, b"EFI PART"),
    ("a member of a RAID (md)", 8192, &[0xFC, 0x4E, 0x2B, 0xA9]),
];

/// Format of a device's `first` and `last` bytes; `None` if all are zero.
pub(super) fn of(first: &[u8], last: &[u8]) -> Option<&'static str> {
    let marked = MARKS.iter().find(|(_, at, bytes)| holds(first.get(*at..), bytes));
    let found = marked.or_else(|| MARKS_AT_END.iter().find(|mark| is_at_end(mark, last)));
    match found {
        Some((what, ..)) => Some(what),
        None if first.iter().chain(last).all(|&byte| byte == 0) => None,
        None => Some("data of an unknown kind"),
    }
}

fn is_at_end((_, back, bytes): &Mark, last: &[u8]) -> bool {
    holds(last.len().checked_sub(*back).and_then(|at| last.get(at..)), bytes)
}

fn holds(bytes: Option<&[u8]>, mark: &[u8]) -> bool {
    bytes.is_some_and(|bytes| bytes.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::{MARKS, MARKS_AT_END, of};

    #[test]
    fn every_mark_is_found_alone_and_zeros_are_blank() {
        let blank = vec![0; 1 << 17];
        assert_eq!(of(&blank, &blank), None);
        for (what, at, bytes) in MARKS {
            let mut first = blank.clone();
            first[*at..*at + bytes.len()].copy_from_slice(bytes);
            assert_eq!(of(&first, &blank), Some(*what));
        }
        for (what, back, bytes) in MARKS_AT_END {
            let mut last = blank.clone();
            let at = last.len() - back;
            last[at..at + bytes.len()].copy_from_slice(bytes);
            assert_eq!(of(&blank, &last), Some(*what));
        }
    }

    #[test]
    fn one_byte_anywhere_is_data() {
        let blank = vec![0; 1 << 17];
        for at in [0, 700, blank.len() - 1] {
            let mut other = blank.clone();
            other[at] = 1;
            assert_eq!(of(&other, &blank), Some("data of an unknown kind"));
            assert_eq!(of(&blank, &other), Some("data of an unknown kind"));
        }
    }
}
