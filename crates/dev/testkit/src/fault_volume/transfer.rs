//! Reads and writes of the backing file, as requested or with a fault.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use nix::errno::Errno;

use super::rule::Fault;

/// A write is torn at a multiple of this.
const SECTOR_BYTES: usize = 512;

/// Reads up to `length` bytes at `offset`, fewer at the end of the file.
pub(super) fn read(
    file: &File,
    offset: u64,
    length: usize,
    fault: Option<Fault>,
) -> io::Result<Vec<u8>> {
    let from = match fault {
        Some(Fault::Misdirect) => neighbour(file, offset, length)?,
        Some(Fault::Full | Fault::Error) => return Err(Errno::EIO.into()),
        _ => offset,
    };
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match file.read_at(&mut bytes[filled..], from + filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    if fault == Some(Fault::Misdirect) {
        // The requested range exists, so a short or empty read of the other block still returns
        // this many bytes.
        filled = length.min(there(file, offset)?);
    }
    bytes.truncate(filled);
    match fault {
        Some(Fault::Drop) => bytes.fill(0),
        Some(Fault::Flip) => flip(&mut bytes),
        Some(Fault::Tear) => bytes[torn(filled)..].fill(0),
        _ => {}
    }
    Ok(bytes)
}

/// Writes all of `bytes` at `offset`, or pretends to.
pub(super) fn write(
    file: &File,
    offset: u64,
    bytes: &[u8],
    fault: Option<Fault>,
) -> io::Result<()> {
    match fault {
        Some(Fault::Drop) => Ok(()),
        Some(Fault::Full) => Err(Errno::ENOSPC.into()),
        Some(Fault::Error) => Err(Errno::EIO.into()),
        Some(Fault::Flip) => {
            let mut bytes = bytes.to_vec();
            flip(&mut bytes);
            file.write_all_at(&bytes, offset)
        }
        Some(Fault::Misdirect) => file.write_all_at(bytes, neighbour(file, offset, bytes.len())?),
        Some(Fault::Tear) => file.write_all_at(&bytes[..torn(bytes.len())], offset),
        _ => file.write_all_at(bytes, offset),
    }
}

/// Half of `length`, rounded down to whole sectors.
const fn torn(length: usize) -> usize {
    length / 2 / SECTOR_BYTES * SECTOR_BYTES
}

fn flip(bytes: &mut [u8]) {
    let middle = bytes.len() / 2;
    if let Some(byte) = bytes.get_mut(middle) {
        *byte ^= 8;
    }
}

/// The offset of the block of `length` bytes after `offset`, or before it at the end of the file;
/// beyond the end if the file has no other block.
fn neighbour(file: &File, offset: u64, length: usize) -> io::Result<u64> {
    let length = length as u64;
    let behind = offset + length;
    let is_behind = behind + length <= file.metadata()?.len() || offset < length;
    Ok(if is_behind { behind } else { offset - length })
}

/// Number of bytes that the file has from `offset` on.
fn there(file: &File, offset: u64) -> io::Result<usize> {
    let bytes = file.metadata()?.len().saturating_sub(offset);
    Ok(usize::try_from(bytes).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, OpenOptions};
    use std::path::PathBuf;

    use super::{Fault, read, write};

    fn scratch(name: &str) -> (PathBuf, File) {
        let name = format!("plimsoll-transfer-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, [7; 8_192]).unwrap();
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).open(&path).unwrap();
        (path, file)
    }

    #[test]
    fn each_fault_of_a_write_leaves_what_it_says() {
        let (path, file) = scratch("write");
        let after = |fault| {
            write(&file, 0, &[7; 8_192], None).unwrap();
            write(&file, 0, &[9; 4_096], Some(fault)).unwrap();
            fs::read(&path).unwrap()
        };
        let first = |bytes: &[u8]| bytes.iter().take_while(|byte| **byte == 9).count();
        assert_eq!(first(&after(Fault::Drop)), 0);
        assert_eq!(first(&after(Fault::Tear)), 2_048);
        assert_eq!(first(&after(Fault::Flip)), 2_048);
        let misdirected = after(Fault::Misdirect);
        assert_eq!((misdirected[0], misdirected[4_096]), (7, 9));
        let full = write(&file, 0, &[9], Some(Fault::Full)).unwrap_err();
        assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn each_fault_of_a_read_gives_what_it_says() {
        let (path, file) = scratch("read");
        write(&file, 4_096, &[9; 4_096], None).unwrap();
        let give = |fault| read(&file, 0, 4_096, fault).unwrap();
        assert_eq!(give(None), [7; 4_096]);
        assert_eq!(give(Some(Fault::Drop)), [0; 4_096]);
        assert_eq!(give(Some(Fault::Misdirect)), [9; 4_096]);
        let torn = give(Some(Fault::Tear));
        assert_eq!((torn[2_047], torn[2_048]), (7, 0));
        let changed = |bytes: Vec<u8>| bytes.iter().filter(|byte| **byte != 7).count();
        assert_eq!(changed(give(Some(Fault::Flip))), 1);
        assert_eq!(read(&file, 8_000, 4_096, None).unwrap().len(), 192);
        read(&file, 0, 1, Some(Fault::Error)).unwrap_err();
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_request_for_a_whole_file_goes_astray_too() {
        let (path, file) = scratch("whole");
        let astray = Some(Fault::Misdirect);
        assert_eq!(read(&file, 0, 8_192, astray).unwrap(), [0; 8_192]);
        write(&file, 0, &[9; 8_192], astray).unwrap();
        let bytes = fs::read(&path).unwrap();
        assert_eq!((bytes[0], bytes[8_191], bytes[8_192]), (7, 7, 9));
        fs::remove_file(path).unwrap();
    }
}
