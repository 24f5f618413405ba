//! Compares keys stored in two parts without joining them.

use std::cmp::Ordering;

/// How two keys compare. Most differ within their first eight bytes, or have no more; those are
/// compared in registers.
#[inline]
pub(super) fn compare_bytes(one: &[u8], other: &[u8]) -> Ordering {
    let heads = head(one).cmp(&head(other));
    if heads.is_ne() {
        return heads;
    }
    if one.len() <= HEAD_BYTES && other.len() <= HEAD_BYTES {
        // The shorter one is padded with zeros.
        return one.len().cmp(&other.len());
    }
    one.cmp(other)
}

const HEAD_BYTES: usize = size_of::<u64>();

/// The first bytes as a number, with zeros appended to a shorter slice.
#[inline]
fn head(bytes: &[u8]) -> u64 {
    if let Some(head) = bytes.first_chunk() {
        return u64::from_be_bytes(*head);
    }
    let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) else {
        let number = bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        return number << (8 * (HEAD_BYTES - bytes.len()) % 64);
    };
    // Four to seven bytes: two overlapping loads.
    let high = u64::from(u32::from_be_bytes(*first)) << 32;
    let low = u64::from(u32::from_be_bytes(*last)) << (8 * (HEAD_BYTES - bytes.len()));
    high | low
}

/// How the joined parts of one compare with those of the other, in runs instead of byte by byte.
#[inline]
pub(super) fn compare_parts<'a>(mut one: [&'a [u8]; 2], mut other: [&'a [u8]; 2]) -> Ordering {
    for parts in [&mut one, &mut other] {
        if parts[0].is_empty() {
            *parts = [parts[1], &[]];
        }
    }
    let shared = one[0].len().min(other[0].len());
    if shared == 0 {
        return one[0].len().cmp(&other[0].len());
    }
    let (head, rest) = one[0].split_at(shared);
    let (other_head, other_rest) = other[0].split_at(shared);
    head.cmp(other_head).then_with(|| compare_parts([rest, one[1]], [other_rest, other[1]]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{compare_bytes, compare_parts};

    /// Few different bytes, so that beginnings are often shared.
    fn part() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(0..2_u8, 0..5)
    }

    proptest! {
        #[test]
        fn bytes_compare_as_slices_do(
            one in prop::collection::vec(0..3_u8, 0..20),
            other in prop::collection::vec(0..3_u8, 0..20),
        ) {
            prop_assert_eq!(compare_bytes(&one, &other), one.cmp(&other));
        }

        #[test]
        fn parts_compare_as_the_whole(one in [part(), part()], other in [part(), part()]) {
            let expected = one.concat().cmp(&other.concat());
            prop_assert_eq!(compare_parts([&one[0], &one[1]], [&other[0], &other[1]]), expected);
        }
    }
}
