//! The first block of a volume: the device's owner and layout. Written once.

use twox_hash::XxHash3_64;

use super::UNIT;
use super::directory::DATA_BEGIN;
use crate::{ALIGNMENT, Buffer};

const MAGIC: &[u8; 8] = b"PLIMSVOL";
const VERSION: u32 = 1;

/// Offset of the checksum over all bytes before it.
const CHECKSUM_AT: usize = ALIGNMENT - 8;

/// Minimum size of a device to format: room for a small database.
pub(super) const LEAST_BYTES: u64 = 64 << 20;

/// Contents of the first block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Superblock {
    /// Unique id of this volume; its directories repeat it.
    pub identity: [u8; 16],
    /// Number of units after [`DATA_BEGIN`].
    pub units: u32,
}

/// Why a first block cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SuperblockError {
    /// It is not the first block of a volume.
    NotOurs,
    /// It is the first block of a volume, but its checksum is wrong.
    Damaged,
    /// Its layout is unknown to this release.
    Version(u32),
}

impl Superblock {
    /// The superblock of a device of `device_bytes` bytes.
    pub(super) fn of(identity: [u8; 16], device_bytes: u64) -> Self {
        let units = device_bytes.saturating_sub(DATA_BEGIN) / UNIT;
        Self { identity, units: u32::try_from(units).unwrap_or(u32::MAX) }
    }

    /// Minimum size of the device in bytes.
    pub(super) const fn bytes(self) -> u64 {
        DATA_BEGIN + self.units as u64 * UNIT
    }

    /// Magic, version, units, identity, zeros, checksum: 4 KiB, integers little-endian.
    pub(super) fn encode(self) -> Buffer {
        let mut block = Buffer::zeroed(ALIGNMENT);
        block[..8].copy_from_slice(MAGIC);
        block[8..12].copy_from_slice(&VERSION.to_le_bytes());
        block[12..16].copy_from_slice(&self.units.to_le_bytes());
        block[16..32].copy_from_slice(&self.identity);
        let checksum = XxHash3_64::oneshot(&block[..CHECKSUM_AT]);
        block[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        block
    }

    /// Parses the 4 KiB `block`.
    pub(super) fn decode(block: &[u8]) -> Result<Self, SuperblockError> {
        if block.first_chunk() != Some(MAGIC) || block.len() != ALIGNMENT {
            return Err(SuperblockError::NotOurs);
        }
        if XxHash3_64::oneshot(&block[..CHECKSUM_AT]).to_le_bytes() != block[CHECKSUM_AT..] {
            return Err(SuperblockError::Damaged);
        }
        let identity = *block[16..].first_chunk().expect("invariant: inside the block");
        match number(block, 8) {
            VERSION => Ok(Self { identity, units: number(block, 12) }),
            version => Err(SuperblockError::Version(version)),
        }
    }
}

fn number(block: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*block[at..].first_chunk().expect("invariant: inside the block"))
}

#[cfg(test)]
mod tests {
    use twox_hash::XxHash3_64;

    use super::{Superblock, SuperblockError};

    #[test]
    fn every_flipped_bit_is_noticed() {
        let block = Superblock::of([7; 16], 100 << 20);
        assert_eq!(block.units, 91);
        let bytes = block.encode();
        assert_eq!(Superblock::decode(&bytes), Ok(block));
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let expected =
                if bit < 64 { SuperblockError::NotOurs } else { SuperblockError::Damaged };
            assert_eq!(Superblock::decode(&flipped), Err(expected), "bit {bit}");
        }
    }

    #[test]
    fn a_later_layout_is_told_from_damage() {
        let mut block = Superblock::of([7; 16], 100 << 20).encode();
        block[8] = 2;
        let checksum = XxHash3_64::oneshot(&block[..4_088]);
        block[4_088..].copy_from_slice(&checksum.to_le_bytes());
        assert_eq!(Superblock::decode(&block), Err(SuperblockError::Version(2)));
    }
}
