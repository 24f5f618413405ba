//! Pages in records: whole, without their free space, or compressed.

use ese::compression::decompress;
use ese::page::{PageRef, PageSize};

use crate::bytes::u16_at;
use crate::layout::{Field, Part};
use crate::record::LogRecord;

/// Flags of an image.
const WITHOUT_FREE_SPACE: u64 = 1;
const COMPRESSED: u64 = 2;
/// Offsets in a page of the counts of its free bytes and of its tags.
const FREE_BYTES: usize = 28;
const TAG_COUNT: usize = 34;
const TAG_BYTES: usize = 4;

/// The page that a split or merge took nodes from, before the change; `None` if the record has no
/// image or it cannot be unpacked.
pub(super) fn of_record(record: &LogRecord<'_>, size: PageSize) -> Option<Vec<u8>> {
    let (flags, stored) = (record.number(Field::ImageFlags), record.part(Part::Image));
    let bytes = if stored.len() == size.bytes() {
        stored.to_vec()
    } else {
        let packed =
            if flags & COMPRESSED != 0 { decompress(stored).ok()? } else { stored.to_vec() };
        if flags & WITHOUT_FREE_SPACE != 0 { widened(packed, size)? } else { packed }
    };
    is_page(&bytes, size).then_some(bytes)
}

/// The page that was moved: its first and last bytes from the record, and zeros between them.
pub(super) fn of_move(record: &LogRecord<'_>, size: PageSize) -> Option<Vec<u8>> {
    let (head, tail) = (record.part(Part::Head), record.part(Part::Tail));
    let gap = size.bytes().checked_sub(head.len())?.checked_sub(tail.len())?;
    let bytes = [head, &vec![0; gap], tail].concat();
    is_page(&bytes, size).then_some(bytes)
}

/// Puts the free space back between the nodes and the tags.
fn widened(mut bytes: Vec<u8>, size: PageSize) -> Option<Vec<u8>> {
    let gap = size.bytes().checked_sub(bytes.len())?;
    let tags = usize::from(u16_at(&bytes, TAG_COUNT)? & 0x0FFF) * TAG_BYTES;
    let tags_at = bytes.len().checked_sub(tags)?;
    let free = u16_at(&bytes, FREE_BYTES)?.checked_add(u16::try_from(gap).ok()?)?;
    bytes.splice(tags_at..tags_at, std::iter::repeat_n(0, gap));
    bytes[FREE_BYTES..FREE_BYTES + 2].copy_from_slice(&free.to_le_bytes());
    Some(bytes)
}

fn is_page(bytes: &[u8], size: PageSize) -> bool {
    bytes.len() == size.bytes() && PageRef::new(bytes).tag_count() > 0
}

#[cfg(test)]
mod tests {
    use ese::page::{PageMut, PageSize, page_flags};
    use units::ObjectId;

    use super::widened;

    #[test]
    fn free_space_comes_back_between_nodes_and_tags() {
        let mut page = vec![0; PageSize::KIB_4.bytes()];
        let mut edit = PageMut::new(&mut page);
        edit.format(page_flags::LEAF, ObjectId(7));
        edit.insert(0, 0, &[1, 0, b'k', b'd']).expect("room");
        let mut packed = page.clone();
        packed.drain(100..100 + 3_000);
        let free = u16::from_le_bytes([packed[28], packed[29]]) - 3_000;
        packed[28..30].copy_from_slice(&free.to_le_bytes());
        assert_eq!(widened(packed, PageSize::KIB_4), Some(page));
    }
}
