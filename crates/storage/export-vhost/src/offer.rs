//! A volume's properties that a guest sees before its first request.

use crate::numbers::{SECTOR, SERIAL_BYTES, feature};

/// Bytes of the configuration that the features below define.
const CONFIGURATION_BYTES: usize = 60;

/// Maximum number of segments of a request's data in guest memory.
const MOST_SEGMENTS: u32 = 126;

/// Maximum number of sectors in one discard or write-zeroes request: 2 GiB.
const MOST_CLEARED_SECTORS: u32 = 1 << 22;

/// Maximum number of rings per device; guests use at most one per processor.
pub(crate) const MOST_RINGS: u16 = 16;

/// A volume as a guest sees it.
#[derive(Clone, Debug)]
pub struct BlockOffer {
    /// Serial number for the guest, which reads 20 bytes of it.
    pub serial: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its logical block size, in bytes.
    pub sector: u32,
    /// Preferred size of requests, in bytes.
    pub preferred_block: u32,
    /// `true` if writes are refused.
    pub is_read_only: bool,
}

impl BlockOffer {
    /// The feature bits of virtio that the device offers.
    pub(crate) const fn features(&self) -> u64 {
        let all = feature::MOST_SEGMENTS
            | feature::BLOCK_SIZE
            | feature::FLUSH
            | feature::TOPOLOGY
            | feature::MULTIPLE_RINGS
            | feature::INDIRECT_DESCRIPTORS
            | feature::EVENT_INDEX
            | feature::VERSION_1;
        if self.is_read_only {
            all | feature::READ_ONLY
        } else {
            all | feature::DISCARD | feature::WRITE_ZEROES
        }
    }

    /// `size` bytes of the configuration at `offset`; zeros beyond its end.
    pub(crate) fn configuration(&self, offset: u32, size: u32) -> Vec<u8> {
        let whole = self.whole_configuration();
        let from = whole.len().min(offset as usize);
        let mut part = whole[from..].to_vec();
        part.resize(size as usize, 0);
        part
    }

    /// `struct virtio_blk_config` of the standard; fields that no feature above defines are zero.
    fn whole_configuration(&self) -> [u8; CONFIGURATION_BYTES] {
        let mut fields = [0; CONFIGURATION_BYTES];
        fields[..8].copy_from_slice(&(self.bytes / u64::from(SECTOR)).to_le_bytes());
        let blocks = self.preferred_block / self.sector.max(1);
        let rings = u32::from(MOST_RINGS) << 16;
        // Discards and zeros: sectors, ranges of one request, alignment, whether they may unmap.
        let aligned = self.sector / SECTOR;
        for (at, value) in [
            (12, MOST_SEGMENTS),
            (20, self.sector),
            (28, blocks),
            (32, rings),
            (36, MOST_CLEARED_SECTORS),
            (40, 1),
            (44, aligned),
            (48, MOST_CLEARED_SECTORS),
            (52, 1),
            (56, 1),
        ] {
            fields[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        fields
    }

    /// The device's serial number as the guest reads it.
    pub(crate) fn serial_bytes(&self) -> [u8; SERIAL_BYTES] {
        let mut told = [0; SERIAL_BYTES];
        let bytes = self.serial.as_bytes();
        let length = bytes.len().min(SERIAL_BYTES);
        told[..length].copy_from_slice(&bytes[..length]);
        told
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockOffer, feature};

    #[test]
    fn a_guest_reads_any_part_of_the_configuration() {
        let offer = BlockOffer {
            serial: "mail".to_owned(),
            bytes: 1 << 30,
            sector: 4096,
            preferred_block: 32 << 10,
            is_read_only: false,
        };
        assert_eq!(offer.configuration(0, 8), (1_u64 << 21).to_le_bytes());
        assert_eq!(offer.configuration(20, 4), 4096_u32.to_le_bytes());
        assert_eq!(offer.configuration(28, 4), 8_u32.to_le_bytes());
        assert_eq!(offer.configuration(58, 4), [0; 4]);
        assert_eq!(offer.configuration(4_000, 3), [0; 3]);
        assert_eq!(offer.serial_bytes()[..5], *b"mail\0");
        let read_only = BlockOffer { is_read_only: true, ..offer.clone() };
        let changed = feature::READ_ONLY | feature::DISCARD | feature::WRITE_ZEROES;
        assert_eq!(read_only.features() ^ offer.features(), changed);
    }
}
