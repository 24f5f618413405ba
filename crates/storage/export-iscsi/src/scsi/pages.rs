//! The target's descriptions of the disk: INQUIRY, vital product data, capacity, mode pages.

use super::{Sense, ServedDisk};

/// Longest transfer of one command, in bytes.
pub(crate) const MOST_BYTES: u64 = 4 << 20;
/// Longest WRITE SAME, in bytes.
pub(crate) const MOST_FILL: u64 = MOST_BYTES;
/// Ranges of one UNMAP.
pub(crate) const MOST_RANGES: usize = 256;

const VENDOR: &[u8; 8] = b"PLIMSOLL";
const PRODUCT: &[u8; 16] = b"VOLUME          ";

/// The standard answer to INQUIRY, or one page of vital product data.
pub(crate) fn inquiry(disk: &ServedDisk, page: Option<u8>) -> Result<Vec<u8>, Sense> {
    let Some(page) = page else { return Ok(standard()) };
    let body = match page {
        0x00 => vec![0x00, 0x80, 0x83, 0xb0, 0xb1, 0xb2],
        0x80 => disk.serial.as_bytes().to_vec(),
        0x83 => identification(disk),
        0xb0 => limits(disk),
        // Not rotating.
        0xb1 => [&[0, 1][..], &[0; 58]].concat(),
        // UNMAP and WRITE SAME with UNMAP; unmapped blocks have undefined content; thin.
        0xb2 => vec![0, 0xe0, 0x02, 0],
        _ => return Err(Sense::INVALID_FIELD),
    };
    let length = u16::try_from(body.len()).unwrap_or(u16::MAX).to_be_bytes();
    Ok([&[0, page][..], &length, &body].concat())
}

/// The answer for a logical unit that does not exist.
pub(crate) fn no_unit() -> Vec<u8> {
    let mut answer = standard();
    answer[0] = 0x7f;
    answer
}

fn standard() -> Vec<u8> {
    // SPC-4, format 2, command queueing.
    let head = [0, 0, 0x06, 0x02, 61, 0, 0, 0x02];
    // SPC-4, SBC-3 and iSCSI.
    let versions = [0x04, 0x60, 0x04, 0xc0, 0x09, 0x60, 0, 0];
    [&head[..], VENDOR, PRODUCT, b"0001", &[0; 22], &versions].concat()
}

fn identification(disk: &ServedDisk) -> Vec<u8> {
    let name = [VENDOR.as_slice(), disk.serial.as_bytes()].concat();
    let length = u8::try_from(name.len()).unwrap_or(u8::MAX);
    // A locally assigned number, which begins with 3.
    let number = (disk.identity >> 4 | 3 << 60).to_be_bytes();
    // Both name the logical unit: NAA in binary; T10 vendor identification in ASCII.
    let (naa, vendor) = ([0x01, 0x03, 0, 8], [0x02, 0x01, 0, length]);
    // The port's number, 1, for multipath software.
    let port = [0x01, 0x14, 0, 4, 0, 0, 0, 1];
    [&naa[..], &number, &vendor, &name[..usize::from(length)], &port].concat()
}

fn limits(disk: &ServedDisk) -> Vec<u8> {
    let most = u32::try_from(MOST_BYTES / u64::from(disk.block_bytes)).unwrap_or(u32::MAX);
    let ranges = u32::try_from(MOST_RANGES).unwrap_or(u32::MAX);
    let mut page = vec![0; 60];
    // WRITE SAME needs a length; COMPARE AND WRITE takes one block.
    (page[0], page[1]) = (0x01, 1);
    let preferred = disk.preferred_bytes / disk.block_bytes;
    let granularity = u16::try_from(preferred).unwrap_or(u16::MAX);
    page[2..4].copy_from_slice(&granularity.to_be_bytes());
    page[4..8].copy_from_slice(&most.to_be_bytes());
    page[16..20].copy_from_slice(&u32::MAX.to_be_bytes());
    page[20..24].copy_from_slice(&ranges.to_be_bytes());
    let fill = MOST_FILL / u64::from(disk.block_bytes);
    page[32..40].copy_from_slice(&fill.to_be_bytes());
    page
}

pub(crate) fn capacity_10(disk: &ServedDisk) -> Vec<u8> {
    let last = u32::try_from(disk.blocks.saturating_sub(1)).unwrap_or(u32::MAX);
    [last.to_be_bytes(), disk.block_bytes.to_be_bytes()].concat()
}

pub(crate) fn capacity_16(disk: &ServedDisk) -> Vec<u8> {
    let last = disk.blocks.saturating_sub(1).to_be_bytes();
    let exponent = disk.physical_bytes.checked_div(disk.block_bytes).unwrap_or(1).max(1).ilog2();
    // Thin.
    let tail = [0, u8::try_from(exponent).unwrap_or(0), 0x80, 0];
    [&last[..], &disk.block_bytes.to_be_bytes(), &tail, &[0; 16]].concat()
}

/// Mode pages after a header of 4 or 8 bytes, without block descriptors.
pub(crate) fn mode_sense(disk: &ServedDisk, page: u8, is_long: bool) -> Result<Vec<u8>, Sense> {
    // Write-back cache, whose settings cannot be changed. Aborted commands end with a status.
    let caching = [&[0x08, 0x12, 0x04][..], &[0; 17]].concat();
    let control = [&[0x0a, 0x0a, 0x02, 0, 0, 0x40][..], &[0; 6]].concat();
    let pages = match page {
        0x08 => caching,
        0x0a => control,
        0x3f => [caching, control].concat(),
        _ => return Err(Sense::INVALID_FIELD),
    };
    // Forced unit access works.
    let device = 0x10 | if disk.is_read_only { 0x80 } else { 0 };
    let length = u8::try_from(pages.len() + 3).unwrap_or(u8::MAX);
    let head = if is_long {
        vec![0, length + 3, 0, device, 0, 0, 0, 0]
    } else {
        vec![length, 0, device, 0]
    };
    Ok([head, pages].concat())
}

/// From block `first` on every block is mapped: none is known to be free.
pub(crate) fn mapped(disk: &ServedDisk, first: u64) -> Vec<u8> {
    let blocks = u32::try_from(disk.blocks - first).unwrap_or(u32::MAX);
    [&[0, 0, 0, 20, 0, 0, 0, 0][..], &first.to_be_bytes(), &blocks.to_be_bytes(), &[0; 4]].concat()
}

/// The only logical unit is number `lun`.
pub(crate) fn report_luns(lun: u8) -> Vec<u8> {
    vec![0, 0, 0, 8, 0, 0, 0, 0, 0, lun, 0, 0, 0, 0, 0, 0]
}
