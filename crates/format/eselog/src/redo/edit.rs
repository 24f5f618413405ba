//! Changes to one page, made node by node with key prefixes removed, as in the engine.

use ese::checksum;
use ese::page::{Node, PageError, PageMut, PageRef, PageSize, encode_node, node_flags, page_flags};
use units::{ObjectId, PageNumber};

/// Bytes of a page that count the free bytes reserved for rollback: 0 after a replay.
const UNCOMMITTED_FREE: std::ops::Range<usize> = 30..32;
/// Maximum length of a key in bytes.
const LONGEST_KEY: usize = 0x1FFF;
/// Bytes of a large page that hold its own number.
const OWN_NUMBER: std::ops::Range<usize> = 64..68;

/// A node copied out of its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NodeCopy {
    pub(super) flags: u8,
    pub(super) key: Vec<u8>,
    pub(super) data: Vec<u8>,
}

/// An empty page with these flags.
pub(super) fn fresh(size: PageSize, flags: u32, object: ObjectId) -> Vec<u8> {
    let mut bytes = vec![0; size.bytes()];
    PageMut::new(&mut bytes).format(flags & !page_flags::PREINITIALISED, object);
    bytes
}

pub(super) fn set_dbtime(bytes: &mut [u8], dbtime: u64) {
    PageMut::new(bytes).set_dbtime(dbtime);
}

/// Makes a page ready to be written.
pub(super) fn seal(bytes: &mut [u8], number: PageNumber) {
    bytes[UNCOMMITTED_FREE].fill(0);
    if !PageRef::new(bytes).size().is_small() {
        bytes[OWN_NUMBER].copy_from_slice(&number.0.to_le_bytes());
    }
    PageMut::new(bytes).advance_flush_type();
    checksum::store(bytes, number);
}

/// Returns the nodes of a page; fails at the first malformed one.
pub(super) fn nodes(bytes: &[u8]) -> Result<Vec<NodeCopy>, PageError> {
    let page = PageRef::new(bytes);
    (0..page.node_count()).map(|line| node(page, line)).collect()
}

/// One node of a page.
pub(super) fn node(page: PageRef<'_>, line: usize) -> Result<NodeCopy, PageError> {
    let node = present(page, line)?;
    Ok(NodeCopy { flags: node.flags, key: node.key(), data: node.data.to_vec() })
}

