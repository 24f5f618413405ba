//! One page as redo sees it.

use device::Buffer;
use ese::checksum;
use ese::flush_map::LastWrite;
use ese::page::PageRef;
use ese::page_state::{self, PageDamage, PageState};
use units::PageNumber;

/// A page in memory.
pub(in crate::recovery) struct Page {
    pub image: Buffer,
    /// Its damage, until the log rebuilds it.
    pub damage: Option<String>,
    /// It differs from the file.
    pub dirty: bool,
}

impl Page {
    /// Database time of the last change; meaningless for a damaged page.
    pub(crate) fn dbtime(&self) -> u64 {
        PageRef::new(&self.image).dbtime()
    }

    /// Whether it is undamaged.
    pub(crate) const fn is_sound(&self) -> bool {
        self.damage.is_none()
    }

    /// Whether the page may be written: it has changed and is not damaged.
    pub(crate) const fn is_due(&self) -> bool {
        self.dirty && self.damage.is_none()
    }
}

/// A page that was read, with its damage, if any. A flipped bit is corrected here and later in the
/// file.
pub(super) fn judged(mut image: Buffer, number: PageNumber) -> Page {
    let state = page_state::judge(&image, number, LastWrite::BeforeCrash);
    let (damage, dirty) = match state {
        PageState::Sound | PageState::Unwritten => (None, false),
        PageState::Damaged(PageDamage::FlippedBit { bits }) => {
            checksum::flip(&mut image, &bits);
            (None, true)
        }
        PageState::Damaged(damage) => (Some(damage.to_string()), false),
    };
    Page { image, damage, dirty }
}

#[cfg(test)]
mod tests {
    use device::Buffer;
    use ese::checksum;
    use ese::page::{PageMut, page_flags};
    use ese::page_state::PageDamage;
    use units::{ObjectId, PageNumber};

    use super::judged;

    const NUMBER: PageNumber = PageNumber(9);

    /// A sealed leaf with one node of `node_bytes` bytes.
    fn leaf(node_bytes: usize) -> Buffer {
        let mut image = Buffer::zeroed(4096);
        let mut page = PageMut::new(&mut image);
        page.format(page_flags::LEAF, ObjectId(5));
        let mut node = b"\x03\0key".to_vec();
        node.resize(node_bytes, 7);
        page.insert(0, 0, &node).expect("room");
        page.seal(NUMBER);
        image
    }

    #[test]
    fn a_flipped_bit_is_put_right_where_the_mark_agrees() {
        let good = leaf(500);
        let mut flipped = good.clone();
        flipped[300] ^= 4;
        let page = judged(flipped, NUMBER);
        assert_eq!((page.damage, page.dirty), (None, true));
        assert_eq!(page.image[..], good[..]);
    }

    #[test]
    fn a_torn_page_that_looks_like_a_flipped_bit_is_damage() {
        let mut torn = leaf(500);
        torn[100] ^= 3;
        checksum::store(&mut torn, NUMBER);
        torn[300] ^= 4;
        let page = judged(torn, NUMBER);
        let beyond_repair = PageDamage::Checksum { block: 0 }.to_string();
        assert_eq!(page.damage, Some(beyond_repair));
        assert!(!page.is_due(), "a guess is not written");
    }

    #[test]
    fn a_full_page_has_no_mark_to_speak_for_it() {
        let body = ese::page::PageSize::KIB_4.body_bytes();
        let mut flipped = leaf(body - 2 * 4);
        flipped[300] ^= 4;
        assert!(judged(flipped, NUMBER).damage.is_some());
    }
}
