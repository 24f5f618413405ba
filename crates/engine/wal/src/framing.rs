//! Framing of records in segments: whole, or cut into fragments if they do not fit.
//!
//! A segment's records are chunks: `{WHOLE, u16 length}`, `{FRAGMENT_BEGIN, u32 total length,
//! u16 length}` or `{FRAGMENT, u16 length}`, each followed by its bytes. A zero byte means that
//! the rest of the segment is fill: a flush ends every segment, so none is written twice.

/// First byte of a chunk; the fragment values match ESE's.
mod kind {
    pub(super) const FILL: u8 = 0;
    pub(super) const WHOLE: u8 = 1;
    pub(super) const FRAGMENT_BEGIN: u8 = 76;
    pub(super) const FRAGMENT: u8 = 77;
}

/// Header bytes of a whole record and of every fragment but the first.
const SHORT_HEADER_BYTES: usize = 3;
/// Header bytes of a first fragment.
const BEGIN_HEADER_BYTES: usize = 7;
/// Smallest fragment for which a record is split; same limit as in ESE.
const LEAST_FRAGMENT_BYTES: usize = 32;

/// Longest record accepted from a log file; a longer stated length is damage. A split of the
/// largest page with all its siblings is far shorter.
pub(crate) const LONGEST_RECORD_BYTES: usize = 16 << 20;

/// Whether a record of `record_bytes` may begin with `room` bytes left in the segment.
pub(crate) const fn may_begin(room: usize, record_bytes: usize) -> bool {
    room >= SHORT_HEADER_BYTES + record_bytes || room >= BEGIN_HEADER_BYTES + LEAST_FRAGMENT_BYTES
}

/// Puts as much of a record as fits at `used` of a segment; its first `written` bytes are in
/// earlier segments. Returns the bytes of the record taken; advances `used`.
pub(crate) fn put_chunk(
    segment: &mut [u8],
    used: &mut usize,
    record: &[u8],
    written: usize,
) -> usize {
    let room = segment.len() - *used;
    let left = record.len() - written;
    let whole = written == 0 && SHORT_HEADER_BYTES + left <= room;
    let header_bytes = if whole || written > 0 { SHORT_HEADER_BYTES } else { BEGIN_HEADER_BYTES };
    let part = left.min(room - header_bytes);
    let chunk = &mut segment[*used..][..header_bytes + part];
    chunk[0] = match (whole, written) {
        (true, _) => kind::WHOLE,
        (false, 0) => kind::FRAGMENT_BEGIN,
        (false, _) => kind::FRAGMENT,
    };
    if header_bytes == BEGIN_HEADER_BYTES {
        let total = u32::try_from(record.len()).expect("invariant: records stay below 16 MiB");
        chunk[1..5].copy_from_slice(&total.to_le_bytes());
    }
    let length = u16::try_from(part).expect("invariant: a segment has 4 KiB");
    chunk[header_bytes - 2..header_bytes].copy_from_slice(&length.to_le_bytes());
    chunk[header_bytes..].copy_from_slice(&record[written..written + part]);
    *used += header_bytes + part;
    part
}

/// Contents of a segment at one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chunk<'a> {
    /// Nothing more in this segment.
    End,
    /// A record.
    Whole(&'a [u8]),
    /// The first part of a record of `total` bytes.
    Begin {
        /// Bytes of the record.
        total: usize,
        /// Its first part.
        part: &'a [u8],
    },
    /// A further part.
    Fragment(&'a [u8]),
}

/// The chunk at byte `at` of an intact segment, and the offset after it; `None` if the bytes form
/// no chunk.
pub(crate) fn chunk(segment: &[u8], at: usize) -> Option<(Chunk<'_>, usize)> {
    match segment.get(at) {
        None | Some(&kind::FILL) => Some((Chunk::End, segment.len())),
        Some(&kind::WHOLE) => {
            part(segment, at + SHORT_HEADER_BYTES).map(|(bytes, end)| (Chunk::Whole(bytes), end))
        }
        Some(&kind::FRAGMENT) => {
            part(segment, at + SHORT_HEADER_BYTES).map(|(bytes, end)| (Chunk::Fragment(bytes), end))
        }
        Some(&kind::FRAGMENT_BEGIN) => {
            let total = u16_at(segment, at + 1)? | u16_at(segment, at + 3)? << 16;
            let (part, end) = part(segment, at + BEGIN_HEADER_BYTES)?;
            (part.len() < total && total <= LONGEST_RECORD_BYTES)
                .then_some((Chunk::Begin { total, part }, end))
        }
        Some(_) => None,
    }
}

/// The part of a record after a header that ends at `start` with the part's length, and the offset
/// after that part.
fn part(segment: &[u8], start: usize) -> Option<(&[u8], usize)> {
    let end = start + u16_at(segment, start - 2)?;
    Some((segment.get(start..end)?, end))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    let field = bytes.get(at..)?.first_chunk::<2>()?;
    Some(usize::from(u16::from_le_bytes(*field)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Chunk, LEAST_FRAGMENT_BYTES, chunk, may_begin, put_chunk};

    /// A segment's length, and where its records begin.
    const SIZES: [(usize, usize); 2] = [(512, 12), (4096, 40)];

    proptest! {
        #[test]
        fn records_of_any_length_come_back_from_their_chunks(
            record in prop::collection::vec(any::<u8>(), 1..12_000),
            (size, header) in prop::sample::select(SIZES.to_vec()),
            begin in any::<prop::sample::Index>(),
        ) {
            let begin = header + begin.index(size - header);
            let begin = if may_begin(size - begin, record.len()) { begin } else { header };
            let (mut at, mut back, mut written) = (begin, Vec::new(), 0);
            while written < record.len() {
                let mut segment = vec![0; size];
                let mut used = at;
                written += put_chunk(&mut segment, &mut used, &record, written);
                let (found, end) = chunk(&segment, at).expect("a chunk was put there");
                prop_assert_eq!(end, used);
                match found {
                    Chunk::Whole(bytes) => prop_assert_eq!(bytes, &record[..]),
                    Chunk::Begin { total, part } => {
                        prop_assert_eq!((total, back.len()), (record.len(), 0));
                        prop_assert!(part.len() >= LEAST_FRAGMENT_BYTES);
                    }
                    Chunk::Fragment(_) | Chunk::End => prop_assert!(found != Chunk::End),
                }
                match found {
                    Chunk::Whole(part) | Chunk::Begin { part, .. } | Chunk::Fragment(part) => {
                        back.extend_from_slice(part);
                    }
                    Chunk::End => {}
                }
                prop_assert_eq!(chunk(&segment, end), Some((Chunk::End, size)));
                at = header;
            }
            prop_assert_eq!(back, record);
        }

        #[test]
        fn garbage_never_panics(
            garbage in prop::collection::vec(any::<u8>(), 4096),
            (size, header) in prop::sample::select(SIZES.to_vec()),
            kind in prop::sample::select(vec![0_u8, 1, 76, 77, 255]),
            at in any::<prop::sample::Index>(),
        ) {
            let (mut garbage, at) = (garbage, header + at.index(size - header + 1));
            garbage.truncate(size);
            if let Some(byte) = garbage.get_mut(at) {
                *byte = kind;
            }
            let end = chunk(&garbage, at).map(|(_, end)| end);
            prop_assert!(end.is_none_or(|end| end > at || at == size));
        }
    }
}
