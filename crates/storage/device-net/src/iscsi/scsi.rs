//! Commands of SCSI disks and their answers (SPC-4, SBC-3), limited to those that a load and an
//! inspection need.

/// A command descriptor block.
pub(crate) type CommandBlock = [u8; 16];

/// Maximum size of an answer, in bytes.
pub(crate) const ANSWER_BYTES: u32 = 255;

/// Identity that a logical unit reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LunIdentity {
    /// Its maker.
    pub vendor: String,
    /// Its product name.
    pub product: String,
    /// Revision of its firmware.
    pub revision: String,
    /// Unique number, in hexadecimal or as text, if it has one.
    pub serial: Option<String>,
    /// 0 for disks.
    pub(crate) kind: u8,
    /// Maximum transfer in blocks; 0 means no limit.
    pub(crate) most_blocks: u32,
}

/// Size of a logical unit, and its block sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LunCapacity {
    /// Blocks.
    pub blocks: u64,
    /// Bytes of a block.
    pub block_bytes: u32,
    /// Unit that the medium writes, in bytes.
    pub physical_bytes: u32,
    /// Whether it is thin-provisioned.
    pub is_thin: bool,
}

/// A logical unit's report on its caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LunCaching {
    /// Whether writes are answered from a cache; `None` if not reported.
    pub write_cache: Option<bool>,
    /// Whether reads are answered from a cache; `None` if not reported.
    pub read_cache: Option<bool>,
    /// Whether it rejects writes.
    pub is_write_protected: bool,
    /// Whether it supports durable writes (force unit access).
    pub has_durable_writes: bool,
}

impl LunCapacity {
    /// All of it in bytes.
    pub const fn bytes(self) -> u64 {
        self.blocks.saturating_mul(self.block_bytes as u64)
    }
}

pub(crate) const fn test_unit_ready() -> CommandBlock {
    [0; 16]
}

/// Requests the standard page, or one of vital product data.
pub(crate) fn inquiry(page: Option<u8>) -> CommandBlock {
    block(&[0x12, u8::from(page.is_some()), page.unwrap_or(0), 0, 255])
}

/// Requests the caching page, without block descriptors.
pub(crate) fn mode_sense_6() -> CommandBlock {
    block(&[0x1a, 0x08, 0x08, 0, 255])
}

/// The same in the longer form.
pub(crate) fn mode_sense_10() -> CommandBlock {
    block(&[0x5a, 0x08, 0x08, 0, 0, 0, 0, 0, 255])
}

pub(crate) fn read_capacity_16() -> CommandBlock {
    block(&[0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32])
}

pub(crate) fn report_luns() -> CommandBlock {
    let mut bytes = block(&[0xa0]);
    bytes[6..10].copy_from_slice(&REPORT_BYTES.to_be_bytes());
    bytes
}

/// Space for the list of logical units, in bytes.
pub(crate) const REPORT_BYTES: u32 = 8 << 10;

/// Makes every completed write durable.
pub(crate) fn synchronize_cache() -> CommandBlock {
    block(&[0x35])
}

/// A read or write of `blocks` blocks.
pub(crate) fn transfer(is_write: bool, is_durable: bool, first: u64, blocks: u32) -> CommandBlock {
    let mut bytes = block(&[if is_write { 0x8a } else { 0x88 }, u8::from(is_durable) << 3]);
    bytes[2..10].copy_from_slice(&first.to_be_bytes());
    bytes[10..14].copy_from_slice(&blocks.to_be_bytes());
    bytes
}

fn block(begin: &[u8]) -> CommandBlock {
    let mut bytes = [0; 16];
    bytes[..begin.len()].copy_from_slice(begin);
    bytes
}

/// Parses the answer to the standard inquiry; `None` if it is empty, or if there is no unit with
/// this number.
pub(crate) fn identity(answer: &[u8]) -> Option<LunIdentity> {
    let is_there = answer.first()? >> 5 == 0;
    is_there.then(|| LunIdentity {
        vendor: printable(answer.get(8..16).unwrap_or_default()),
        product: printable(answer.get(16..32).unwrap_or_default()),
        revision: printable(answer.get(32..36).unwrap_or_default()),
        serial: None,
        kind: answer[0] & 0x1f,
        most_blocks: 0,
    })
}

/// Text without terminal control characters.
fn printable(bytes: &[u8]) -> String {
    let text: String = bytes
        .iter()
        .map(|&byte| if byte.is_ascii_graphic() { char::from(byte) } else { ' ' })
        .collect();
    text.trim().to_owned()
}

/// The serial number of page 80h.
pub(crate) fn serial(page: &[u8]) -> Option<String> {
    let text = printable(vital(page, 0x80)?);
    (!text.is_empty()).then_some(text)
}

/// The maximum transfer in blocks from page B0h; 0 if there is no limit.
pub(crate) fn most_blocks(page: &[u8]) -> u32 {
    let limits = vital(page, 0xb0).unwrap_or_default();
    be32(limits, 4).unwrap_or(0)
}

