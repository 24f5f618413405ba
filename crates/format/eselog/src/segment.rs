//! One segment of a log file: whether it was written, belongs here and is whole.
//!
//! A segment is 4 KiB with a header of 40 bytes, and has the checksum of a database page with the
//! segment's index in place of the page number. The segment after the last one may be a copy of it,
//! its *shadow*: an engine writes a partly filled segment twice, so that the write which later
//! fills it cannot tear the only copy.

use ese::Lgpos;
use ese::checksum::{PageVerdict, verify};
use units::{Generation, PageNumber};

use crate::bytes::{array, u64_at};

/// Bytes of every segment of format 8.
pub(crate) const SEGMENT_BYTES: usize = 4096;
/// Bytes in front of a segment's records.
pub(crate) const SEGMENT_HEADER_BYTES: usize = 40;
/// Offset of the log position in a segment's header.
const PLACE: usize = 8;

/// A segment without records of this generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leftover {
    /// The bit that has flipped since it was written, if one has.
    pub(crate) flipped: Option<u32>,
}

/// The condition of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SegmentState {
    /// Intact.
    Good,
    /// One bit has flipped since; it can be corrected.
    Flipped { bit: u32 },
    /// After the records: never written, left from an earlier use of the file, or the shadow of
    /// the segment before it.
    Behind(Leftover),
    /// Sound, but states a later place: a misdirected write.
    Misplaced(Lgpos),
    /// None of these: torn or damaged.
    Bad,
}

/// The checksum that a segment states.
pub(crate) fn stored_checksum(segment: &[u8]) -> u64 {
    u64_at(segment, 0).unwrap_or_default()
}

/// Judges the segment that was read from `index` of generation `generation`.
pub(crate) fn judge(segment: &[u8], generation: Generation, index: u16) -> SegmentState {
    if let Some(leftover) = unwritten(segment) {
        return SegmentState::Behind(leftover);
    }
    let verdict = verify(segment, PageNumber(u32::from(index)));
    if verdict == PageVerdict::Good {
        return at_its_place(segment, generation, index, None);
    }
    if let Some(bit) = flipped_bit(&verdict, segment, index) {
        return at_its_place(&corrected(segment, index), generation, index, Some(bit));
    }
    match shadow(segment, index) {
        Some(leftover) => SegmentState::Behind(leftover),
        None => SegmentState::Bad,
    }
}

/// A segment whose bytes are all the same, as if never written, except for a flipped bit.
fn unwritten(segment: &[u8]) -> Option<Leftover> {
    let (first, second) = (segment.first()?, segment.get(1)?);
    let fill = if first == second { first } else { segment.get(2)? };
    let mut others = segment.iter().enumerate().filter(|(_, byte)| *byte != fill);
    let Some((at, byte)) = others.next() else {
        return Some(Leftover { flipped: None });
    };
    let difference = byte ^ fill;
    let bit = u32::try_from(at).ok()? * 8 + difference.trailing_zeros();
    let is_flip = difference.is_power_of_two() && others.next().is_none();
    is_flip.then_some(Leftover { flipped: Some(bit) })
}

/// Returns the segment with its flipped bit, if any, corrected.
pub(crate) fn corrected(segment: &[u8], index: u16) -> Vec<u8> {
    let mut bytes = segment.to_vec();
    let verdict = verify(segment, PageNumber(u32::from(index)));
    if let Some(bit) = flipped_bit(&verdict, segment, index) {
        bytes[bit as usize / 8] ^= 1 << (bit % 8);
    }
    bytes
}

/// The one bit that has flipped, in the records or in the checksum.
fn flipped_bit(verdict: &PageVerdict, segment: &[u8], index: u16) -> Option<u32> {
    match verdict {
        PageVerdict::Correctable { bits } if bits.len() == 1 => bits.first().copied(),
        _ => checksum_bit(verdict, segment, index),
    }
}

/// Returns the one flipped bit in the checksum itself, which engines do not correct in pages. With
/// a flip in the half that holds the number, the segment looks as if it came from elsewhere, but
/// states the right position.
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
    shadow(segment, index) == Some(Leftover { flipped: None })
}

/// A copy of the segment before `index`, sound except for a flipped bit.
fn shadow(segment: &[u8], index: u16) -> Option<Leftover> {
    let before = index.checked_sub(1)?;
    let verdict = verify(segment, PageNumber(u32::from(before)));
    let flipped = flipped_bit(&verdict, segment, before);
    let is_copy = stated_place(&corrected(segment, before)).segment == before;
    let is_sound = verdict == PageVerdict::Good || flipped.is_some();
    (is_copy && is_sound).then_some(Leftover { flipped })
}

/// The place that a segment states.
pub(crate) fn stated_place(segment: &[u8]) -> Lgpos {
    array(segment, PLACE).map_or(Lgpos::NONE, Lgpos::decode)
}

/// The state of a sound segment by the place that it states.
fn at_its_place(
    segment: &[u8],
    generation: Generation,
    index: u16,
    flipped: Option<u32>,
) -> SegmentState {
    let stated = stated_place(segment);
    let here = Lgpos { generation, segment: index, byte: 0 };
    match (stated.cmp(&here), flipped) {
        (std::cmp::Ordering::Equal, None) => SegmentState::Good,
        (std::cmp::Ordering::Equal, Some(bit)) => SegmentState::Flipped { bit },
        (std::cmp::Ordering::Less, flipped) => SegmentState::Behind(Leftover { flipped }),
        (std::cmp::Ordering::Greater, _) => SegmentState::Misplaced(stated),
    }
}
