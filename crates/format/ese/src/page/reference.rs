//! Reads a page: header fields, tags and nodes, for any content.

use units::{ObjectId, PageNumber};

use crate::bytes::{u16_at, u32_at, u64_at};
use crate::flag_names::set_names;
use crate::page::{Node, PAGE_FLAG_NAMES, PageSize, page_flags};

/// Byte offsets in the page header.
pub(super) mod field {
    pub(crate) const DBTIME: usize = 8;
    pub(crate) const PREVIOUS: usize = 16;
    pub(crate) const NEXT: usize = 20;
    pub(crate) const OBJECT: usize = 24;
    pub(crate) const FREE_BYTES: usize = 28;
    pub(crate) const UNCOMMITTED_FREE_BYTES: usize = 30;
    pub(crate) const FIRST_FREE: usize = 32;
    pub(crate) const TAG_COUNT: usize = 34;
    pub(crate) const FLAGS: usize = 36;
    /// Large pages only.
    pub(crate) const OWN_NUMBER: usize = 64;
}

/// Bits of the tag-count field that hold the count.
pub(super) const TAG_COUNT_MASK: u16 = 0x0FFF;
/// Shift of the bits above, which hold the number of reserved tags (at least one).
const RESERVED_SHIFT: u32 = 12;
/// Bytes of one tag.
pub(super) const TAG_BYTES: usize = 4;
/// Shift of the node flags: the top three bits of a 16-bit word.
pub(super) const NODE_FLAG_SHIFT: u32 = 13;

/// One entry of the tag array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tag {
    /// Offset of the bytes, counted from the end of the page header.
    pub offset: usize,
    /// How many bytes there are.
    pub bytes: usize,
    /// The three bits above the offset: node flags on small pages, 0 on large ones.
    pub(crate) small_flags: u8,
}

impl Tag {
    /// Offset of the first byte after the tag's bytes, counted from the end of the page header.
    pub(crate) const fn end(self) -> usize {
        self.offset + self.bytes
    }
}

/// A page to read. Any bytes of a valid page size are accepted; nothing here panics on them.
#[derive(Clone, Copy)]
pub struct PageRef<'a> {
    bytes: &'a [u8],
    size: PageSize,
}