/// One node, borrowed from its page.
fn present(page: PageRef<'_>, line: usize) -> Result<Node<'_>, PageError> {
    let nodes = page.node_count();
    if line >= nodes {
        return Err(PageError::NoLine { line, nodes });
    }
    page.node(line).ok_or(PageError::Damaged { tag: line + page.reserved_tags() })
}

/// Puts a node at `line`.
pub(super) fn insert(bytes: &mut [u8], line: usize, new: &NodeCopy) -> Result<(), PageError> {
    let (stored, compressed) = encoded(PageRef::new(bytes).prefix(), new)?;
    PageMut::new(bytes).insert(line, flags_of(new, compressed), &stored)
}

/// Replaces the data of the node at `line`.
pub(super) fn replace_data(bytes: &mut [u8], line: usize, data: &[u8]) -> Result<(), PageError> {
    let old = present(PageRef::new(bytes), line)?;
    let (flags, mut stored) = (old.flags, Vec::with_capacity(old.suffix.len() + data.len() + 4));
    if flags & node_flags::COMPRESSED != 0 {
        stored.extend(size_of(old.prefix)?);
    }
    stored.extend(size_of(old.suffix)?);
    stored.extend_from_slice(old.suffix);
    stored.extend_from_slice(data);
    PageMut::new(bytes).replace(line, flags, &stored)
}

/// A length in the stored form of nodes.
fn size_of(part: &[u8]) -> Result<[u8; 2], PageError> {
    let too_long = PageError::Full { needed: part.len(), free: LONGEST_KEY };
    u16::try_from(part.len()).map(u16::to_le_bytes).map_err(|_| too_long)
}

/// Makes all of `change`, or nothing if a part of it is impossible: a page that stays behind keeps
/// its bytes.
pub(super) fn whole(
    bytes: &mut Vec<u8>,
    change: impl FnOnce(&mut [u8]) -> Result<(), PageError>,
) -> Result<(), PageError> {
    let mut changed = bytes.clone();
    change(&mut changed)?;
    *bytes = changed;
    Ok(())
}

/// Replaces the key of the node at `line`.
pub(super) fn replace_key(bytes: &mut [u8], line: usize, key: &[u8]) -> Result<(), PageError> {
    let mut changed = node(PageRef::new(bytes), line)?;
    changed.key = key.to_vec();
    let (stored, compressed) = encoded(PageRef::new(bytes).prefix(), &changed)?;
    PageMut::new(bytes).replace(line, flags_of(&changed, compressed), &stored)
}

/// Sets and clears flags of the node at `line`.
pub(super) fn flag(bytes: &mut [u8], line: usize, set: u8, clear: u8) -> Result<(), PageError> {
    let flags = present(PageRef::new(bytes), line)?.flags;
    PageMut::new(bytes).set_node_flags(line, flags & !clear | set)
}

/// Removes the node at `line`.
pub(super) fn remove(bytes: &mut [u8], line: usize) -> Result<(), PageError> {
    PageMut::new(bytes).remove(line, 1)
}

/// Replaces all nodes of a page, and its prefix. A prefix of `None` leaves tag 0 alone, as on
/// roots.
pub(super) fn rebuild(
    bytes: &mut [u8],
    prefix: Option<&[u8]>,
    nodes: &[NodeCopy],
) -> Result<(), PageError> {
    let count = PageRef::new(bytes).node_count();
    PageMut::new(bytes).remove(0, count)?;
    if let Some(prefix) = prefix.filter(|_| !PageRef::new(bytes).is_root()) {
        PageMut::new(bytes).set_external_header(prefix)?;
    }
    nodes.iter().enumerate().try_for_each(|(line, node)| insert(bytes, line, node))
}

/// Turns the page into an empty one without an owner.
pub(super) fn empty(bytes: &mut [u8]) -> Result<(), PageError> {
    rebuild(bytes, Some(&[]), &[])?;
    let flags = PageRef::new(bytes).flags();
    PageMut::new(bytes).set_flags(flags | page_flags::EMPTY);
    Ok(())
}

/// Sets the link to the next page.
pub(super) fn set_next(bytes: &mut [u8], next: PageNumber) {
    let previous = PageRef::new(bytes).previous();
    PageMut::new(bytes).set_links(previous, next);
}

/// Sets the link to the previous page.
pub(super) fn set_previous(bytes: &mut [u8], previous: PageNumber) {
    let next = PageRef::new(bytes).next();
    PageMut::new(bytes).set_links(previous, next);
}

/// A branch node.
pub(super) fn pointer(key: &[u8], child: PageNumber) -> NodeCopy {
    NodeCopy { flags: 0, key: key.to_vec(), data: child.0.to_le_bytes().to_vec() }
}

/// Encodes a node under a prefix; the flags say whether part of the prefix was left out.
fn encoded(prefix: &[u8], node: &NodeCopy) -> Result<(Vec<u8>, u8), PageError> {
    if node.key.len() > LONGEST_KEY {
        return Err(PageError::Full { needed: node.key.len(), free: LONGEST_KEY });
    }
    let mut stored = Vec::with_capacity(node.key.len() + node.data.len() + 4);
    let compressed = encode_node(prefix, &node.key, &node.data, &mut stored);
    Ok((stored, compressed))
}

const fn flags_of(node: &NodeCopy, compressed: u8) -> u8 {
    node.flags & !node_flags::COMPRESSED | compressed
}

#[cfg(test)]
mod tests {
    use ese::page::{PageSize, page_flags};
    use units::ObjectId;

    use super::{fresh, insert, pointer, replace_data, whole};

    /// A split's pointer to the new half is impossible if the parent lacks the one to the old half.
    #[test]
    fn a_change_that_is_half_possible_leaves_the_page_alone() {
        let mut bytes = fresh(PageSize::KIB_8, page_flags::PARENT_OF_LEAF, ObjectId(2));
        let before = bytes.clone();
        let done = whole(&mut bytes, |bytes| {
            insert(bytes, 0, &pointer(b"key", units::PageNumber(7)))?;
            replace_data(bytes, 1, &8_u32.to_le_bytes())
        });
        assert!(done.is_err() && bytes == before, "{done:?}");
    }
}