/// Contents of a page of vital product data with that number.
fn vital(page: &[u8], number: u8) -> Option<&[u8]> {
    let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    (page[1] == number).then(|| &page[4..page.len().min(4 + length)])
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

/// Parses the answer to READ CAPACITY; `None` if it is too short, or its block size is not a power
/// of two from 512 bytes to 1 MiB.
pub(crate) fn capacity(answer: &[u8]) -> Option<LunCapacity> {
    let last = u64::from_be_bytes(answer.get(..8)?.try_into().ok()?);
    let block_bytes = be32(answer, 8)?;
    let exponent = answer.get(13).map_or(0, |byte| byte & 0x0f);
    let is_sensible = block_bytes.is_power_of_two() && (512..=1 << 20).contains(&block_bytes);
    is_sensible.then(|| LunCapacity {
        blocks: last.saturating_add(1),
        block_bytes,
        physical_bytes: block_bytes << exponent.min(10),
        is_thin: answer.get(14).is_some_and(|byte| byte & 0x80 != 0),
    })
}

/// Parses the answer to MODE SENSE, with a header of 4 or 8 bytes.
pub(crate) fn caching(answer: &[u8], head_bytes: usize) -> Option<LunCaching> {
    let (device, descriptors) = if head_bytes == 4 {
        (*answer.get(2)?, usize::from(*answer.get(3)?))
    } else {
        let length = u16::from_be_bytes([*answer.get(6)?, *answer.get(7)?]);
        (*answer.get(3)?, usize::from(length))
    };
    let page = answer.get(head_bytes + descriptors..).unwrap_or_default();
    let flags = page.first().filter(|&&code| code & 0x3f == 0x08).and_then(|_| page.get(2));
    Some(LunCaching {
        write_cache: flags.map(|flags| flags & 0x04 != 0),
        read_cache: flags.map(|flags| flags & 0x01 == 0),
        is_write_protected: device & 0x80 != 0,
        has_durable_writes: device & 0x10 != 0,
    })
}

/// Parses the answer to REPORT LUNS: the units that are addressed by a single number.
pub(crate) fn luns(answer: &[u8]) -> Vec<u64> {
    let length = be32(answer, 0).unwrap_or(0) as usize;
    let entries = answer.get(8..).unwrap_or_default();
    entries[..entries.len().min(length)]
        .chunks_exact(8)
        .map(|entry| match entry[0] >> 6 {
            0 => u64::from(entry[1]),
            _ => u64::from(entry[0] & 0x3f) << 8 | u64::from(entry[1]),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{LunCaching, caching, capacity, identity, luns, most_blocks, serial, transfer};

    #[test]
    fn transfers_are_those_of_sbc() {
        let write = transfer(true, true, 0x0102_0304_0506_0708, 0x11);
        assert_eq!(write, [0x8a, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0x11, 0, 0]);
        assert_eq!(transfer(false, false, 0, 1)[..2], [0x88, 0]);
    }

    #[test]
    fn answers_are_read_and_short_ones_are_not() {
        let mut answer = [0; 32];
        answer[7] = 9;
        answer[10] = 2;
        (answer[13], answer[14]) = (3, 0x80);
        let read = capacity(&answer).unwrap();
        assert_eq!((read.blocks, read.bytes(), read.physical_bytes), (10, 5_120, 4_096));
        assert!(read.is_thin);
        assert_eq!(capacity(&answer[..11]), None);
        answer[10] = 0;
        assert_eq!(capacity(&answer), None, "blocks of no bytes");

        let mut standard = [b' '; 36];
        standard[0] = 0;
        standard[8..11].copy_from_slice(b"IET");
        standard[16..18].copy_from_slice(b"V\x1b");
        let read = identity(&standard).unwrap();
        assert_eq!((read.vendor.as_str(), read.product.as_str()), ("IET", "V"));
        standard[0] = 0x7f;
        assert_eq!(identity(&standard), None, "nothing is there");

        assert_eq!(serial(b"\0\x80\0\x04ab  tail").unwrap(), "ab");
        assert_eq!(serial(b"\0\x83\0\x04abcd"), None);
        assert_eq!(most_blocks(&[0, 0xb0, 0, 8, 0, 0, 0, 0, 0, 0, 8, 0]), 2_048);
        assert_eq!(most_blocks(&[]), 0);
        let report = [0, 0, 0, 16, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0x41, 2, 0, 0, 0, 0, 0, 0];
        assert_eq!(luns(&report), [3, 258]);
    }

    #[test]
    fn the_page_on_caching_is_found_behind_either_header() {
        let page = [0x88, 0x12, 0x05];
        let short = [&[0, 0, 0x90, 0][..], &page].concat();
        let long = [&[0, 0, 0, 0x90, 0, 0, 0, 2, 9, 9][..], &page].concat();
        let wanted = LunCaching {
            write_cache: Some(true),
            read_cache: Some(false),
            is_write_protected: true,
            has_durable_writes: true,
        };
        assert_eq!([caching(&short, 4), caching(&long, 8)], [Some(wanted); 2]);
        let none = caching(&[0, 0, 0, 0], 4).unwrap();
        assert_eq!(none, LunCaching::default());
    }
}
