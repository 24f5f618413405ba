//! Turns a command descriptor block into an answer, or into work once its data has arrived.

use super::pages::{self, MOST_BYTES, MOST_FILL, MOST_RANGES};
use super::{ScsiWork, Sense, ServedDisk};

/// Bytes of the parameters of PERSISTENT RESERVE OUT.
pub(crate) const RESERVE_BYTES: usize = 24;

/// How to perform a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CommandPlan {
    /// Data for the initiator, and the maximum number of its bytes to send.
    Answer(Vec<u8>, usize),
    /// Work that needs no data from the initiator.
    Do(ScsiWork),
    /// Work that needs this many bytes from the initiator.
    Take(usize),
    /// A query of persistent reservations, and the maximum length of the answer in bytes.
    Reservations(u8, usize),
    /// An SPC-2 RESERVE.
    Reserve,
    /// An SPC-2 RELEASE.
    Release,
}

/// A transfer: first block and number of blocks.
type BlockExtent = (u64, u64);

/// A big-endian number.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn extent(cdb: &[u8; 16]) -> BlockExtent {
    match cdb[0] >> 5 {
        0 => {
            let blocks = if cdb[4] == 0 { 256 } else { u64::from(cdb[4]) };
            (number(&cdb[1..4]) & 0x1f_ffff, blocks)
        }
        1 | 2 => (number(&cdb[2..6]), number(&cdb[7..9])),
        5 => (number(&cdb[2..6]), number(&cdb[6..10])),
        _ => (number(&cdb[2..10]), number(&cdb[10..14])),
    }
}

fn checked(disk: &ServedDisk, extent: BlockExtent, most: u64) -> Result<BlockExtent, Sense> {
    let (first, blocks) = extent;
    if first.checked_add(blocks).is_none_or(|end| end > disk.blocks) {
        return Err(Sense::OUT_OF_RANGE);
    }
    if disk.bytes(blocks) > most {
        return Err(Sense::INVALID_FIELD);
    }
    Ok(extent)
}

/// Decodes `cdb` for the disk; fails if it is invalid or not supported.
pub(crate) fn plan(disk: &ServedDisk, lun: u8, cdb: &[u8; 16]) -> Result<CommandPlan, Sense> {
    let is_change = matches!(cdb[0], 0x0a | 0x2a | 0x41 | 0x42 | 0x89 | 0x8a | 0x93 | 0xaa);
    if is_change && disk.is_read_only {
        return Err(Sense::WRITE_PROTECTED);
    }
    // Neither protection information nor anchored blocks are supported.
    let is_long = matches!(cdb[0], 0x28 | 0x2a | 0x41 | 0x88..=0x8a | 0x93 | 0xa8 | 0xaa);
    let is_anchored = matches!(cdb[0], 0x41 | 0x93) && cdb[1] & 0x10 != 0;
    if is_anchored || (is_long && cdb[1] >> 5 != 0) {
        return Err(Sense::INVALID_FIELD);
    }
    match cdb[0] {
        0x00 | 0x1b => Ok(CommandPlan::Answer(Vec::new(), 0)), // Ready; start and stop.
        0x03 => Ok(CommandPlan::Answer(Sense::NOTHING.encode().to_vec(), usize::from(cdb[4]))),
        0x12 => {
            let page = (cdb[1] & 1 != 0).then_some(cdb[2]);
            if page.is_none() && cdb[2] != 0 {
                return Err(Sense::INVALID_FIELD);
            }
            Ok(CommandPlan::Answer(pages::inquiry(disk, page)?, index(number(&cdb[3..5]))))
        }
        0x1a => Ok(CommandPlan::Answer(mode(disk, cdb, false)?, usize::from(cdb[4]))),
        0x5a => Ok(CommandPlan::Answer(mode(disk, cdb, true)?, index(number(&cdb[7..9])))),
        0x25 => Ok(CommandPlan::Answer(pages::capacity_10(disk), 8)),
        0x9e if cdb[1] & 0x1f == 0x10 => {
            Ok(CommandPlan::Answer(pages::capacity_16(disk), index(number(&cdb[10..14]))))
        }
        0x9e if cdb[1] & 0x1f == 0x12 => {
            let first = number(&cdb[2..10]);
            checked(disk, (first, 1), u64::MAX)?;
            let answer = pages::mapped(disk, first);
            Ok(CommandPlan::Answer(answer, index(number(&cdb[10..14]))))
        }
        0xa0 => Ok(CommandPlan::Answer(pages::report_luns(lun), index(number(&cdb[6..10])))),
        0x16 | 0x56 => Ok(CommandPlan::Reserve),
        0x17 | 0x57 => Ok(CommandPlan::Release),
        0x5e => Ok(CommandPlan::Reservations(cdb[1] & 0x1f, index(number(&cdb[7..9])))),
        0x5f if index(number(&cdb[5..9])) != RESERVE_BYTES => Err(Sense::PARAMETER_LENGTH),
        0x5f => Ok(CommandPlan::Take(RESERVE_BYTES)),
        _ => transfer(disk, cdb),
    }
}