impl<'a> PageRef<'a> {
    /// The page in `bytes`, whose length must be a page size.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        let size = PageSize::from_bytes(bytes.len()).expect("invariant: a whole page was read");
        Self { bytes, size }
    }

    /// The page's size.
    pub const fn size(&self) -> PageSize {
        self.size
    }

    /// All bytes of the page.
    pub(crate) const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether every byte is zero: a page that was allocated and never written.
    pub fn is_uninitialised(&self) -> bool {
        // The header alone identifies most pages in use, so they need no scan. Runs of bytes are
        // merged without a branch, many at a time.
        let mut runs = self.bytes.chunks(512);
        self.dbtime() == 0
            && self.flags() == 0
            && runs.all(|run| run.iter().fold(0, |all, byte| all | byte) == 0)
    }

    /// Database time of the last change.
    #[inline]
    pub fn dbtime(&self) -> u64 {
        u64_at(self.bytes, field::DBTIME)
    }

    /// The previous leaf; `NONE` at the left edge, on roots and on branch pages.
    #[inline]
    pub fn previous(&self) -> PageNumber {
        PageNumber(u32_at(self.bytes, field::PREVIOUS))
    }

    /// The next leaf; `NONE` at the right edge, on roots and on branch pages.
    #[inline]
    pub fn next(&self) -> PageNumber {
        PageNumber(u32_at(self.bytes, field::NEXT))
    }

    /// The tree that the page belongs to.
    #[inline]
    pub fn object(&self) -> ObjectId {
        ObjectId(u32_at(self.bytes, field::OBJECT))
    }

    /// Free bytes of the page, contiguous or not.
    #[inline]
    pub fn free_bytes(&self) -> usize {
        usize::from(u16_at(self.bytes, field::FREE_BYTES))
    }

    /// Free bytes that a rollback may need back.
    #[inline]
    pub(crate) fn uncommitted_free_bytes(&self) -> usize {
        usize::from(u16_at(self.bytes, field::UNCOMMITTED_FREE_BYTES))
    }

    /// Offset of the first byte after all nodes, counted from the end of the header.
    #[inline]
    pub(crate) fn first_free(&self) -> usize {
        usize::from(u16_at(self.bytes, field::FIRST_FREE))
    }

    /// The number of tags stated in the header, the reserved ones included.
    #[inline]
    pub fn tag_count(&self) -> usize {
        usize::from(u16_at(self.bytes, field::TAG_COUNT) & TAG_COUNT_MASK)
    }

    /// Number of tags before those of nodes: tag 0, and more in files of later engines.
    #[inline]
    pub fn reserved_tags(&self) -> usize {
        usize::from(u16_at(self.bytes, field::TAG_COUNT) >> RESERVED_SHIFT).max(1)
    }

    /// See [`page_flags`].
    #[inline]
    pub fn flags(&self) -> u32 {
        u32_at(self.bytes, field::FLAGS)
    }

    /// The names of its flags.
    pub fn flag_names(&self) -> Vec<&'static str> {
        set_names(self.flags(), &PAGE_FLAG_NAMES)
    }

    /// Whether any of `flags` is set.
    #[inline]
    pub fn has(&self, flags: u32) -> bool {
        self.flags() & flags != 0
    }

    /// Whether the page is a leaf.
    #[inline]
    pub fn is_leaf(&self) -> bool {
        self.has(page_flags::LEAF)
    }

    /// Whether the page is a root.
    #[inline]
    pub fn is_root(&self) -> bool {
        self.has(page_flags::ROOT)
    }

    /// The write counter 1, 2, 3, 1, ... of the page; 0 means unknown.
    pub fn flush_type(&self) -> u8 {
        ((self.flags() & page_flags::FLUSH_TYPE) >> 15) as u8
    }

    /// The page number stored on the page itself; `None` for small pages, which store none.
    pub(crate) fn own_number(&self) -> Option<PageNumber> {
        (!self.size.is_small()).then(|| PageNumber(u32_at(self.bytes, field::OWN_NUMBER)))
    }

    /// Tag `index`, if it is within the page's body.
    #[inline]
    pub(crate) fn tag(&self, index: usize) -> Option<Tag> {
        if (index + 1) * TAG_BYTES > self.size.body_bytes() {
            return None;
        }
        let at = self.size.bytes() - (index + 1) * TAG_BYTES;
        let (size_word, offset_word) = (u16_at(self.bytes, at), u16_at(self.bytes, at + 2));
        Some(decode_tag(self.size, size_word, offset_word))
    }

    /// The bytes of tag `index`, if they are within the page's body.
    #[inline]
    pub fn tag_bytes(&self, index: usize) -> Option<&'a [u8]> {
        self.bytes_of(self.tag(index)?)
    }

    /// Tag 0: space header, split buffer or key prefix, depending on the kind of page. Empty if
    /// damaged.
    #[inline]
    pub fn external_header(&self) -> &'a [u8] {
        self.tag_bytes(0).unwrap_or_default()
    }

    /// The key prefix that the page's nodes may borrow from; empty on roots.
    #[inline]
    pub fn prefix(&self) -> &'a [u8] {
        if self.is_root() { &[] } else { self.external_header() }
    }

    /// Number of nodes on the page.
    #[inline]
    pub fn node_count(&self) -> usize {
        let most = self.size.body_bytes() / TAG_BYTES;
        self.tag_count().min(most).saturating_sub(self.reserved_tags())
    }

    /// The node at `line`; `None` past the last node, or if the bytes do not form a node.
    #[inline]
    pub fn node(&self, line: usize) -> Option<Node<'a>> {
        if line >= self.node_count() {
            return None;
        }
        self.node_under(self.external_header(), line)
    }

    /// The node at `line`, which must be below [`node_count`](Self::node_count);
    /// `external_header` is the page's tag 0.
    #[inline]
    pub(super) fn node_under(&self, external_header: &'a [u8], line: usize) -> Option<Node<'a>> {
        let tag = self.tag(self.tag_at_line(line))?;
        let bytes = self.bytes_of(tag)?;
        Node::parse(self.flags_of(tag, bytes)?, bytes, external_header)
    }

    /// The stored bytes of the node at `line` without its flags, as [`PageMut::insert`] takes them.
    ///
    /// [`PageMut::insert`]: crate::page::PageMut::insert
    pub fn node_bytes(&self, line: usize) -> Option<Vec<u8>> {
        let mut bytes = self.tag_bytes(self.tag_of_line(line)?)?.to_vec();
        if !self.size.is_small() {
            *bytes.get_mut(1)? &= 0x1F;
        }
        Some(bytes)
    }

    /// Size of the node at `line` in bytes, excluding its tag.
    pub fn node_size(&self, line: usize) -> Option<usize> {
        Some(self.tag(self.tag_of_line(line)?)?.bytes)
    }

    /// Copies the whole key of the node at `line` into `out`; false if there is no such node.
    #[must_use]
    pub fn key_into(&self, line: usize, out: &mut Vec<u8>) -> bool {
        self.node(line).map(|node| node.key_into(out)).is_some()
    }

    /// The nodes in order; stops at the first damaged one.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        let page = *self;
        let external_header = page.external_header();
        (0..page.node_count()).map_while(move |line| page.node_under(external_header, line))
    }

    /// The child page of the branch node at `line`.
    #[inline]
    pub fn child(&self, line: usize) -> Option<PageNumber> {
        let data: [u8; 4] = self.node(line)?.data.try_into().ok()?;
        Some(PageNumber(u32::from_le_bytes(data)))
    }

    #[inline]
    fn tag_of_line(&self, line: usize) -> Option<usize> {
        (line < self.node_count()).then_some(self.tag_at_line(line))
    }

    /// The tag that a node at `line` has or would have.
    #[inline]
    pub(crate) fn tag_at_line(&self, line: usize) -> usize {
        line + self.reserved_tags()
    }

    #[inline]
    fn bytes_of(&self, tag: Tag) -> Option<&'a [u8]> {
        self.bytes[self.size.header_bytes()..].get(tag.offset..tag.end())
    }

    #[inline]
    fn flags_of(&self, tag: Tag, bytes: &[u8]) -> Option<u8> {
        if self.size.is_small() { Some(tag.small_flags) } else { Some(bytes.get(1)? >> 5) }
    }
}

#[inline]
fn decode_tag(size: PageSize, size_word: u16, offset_word: u16) -> Tag {
    let mask = if size.is_small() { 0x1FFF } else { 0x7FFF };
    let small_flags = if size.is_small() { (offset_word >> NODE_FLAG_SHIFT) as u8 } else { 0 };
    Tag {
        offset: usize::from(offset_word & mask),
        bytes: usize::from(size_word & mask),
        small_flags,
    }
}
