//! What the storage behind an export can do beyond reads and writes.

use std::ops::Range;

use device::Pending;

/// Consecutive bytes of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Length in bytes, more than 0.
    pub bytes: u64,
    /// `true` if the bytes read as zeros and occupy no storage.
    pub is_hole: bool,
}

/// Storage that can free bytes and knows which bytes occupy storage.
pub trait Provisioned {
    /// Frees bytes that are no longer needed. Their content is undefined until they are written
    /// again.
    fn trim(&self, bytes: Range<u64>) -> Pending<()>;

    /// How the bytes are stored, starting at the first one: some extents, which may end before
    /// `bytes` does. Empty if the storage does not know.
    fn extents(&self, bytes: Range<u64>) -> Pending<Vec<Extent>>;
}

/// The extents with equal neighbours merged, cut to `length` bytes; a single one without holes if
/// nothing is known.
pub(crate) fn tidied(extents: Vec<Extent>, length: u64) -> Vec<Extent> {
    let mut joined: Vec<Extent> = Vec::new();
    let mut left = length;
    for extent in extents {
        let bytes = extent.bytes.min(left);
        left -= bytes;
        match joined.last_mut() {
            _ if bytes == 0 => {}
            Some(last) if last.is_hole == extent.is_hole => last.bytes += bytes,
            _ => joined.push(Extent { bytes, ..extent }),
        }
    }
    if joined.is_empty() {
        joined.push(Extent { bytes: length, is_hole: false });
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::{Extent, tidied};

    #[test]
    fn extents_are_joined_and_cut_and_ignorance_counts_as_data() {
        let [hole, data] = [true, false].map(|is_hole| move |bytes| Extent { bytes, is_hole });
        for (given, length, expected) in [
            (vec![], 9, vec![data(9)]),
            (vec![hole(4), hole(2), data(9)], 8, vec![hole(6), data(2)]),
            (vec![data(0), hole(3)], 8, vec![hole(3)]),
            (vec![data(8), hole(3)], 8, vec![data(8)]),
        ] {
            assert_eq!(tidied(given, length), expected);
        }
    }
}