fn mode(disk: &ServedDisk, cdb: &[u8; 16], is_long: bool) -> Result<Vec<u8>, Sense> {
    // No setting can be changed, and none is saved.
    match cdb[2] >> 6 {
        0 | 2 => pages::mode_sense(disk, cdb[2] & 0x3f, is_long),
        1 => {
            let mut answer = pages::mode_sense(disk, cdb[2] & 0x3f, is_long)?;
            let head = if is_long { 8 } else { 4 };
            if cdb[2] & 0x3f != 0x3f {
                answer[head + 2..].fill(0);
            }
            Ok(answer)
        }
        _ => Err(Sense::INVALID_FIELD),
    }
}

fn transfer(disk: &ServedDisk, cdb: &[u8; 16]) -> Result<CommandPlan, Sense> {
    match cdb[0] {
        0x08 | 0x28 | 0x88 | 0xa8 => {
            let (first, blocks) = checked(disk, extent(cdb), MOST_BYTES)?;
            if blocks == 0 {
                return Ok(CommandPlan::Answer(Vec::new(), 0));
            }
            let (offset, length) = (disk.bytes(first), index(disk.bytes(blocks)));
            Ok(CommandPlan::Do(ScsiWork::Read { offset, length }))
        }
        0x0a | 0x2a | 0x8a | 0xaa => {
            let (_, blocks) = checked(disk, extent(cdb), MOST_BYTES)?;
            Ok(CommandPlan::Take(index(disk.bytes(blocks))))
        }
        0x35 | 0x91 => {
            checked(disk, extent(cdb), u64::MAX).map(|_| CommandPlan::Do(ScsiWork::Flush))
        }
        0x41 | 0x93 => {
            let (_, blocks) = checked(disk, extent(cdb), MOST_FILL)?;
            let is_zero = cdb[0] == 0x93 && cdb[1] & 1 != 0;
            match (blocks, is_zero) {
                (0, _) => Err(Sense::INVALID_FIELD),
                (_, true) => work(disk, cdb, vec![0; index(disk.bytes(1))]).map(CommandPlan::Do),
                (_, false) => Ok(CommandPlan::Take(index(disk.bytes(1)))),
            }
        }
        0x42 => Ok(CommandPlan::Take(index(number(&cdb[7..9])))),
        0x89 => {
            let blocks = u64::from(cdb[13]);
            checked(disk, (number(&cdb[2..10]), blocks), disk.bytes(1))?;
            Ok(CommandPlan::Take(index(disk.bytes(2 * blocks))))
        }
        _ => Err(Sense::UNKNOWN_COMMAND),
    }
}

/// `true` for a plain write: if its data is incomplete, the blocks that arrived are written.
pub(crate) fn is_plain_write(cdb: &[u8; 16]) -> bool {
    matches!(cdb[0], 0x0a | 0x2a | 0x8a | 0xaa)
}

/// Why a command that needs `wanted` bytes cannot use the `offered` ones: a pattern or comparison
/// of a different length would mean something else.
pub(crate) fn size_fault(cdb: &[u8; 16], wanted: usize, offered: usize) -> Option<Sense> {
    match cdb[0] {
        // 256 blocks arrive as 0 blocks with data.
        0x89 if offered != wanted => Some(Sense::INVALID_FIELD),
        0x41 | 0x93 if offered != wanted => Some(Sense::PARAMETER_LENGTH),
        _ => None,
    }
}

/// The work of a command whose data has arrived. [`plan`] has accepted it.
pub(crate) fn work(disk: &ServedDisk, cdb: &[u8; 16], data: Vec<u8>) -> Result<ScsiWork, Sense> {
    let (first, blocks) = extent(cdb);
    let (offset, length) = (disk.bytes(first), disk.bytes(blocks));
    match cdb[0] {
        // Unmapped blocks may keep any content, so the block is written even with UNMAP.
        0x41 | 0x93 => Ok(ScsiWork::Fill { offset, length, block: data }),
        0x42 => unmap(disk, &data),
        0x89 => {
            let (compare, write) = data.split_at(data.len() / 2);
            let offset = disk.bytes(number(&cdb[2..10]));
            Ok(ScsiWork::CompareAndWrite {
                offset,
                compare: compare.to_vec(),
                write: write.to_vec(),
            })
        }
        _ => {
            let is_durable = cdb[0] != 0x0a && cdb[1] & 0x08 != 0;
            Ok(ScsiWork::Write { offset, data, is_durable })
        }
    }
}

fn unmap(disk: &ServedDisk, list: &[u8]) -> Result<ScsiWork, Sense> {
    if list.is_empty() {
        return Ok(ScsiWork::Unmap(Vec::new()));
    }
    let head = list.get(..8).ok_or(Sense::PARAMETER_LENGTH)?;
    let length = index(number(&head[2..4])).min(list.len() - 8);
    let ranges = list[8..8 + length].chunks_exact(16);
    if ranges.len() > MOST_RANGES {
        return Err(Sense::INVALID_PARAMETER);
    }
    ranges
        .map(|bytes| {
            let extent = (number(&bytes[..8]), number(&bytes[8..12]));
            let (first, blocks) = checked(disk, extent, u64::MAX)?;
            Ok((disk.bytes(first), disk.bytes(blocks)))
        })
        .collect::<Result<_, _>>()
        .map(ScsiWork::Unmap)
}
