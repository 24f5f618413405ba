//! The damage that a torn write must be classified as, derived from three byte strings: the old
//! page, the new page, and the result.

use ese::page::PageSize;
use ese::page_state::PageDamage;
use integrity::Damage;

/// Result of a torn write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ExpectedPage {
    /// The whole new page: the sectors that were not written had the same content before.
    NoDamage,
    /// The old page, except for at most one bit per block: a lost write.
    LostFlush,
    /// The new page except for these bits, at most one per block. No reader of the page can
    /// distinguish that from flipped bits, and correcting them yields the new page.
    FlippedBits(Vec<u32>),
    /// Neither page.
    Torn,
}

/// Classifies `torn`, a mix of sectors of both pages.
pub(super) fn expected(old: &[u8], new: &[u8], torn: &[u8]) -> ExpectedPage {
    if torn == new {
        return ExpectedPage::NoDamage;
    }
    if single_bits(torn, old).is_some() {
        return ExpectedPage::LostFlush;
    }
    single_bits(torn, new).map_or(ExpectedPage::Torn, ExpectedPage::FlippedBits)
}

/// The bits in which two pages differ, if there is at most one per block of the checksum.
pub(super) fn single_bits(left: &[u8], right: &[u8]) -> Option<Vec<u32>> {
    let block = PageSize::from_bytes(left.len())?.checksum_block_bytes();
    let mut bits = Vec::new();
    let blocks = left.chunks(block).zip(right.chunks(block));
    for (number, (left, right)) in blocks.enumerate() {
        let pairs = left.iter().zip(right).map(|(left, right)| left ^ right);
        let mut differing = pairs.enumerate().filter(|(_, difference)| *difference != 0);
        let Some((place, difference)) = differing.next() else {
            continue;
        };
        if difference.count_ones() != 1 || differing.next().is_some() {
            return None;
        }
        let bit = (number * block + place) * 8;
        bits.push(u32::try_from(bit).ok()? + difference.trailing_zeros());
    }
    Some(bits)
}

impl ExpectedPage {
    /// Whether `damage` is the correct classification.
    pub(super) fn is(&self, damage: &Damage) -> bool {
        match (self, damage) {
            (Self::LostFlush, Damage::Page(PageDamage::LostFlush { .. }))
            | (Self::Torn, Damage::Page(PageDamage::Checksum { .. } | PageDamage::Torn)) => true,
            (Self::FlippedBits(expected), Damage::Page(PageDamage::FlippedBit { bits })) => {
                expected == bits
            }
            (Self::FlippedBits(expected), Damage::Page(PageDamage::FlippedChecksum { bit })) => {
                expected[..] == [*bit]
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ExpectedPage, expected};

    fn page(changes: &[(usize, u8)]) -> Vec<u8> {
        let mut page = vec![7; 32 << 10];
        for (place, change) in changes {
            page[*place] ^= change;
        }
        page
    }

    #[test]
    fn a_torn_page_is_what_its_bytes_say() {
        let old = page(&[]);
        let new = page(&[(9, 3), (600, 3), (9_000, 1), (20_000, 1)]);
        let of = |changes| expected(&old, &new, &page(changes));
        assert_eq!(of(&[(9, 3), (600, 3), (9_000, 1), (20_000, 1)]), ExpectedPage::NoDamage);
        assert_eq!(of(&[]), ExpectedPage::LostFlush);
        assert_eq!(of(&[(20_000, 1)]), ExpectedPage::LostFlush);
        let bits = ExpectedPage::FlippedBits(vec![160_000]);
        assert_eq!(of(&[(9, 3), (600, 3), (9_000, 1)]), bits);
        assert_eq!(of(&[(9, 3), (9_000, 1), (20_000, 1)]), ExpectedPage::Torn);
    }
}
