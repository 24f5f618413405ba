//! Frames of a file that holds an image: records that become durable together, with a checksum.
//!
//! Frames begin at multiples of [`FRAME_ALIGNMENT`]. Each states how far the file was durable when
//! it was written, so that a reader can distinguish a torn end, which power failures cause, from
//! damage in the middle, after which a copy must not be trusted.

use twox_hash::XxHash3_64;

use super::fields::Decoder;
use super::flash::FlashRecord;

/// Frames begin at multiples of this, in bytes.
pub const FRAME_ALIGNMENT: usize = 4_096;

/// Magic number, bytes of the payload, durable bytes, checksum.
const HEAD: usize = 32;

const MAGIC: u64 = 0x314d_5246_524d_4c50;

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHead {
    /// Bytes of the frame with its head and padding.
    pub length: u64,
    /// Everything before this offset was durable when the frame was written.
    pub durable_to: u64,
    payload: usize,
    checksum: u64,
}

impl FrameHead {
    /// The head at the beginning of `bytes`; `None` if no frame begins there.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Decoder(bytes);
        if from.word()? != MAGIC {
            return None;
        }
        let payload = from.number()?;
        let length = payload.checked_add(HEAD)?.checked_next_multiple_of(FRAME_ALIGNMENT)?;
        let (durable_to, checksum) = (from.word()?, from.word()?);
        Some(Self { length: length as u64, durable_to, payload, checksum })
    }

    /// The records of the whole frame `bytes`; `None` if it is torn or damaged.
    #[must_use]
    pub fn records(&self, bytes: &[u8]) -> Option<Vec<FlashRecord>> {
        let payload = bytes.get(HEAD..HEAD + self.payload)?;
        if checksum(self.durable_to, payload) != self.checksum {
            return None;
        }
        let mut from = Decoder(payload);
        let mut records = Vec::new();
        while !from.0.is_empty() {
            let length = from.number()?;
            records.push(FlashRecord::decode(from.part(length)?)?);
        }
        Some(records)
    }
}

/// Records to be written in one frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FramePayload(Vec<u8>);

impl FramePayload {
    /// Adds a record.
    pub fn push(&mut self, record: &FlashRecord) {
        let bytes = record.encode();
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(&bytes);
    }

    /// Bytes so far.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// `true` if it holds no record.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Encodes the frame for a file that is durable before offset `durable_to`.
    #[must_use]
    pub fn frame(&self, durable_to: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity((HEAD + self.0.len()).next_multiple_of(FRAME_ALIGNMENT));
        let sum = checksum(durable_to, &self.0);
        for word in [MAGIC, self.0.len() as u64, durable_to, sum] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&self.0);
        bytes.resize(bytes.len().next_multiple_of(FRAME_ALIGNMENT), 0);
        bytes
    }
}

fn checksum(durable_to: u64, payload: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(durable_to ^ payload.len() as u64, payload)
}

#[cfg(test)]
mod tests {
    use super::{FRAME_ALIGNMENT, FrameHead, FramePayload};
    use crate::codec::FlashRecord;
    use crate::image::FlashOp;

    #[test]
    fn a_frame_is_read_back_and_any_changed_byte_is_noticed() {
        let records = [FlashRecord::Op(FlashOp::Epoch(3)), FlashRecord::Op(FlashOp::EndCopy)];
        let mut payload = FramePayload::default();
        assert!(payload.is_empty());
        for record in &records {
            payload.push(record);
        }
        let bytes = payload.frame(8_192);
        assert_eq!(bytes.len(), FRAME_ALIGNMENT);
        let head = FrameHead::decode(&bytes).expect("a frame");
        assert_eq!((head.length, head.durable_to), (4_096, 8_192));
        assert_eq!(head.records(&bytes), Some(records.to_vec()));
        for at in 0..32 + payload.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let found = FrameHead::decode(&changed).and_then(|head| head.records(&changed));
            assert_eq!(found, None, "byte {at}");
        }
        assert_eq!(head.records(&bytes[..40]), None);
    }
}
