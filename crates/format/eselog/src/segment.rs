//! One segment of a log file: whether it was written, belongs here and is whole.
//!
//! A segment is 4 KiB behind a header of 40 bytes, under the checksum of a database page with the
//! segment's index in place of the page number. The segment behind the last one may be a copy of
//! it, its *shadow*: an engine writes a partly filled segment twice, so that the write which later
//! fills it cannot tear the only copy.

use ese::Lgpos;
use ese::checksum::{PageVerdict, verify};
use units::{Generation, PageNumber};

use crate::bytes::{array, u64_at};

/// Bytes of every segment of format 8.
pub(crate) const SEGMENT_BYTES: usize = 4096;
/// Bytes in front of a segment's records.
pub(crate) const SEGMENT_HEADER_BYTES: usize = 40;
/// Offset in a segment of the place that it states.
const PLACE: usize = 8;

/// The condition of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SegmentState {
    /// Intact.
    Good,
    /// One bit has flipped since; it can be turned back.
    Flipped { bit: u32 },
    /// Nothing was ever written here.
    Unwritten,
    /// Sound, but of an earlier use of the file, or the shadow of the segment before.
    Stale,
    /// Sound, but states a later place: a misdirected write.
    Misplaced(Lgpos),
    /// Neither: torn or damaged.
    Bad,
}

/// The checksum that a segment states.
pub(crate) fn stored_checksum(segment: &[u8]) -> u64 {
    u64_at(segment, 0).unwrap_or_default()
}

/// Judges the segment that was read from `index` of generation `generation`.
pub(crate) fn judge(segment: &[u8], generation: Generation, index: u16) -> SegmentState {
    let first = segment.first().copied().unwrap_or_default();
    if segment.iter().all(|byte| *byte == first) {
        return SegmentState::Unwritten;
    }
    match verify(segment, PageNumber(u32::from(index))) {
        PageVerdict::Good => at_its_place(segment, generation, index, SegmentState::Good),
        PageVerdict::Correctable { bits } if bits.len() == 1 => {
            let corrected = corrected(segment, index);
            at_its_place(&corrected, generation, index, SegmentState::Flipped { bit: bits[0] })
        }
        verdict if let Some(bit) = checksum_bit(&verdict, segment, index) => {
            at_its_place(segment, generation, index, SegmentState::Flipped { bit })
        }
        _ if is_shadow(segment, index) => SegmentState::Stale,
        _ => SegmentState::Bad,
    }
}

/// The segment with its flipped bit corrected; unchanged if none has flipped.
pub(crate) fn corrected(segment: &[u8], index: u16) -> Vec<u8> {
    let mut bytes = segment.to_vec();
    let verdict = verify(segment, PageNumber(u32::from(index)));
    let in_data = match &verdict {
        PageVerdict::Correctable { bits } if bits.len() == 1 => bits.first().copied(),
        _ => None,
    };
    if let Some(bit) = in_data.or_else(|| checksum_bit(&verdict, segment, index)) {
        bytes[bit as usize / 8] ^= 1 << (bit % 8);
    }
    bytes
}

/// The one bit that has flipped in the checksum itself, which engines do not correct in pages. In
/// the half that holds the number it looks like a segment from elsewhere, but states its place.
fn checksum_bit(verdict: &PageVerdict, segment: &[u8], index: u16) -> Option<u32> {
    match verdict {
        PageVerdict::FlippedChecksum { bit } => Some(*bit),
        PageVerdict::WrongPage { really } if stated_place(segment).segment == index => {
            let difference = really.0 ^ u32::from(index);
            difference.is_power_of_two().then(|| difference.trailing_zeros())
        }
        _ => None,
    }
}

/// Whether the bytes are a sound copy of the segment before `index`, whose place they state.
pub(crate) fn is_shadow(segment: &[u8], index: u16) -> bool {
    let Some(before) = index.checked_sub(1) else {
        return false;
    };
    let is_sound = verify(segment, PageNumber(u32::from(before))) == PageVerdict::Good;
    is_sound && stated_place(segment).segment == before
}

/// The place that a segment states.
pub(crate) fn stated_place(segment: &[u8]) -> Lgpos {
    array(segment, PLACE).map_or(Lgpos::NONE, Lgpos::decode)
}

fn at_its_place(
    segment: &[u8],
    generation: Generation,
    index: u16,
    state: SegmentState,
) -> SegmentState {
    let stated = stated_place(segment);
    let here = Lgpos { generation, segment: index, byte: 0 };
    match stated.cmp(&here) {
        std::cmp::Ordering::Equal => state,
        std::cmp::Ordering::Less => SegmentState::Stale,
        std::cmp::Ordering::Greater => SegmentState::Misplaced(stated),
    }
}
