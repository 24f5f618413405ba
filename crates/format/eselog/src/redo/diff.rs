//! Applies the difference logged by a replace: pieces that turn the old data into the new.

use crate::bytes::u16_at;

/// Flags of a piece.
mod flags {
    pub(super) const SAME_LENGTH: u8 = 1 << 5;
    pub(super) const INSERT: u8 = 1 << 6;
    pub(super) const LONG: u8 = 1 << 7;
}

/// A piece of a difference: its offset in the old data, and its effect.
struct DiffPiece {
    offset: usize,
    flags: u8,
    header_bytes: usize,
}

/// Parses the first piece. Its long form has a header of three bytes; the short one keeps the flags
/// in the upper bits of two.
fn piece(difference: &[u8], is_long_form: bool) -> Option<DiffPiece> {
    let word = u16_at(difference, 0)?;
    if is_long_form {
        let flags = *difference.get(2)?;
        return Some(DiffPiece { offset: usize::from(word), flags, header_bytes: 3 });
    }
    let [_, flags] = word.to_le_bytes();
    Some(DiffPiece { offset: usize::from(word & 0x1FFF), flags, header_bytes: 2 })
}

/// A length of one byte or two, taken off the front.
fn length(rest: &mut &[u8], is_long: bool) -> Option<usize> {
    if is_long {
        let length = u16_at(rest, 0)?;
        *rest = rest.get(2..)?;
        return Some(usize::from(length));
    }
    let (first, behind) = rest.split_first()?;
    *rest = behind;
    Some(usize::from(*first))
}

/// Returns the new data; `None` if the difference does not fit the old data or yields more than
/// `most` bytes.
pub(super) fn apply(
    old: &[u8],
    difference: &[u8],
    is_long_form: bool,
    most: usize,
) -> Option<Vec<u8>> {
    let (mut new, mut at, mut rest) = (Vec::with_capacity(old.len()), 0, difference);
    while !rest.is_empty() {
        let piece = piece(rest, is_long_form)?;
        rest = rest.get(piece.header_bytes..)?;
        new.extend_from_slice(old.get(at..piece.offset)?);
        at = piece.offset;
        let is_long = piece.flags & flags::LONG != 0;
        let added = length(&mut rest, is_long)?;
        if piece.flags & flags::INSERT == 0 {
            let is_same = piece.flags & flags::SAME_LENGTH != 0;
            at += if is_same { added } else { length(&mut rest, is_long)? };
        }
        let (bytes, behind) = rest.split_at_checked(added)?;
        new.extend_from_slice(bytes);
        rest = behind;
        if new.len() > most {
            return None;
        }
    }
    new.extend_from_slice(old.get(at..)?);
    Some(new)
}

#[cfg(test)]
mod tests {
    use super::apply;

    #[test]
    fn pieces_replace_insert_and_remove() {
        let old = b"abcdefgh";
        let same = [2, 0, 0x20, 2, b'X', b'Y'];
        assert_eq!(apply(old, &same, true, 99), Some(b"abXYefgh".to_vec()));
        let insert = [2, 0, 0x40, 1, b'X'];
        assert_eq!(apply(old, &insert, true, 99), Some(b"abXcdefgh".to_vec()));
        let other_length = [2, 0, 0, 1, 3, b'X'];
        assert_eq!(apply(old, &other_length, true, 99), Some(b"abXfgh".to_vec()));
        let long = [2, 0, 0x80, 1, 0, 3, 0, b'X'];
        assert_eq!(apply(old, &long, true, 99), Some(b"abXfgh".to_vec()));
    }

    #[test]
    fn the_short_form_keeps_its_flags_above_the_offset() {
        let same = [2, 0x20, 2, b'X', b'Y'];
        assert_eq!(apply(b"abcdefgh", &same, false, 99), Some(b"abXYefgh".to_vec()));
    }

    #[test]
    fn what_does_not_fit_the_old_data_makes_nothing() {
        assert_eq!(apply(b"abc", &[9, 0, 0x20, 1, b'X'], true, 99), None);
        assert_eq!(apply(b"abc", &[1, 0, 0x40, 9, b'X'], true, 99), None);
        assert_eq!(apply(b"abc", &[1, 0, 0, 1, 9, b'X'], true, 99), None);
        assert_eq!(apply(b"abc", &[1, 0, 0x40, 1, b'X'], true, 1), None);
    }
}
