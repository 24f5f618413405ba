//! Changes a page in place: formatting, header fields, nodes.
//!
//! Each change either completes or returns an error and leaves the page unchanged. The same change
//! to the same bytes always gives the same bytes, which redo relies on. A page should have passed
//! its check before it is changed; otherwise it is refused as damaged if its header is
//! inconsistent.

use std::fmt;

use units::{ObjectId, PageNumber};

use crate::bytes::{array_at, put, u16_at};
use crate::checksum;
use crate::page::mark::mark;
use crate::page::reference::{NODE_FLAG_SHIFT, TAG_BYTES, TAG_COUNT_MASK, Tag, field};
use crate::page::{Node, PageRef, PageSize, node_flags, page_flags};

/// Why a page could not be changed. The page is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageError {
    /// The bytes and tags do not fit: split the page.
    Full {
        /// Bytes that the change needs.
        needed: usize,
        /// Bytes that are free.
        free: usize,
    },
    /// No such line exists.
    NoLine {
        /// The line asked for.
        line: usize,
        /// How many nodes the page has.
        nodes: usize,
    },
    /// The page's own sizes are inconsistent.
    Damaged {
        /// The tag at which the damage was detected.
        tag: usize,
    },
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { needed, free } => {
                write!(f, "the page has {free} bytes free and {needed} are needed; split it")
            }
            Self::NoLine { line, nodes } => write!(f, "no line {line} on a page of {nodes} nodes"),
            Self::Damaged { tag } => {
                write!(f, "tag {tag} contradicts the page header; restore the page from a copy")
            }
        }
    }
}

impl std::error::Error for PageError {}

/// A page to change.
pub struct PageMut<'a> {
    bytes: &'a mut [u8],
    size: PageSize,
}

impl<'a> PageMut<'a> {
    /// The page in `bytes`, whose length must be a page size.
    pub fn new(bytes: &'a mut [u8]) -> Self {
        let size = PageSize::from_bytes(bytes.len()).expect("invariant: a whole page is changed");
        Self { bytes, size }
    }

    /// The page for reading.
    pub fn as_ref(&self) -> PageRef<'_> {
        PageRef::new(self.bytes)
    }

    /// Makes an empty page with these flags (the ones that are always set are added), an empty
    /// tag 0 and nothing else.
    pub fn format(&mut self, flags: u32, object: ObjectId) {
        self.bytes.fill(0);
        put(self.bytes, field::OBJECT, &object.0.to_le_bytes());
        self.set_flags(flags | page_flags::ALWAYS);
        self.set_tag_count(1);
        self.set_free_bytes(self.size.body_bytes() - TAG_BYTES);
    }

    /// Sets the database time of the last change.
    pub fn set_dbtime(&mut self, dbtime: u64) {
        put(self.bytes, field::DBTIME, &dbtime.to_le_bytes());
    }

    /// Links a leaf to its neighbours.
    pub fn set_links(&mut self, previous: PageNumber, next: PageNumber) {
        put(self.bytes, field::PREVIOUS, &previous.0.to_le_bytes());
        put(self.bytes, field::NEXT, &next.0.to_le_bytes());
    }

    /// Replaces all page flags.
    pub fn set_flags(&mut self, flags: u32) {
        put(self.bytes, field::FLAGS, &flags.to_le_bytes());
    }

    /// Gives the page to another tree.
    #[cfg(test)]
    pub(crate) fn set_object(&mut self, object: ObjectId) {
        put(self.bytes, field::OBJECT, &object.0.to_le_bytes());
    }

    /// Sets the number of free bytes that a rollback may need back.
    #[cfg(test)]
    pub(crate) fn set_uncommitted_free_bytes(&mut self, bytes: usize) {
        self.put_u16(field::UNCOMMITTED_FREE_BYTES, bytes);
    }

    /// Adds tags of four bytes after tag 0 until `count` are reserved, as later engines do.
    #[cfg(test)]
    pub(crate) fn reserve_tags(&mut self, count: usize) {
        for _ in 1..count {
            self.open_tag(1);
            let tag = self.append(b"kept");
            self.put_tag(1, tag, 0);
            self.set_free_bytes(self.as_ref().free_bytes() - tag.bytes - TAG_BYTES);
        }
        self.put_u16(field::TAG_COUNT, self.as_ref().tag_count() | count << 12);
    }

    /// Makes tag `index` longer, which makes the page inconsistent.
    #[cfg(test)]
    pub(crate) fn lengthen_tag(&mut self, index: usize, bytes: usize) {
        let tag = self.as_ref().tag(index).expect("a tag");
        self.put_tag(index, Tag { bytes: tag.bytes + bytes, ..tag }, tag.small_flags);
    }

    /// Advances the write counter: 1, 2, 3, 1, ... Must be called once for every write.
    pub fn advance_flush_type(&mut self) {
        self.set_flush_type(self.as_ref().flush_type() % 3 + 1);
    }

    /// Sets the write counter for the next write, 1 to 3.
    pub fn set_flush_type(&mut self, flush_type: u8) {
        assert!((1..=3).contains(&flush_type), "0 stands for never written");
        let others = self.as_ref().flags() & !page_flags::FLUSH_TYPE;
        self.set_flags(others | u32::from(flush_type) << 15);
    }

    /// Stores the page's own number (large pages), marks it and computes its checksums: the last
    /// step before the page is written.
    pub fn seal(&mut self, number: PageNumber) {
        if !self.size.is_small() {
            put(self.bytes, field::OWN_NUMBER, &number.0.to_le_bytes());
        }
        if let Some((place, hash)) = mark(self.bytes, number) {
            put(self.bytes, place, &hash.to_le_bytes());
        }
        checksum::store(self.bytes, number);
    }

    /// Inserts a node at `line`, moving that line and the following ones down by one.
    ///
    /// `node` are node bytes as encoded by [`encode_node`](crate::page::encode_node).
    pub fn insert(&mut self, line: usize, flags: u8, node: &[u8]) -> Result<(), PageError> {
        self.require_plausible()?;
        let nodes = self.as_ref().node_count();
        if line > nodes {
            return Err(PageError::NoLine { line, nodes });
        }
        self.require_free(node.len() + TAG_BYTES)?;
        self.make_contiguous(node.len() + TAG_BYTES)?;
        let index = self.as_ref().tag_at_line(line);
        self.open_tag(index);
        let tag = self.append(node);
        self.put_node_tag(index, tag, flags);
        self.set_free_bytes(self.as_ref().free_bytes() - node.len() - TAG_BYTES);
        Ok(())
    }

    /// Replaces the node at `line`; its flags become `flags`.
    pub fn replace(&mut self, line: usize, flags: u8, node: &[u8]) -> Result<(), PageError> {
        self.require_plausible()?;
        let old = self.tag_of_line(line)?;
        if node.len() > old.bytes {
            self.require_free(node.len() - old.bytes)?;
        }
        let free = self.as_ref().free_bytes() + old.bytes - node.len();
        let index = self.as_ref().tag_at_line(line);
        let tag = self.rewrite(index, old, node)?;
        self.put_node_tag(index, tag, flags);
        self.set_free_bytes(free);
        Ok(())
    }

    /// Replaces the node at `line`, keeping its flags.
    pub fn replace_bytes(&mut self, line: usize, node: &[u8]) -> Result<(), PageError> {
        let flags = self.readable_node(line)?.flags;
        self.replace(line, flags, node)
    }

    /// Removes `count` nodes, the first at `line`.
    pub fn remove(&mut self, line: usize, count: usize) -> Result<(), PageError> {
        self.require_plausible()?;
        let nodes = self.as_ref().node_count();
        if line.saturating_add(count) > nodes {
            return Err(PageError::NoLine { line, nodes });
        }
        let freed = self.bytes_of_lines(line, count)?;
        for removed in (line..line + count).rev() {
            self.give_back_end(self.tag_of_line(removed)?);
        }
        let reserved = self.as_ref().reserved_tags();
        let end = self.tag_at(line + reserved - 1);
        let from = self.tag_at(nodes + reserved - 1);
        self.bytes.copy_within(from..end - count * TAG_BYTES, from + count * TAG_BYTES);
        self.set_tag_count(nodes + reserved - count);
        self.set_free_bytes(self.as_ref().free_bytes() + freed);
        Ok(())
    }

    /// Replaces the flags of the node at `line`.
    pub fn set_node_flags(&mut self, line: usize, flags: u8) -> Result<(), PageError> {
        self.readable_node(line)?;
        let tag = self.tag_of_line(line)?;
        self.put_node_tag(self.as_ref().tag_at_line(line), tag, flags);
        Ok(())
    }

    /// Adds `delta` to the little-endian number at byte `offset` of the node's data, wrapping, and
    /// returns the sum.
    pub fn add_u32(&mut self, line: usize, offset: usize, delta: i32) -> Result<u32, PageError> {
        let tag = self.tag_of_line(line)?;
        let data_bytes = self.readable_node(line)?.data.len();
        if offset + 4 > data_bytes {
            return Err(PageError::Damaged { tag: self.as_ref().tag_at_line(line) });
        }
        let at = self.size.header_bytes() + tag.end() - data_bytes + offset;
        let sum = u32::from_le_bytes(array_at(self.bytes, at)).wrapping_add_signed(delta);
        put(self.bytes, at, &sum.to_le_bytes());
        Ok(sum)
    }

    /// Replaces tag 0. The caller must rewrite nodes that borrow their prefix from it.
    pub fn set_external_header(&mut self, header: &[u8]) -> Result<(), PageError> {
        self.require_plausible()?;
        let old = self.tag_within_body(0)?;
        if header.len() > old.bytes {
            self.require_free(header.len() - old.bytes)?;
        }
        let free = self.as_ref().free_bytes() + old.bytes - header.len();
        let tag = self.rewrite(0, old, header)?;
        self.put_tag(0, tag, 0);
        self.set_free_bytes(free);
        Ok(())
    }

    /// Closes the gaps between nodes, so that all free bytes are contiguous. Changes do this
    /// themselves when the bytes after the last node are too few.
    pub fn reorganise(&mut self) -> Result<(), PageError> {
        self.require_plausible()?;
        let header = self.size.header_bytes();
        let body = self.bytes[header..].to_vec();
        let page = self.as_ref();
        let tags: Vec<Tag> = (0..page.tag_count()).map_while(|index| page.tag(index)).collect();
        let used: usize = tags.iter().map(|tag| tag.bytes).sum();
        let room = self.size.body_bytes().saturating_sub(tags.len() * TAG_BYTES);
        let damaged = tags.iter().position(|tag| tag.end() > body.len());
        if let Some(tag) = damaged.or((used > room).then_some(0)) {
            return Err(PageError::Damaged { tag });
        }
        let mut end = 0;
        for (index, tag) in tags.into_iter().enumerate() {
            put(self.bytes, header + end, &body[tag.offset..tag.end()]);
            self.put_tag(index, Tag { offset: end, ..tag }, tag.small_flags);
            end += tag.bytes;
        }
        self.put_u16(field::FIRST_FREE, end);
        Ok(())
    }

    /// Stores new bytes for tag `index`: in place if they fit, else after all others.
    fn rewrite(&mut self, index: usize, old: Tag, bytes: &[u8]) -> Result<Tag, PageError> {
        if bytes.len() <= old.bytes {
            put(self.bytes, self.size.header_bytes() + old.offset, bytes);
            let tag = Tag { bytes: bytes.len(), ..old };
            if self.as_ref().first_free() == old.end() {
                self.put_u16(field::FIRST_FREE, tag.end());
            }
            return Ok(tag);
        }
        if self.contiguous_free() < bytes.len() {
            // The old bytes count as free: only without them is contiguous room guaranteed.
            self.put_tag(index, Tag { bytes: 0, ..old }, old.small_flags);
            if let Err(error) = self.make_contiguous(bytes.len()) {
                self.put_tag(index, old, old.small_flags);
                return Err(error);
            }
        } else {
            self.give_back_end(old);
        }
        Ok(self.append(bytes))
    }

    fn require_free(&self, needed: usize) -> Result<(), PageError> {
        let free = self.as_ref().free_bytes();
        if needed > free { Err(PageError::Full { needed, free }) } else { Ok(()) }
    }

    /// Checks that the header's sizes fit the page and one another, so that changes stay within the
    /// page.
    fn require_plausible(&self) -> Result<(), PageError> {
        let (page, body) = (self.as_ref(), self.size.body_bytes());
        let tags = page.tag_count();
        if tags < page.reserved_tags()
            || page.free_bytes() > body
            || page.first_free() + tags * TAG_BYTES > body
        {
            return Err(PageError::Damaged { tag: 0 });
        }
        Ok(())
    }

    /// Bytes that removing `count` lines would free, tags included.
    fn bytes_of_lines(&self, line: usize, count: usize) -> Result<usize, PageError> {
        let mut freed = 0;
        for removed in line..line + count {
            freed += self.tag_of_line(removed)?.bytes + TAG_BYTES;
        }
        if self.as_ref().free_bytes() + freed > self.size.body_bytes() {
            return Err(PageError::Damaged { tag: self.as_ref().tag_at_line(line) });
        }
        Ok(freed)
    }

    /// Bytes between the last node and the tag array.
    fn contiguous_free(&self) -> usize {
        let page = self.as_ref();
        self.size.body_bytes().saturating_sub(page.first_free() + page.tag_count() * TAG_BYTES)
    }

    fn make_contiguous(&mut self, needed: usize) -> Result<(), PageError> {
        if self.contiguous_free() < needed {
            self.reorganise()?;
            if self.contiguous_free() < needed {
                return Err(PageError::Damaged { tag: 0 });
            }
        }
        Ok(())
    }

    /// Copies `bytes` after all others. The caller has ensured that there is room.
    fn append(&mut self, bytes: &[u8]) -> Tag {
        let offset = self.as_ref().first_free();
        put(self.bytes, self.size.header_bytes() + offset, bytes);
        let tag = Tag { offset, bytes: bytes.len(), small_flags: 0 };
        self.put_u16(field::FIRST_FREE, tag.end());
        tag
    }

    /// Lowers the end of the used bytes if `tag` is at that end.
    fn give_back_end(&mut self, tag: Tag) {
        if self.as_ref().first_free() == tag.end() {
            self.put_u16(field::FIRST_FREE, tag.offset);
        }
    }

    /// Makes room for tag `index`.
    fn open_tag(&mut self, index: usize) {
        let count = self.as_ref().tag_count();
        let (first, end) = (self.size.bytes() - count * TAG_BYTES, self.tag_at(index) + TAG_BYTES);
        self.bytes.copy_within(first..end, first - TAG_BYTES);
        self.set_tag_count(count + 1);
    }

    fn tag_of_line(&self, line: usize) -> Result<Tag, PageError> {
        let nodes = self.as_ref().node_count();
        if line >= nodes {
            return Err(PageError::NoLine { line, nodes });
        }
        self.tag_within_body(self.as_ref().tag_at_line(line))
    }

    fn tag_within_body(&self, index: usize) -> Result<Tag, PageError> {
        let tag = self.as_ref().tag(index).filter(|tag| tag.end() <= self.size.body_bytes());
        tag.ok_or(PageError::Damaged { tag: index })
    }

    fn readable_node(&self, line: usize) -> Result<Node<'_>, PageError> {
        self.tag_of_line(line)?;
        self.as_ref().node(line).ok_or(PageError::Damaged { tag: self.as_ref().tag_at_line(line) })
    }

    /// Offset of tag `index` in the page.
    const fn tag_at(&self, index: usize) -> usize {
        self.size.bytes() - (index + 1) * TAG_BYTES
    }

    fn put_tag(&mut self, index: usize, tag: Tag, small_flags: u8) {
        let at = self.tag_at(index);
        self.put_u16(at, tag.bytes);
        self.put_u16(at + 2, tag.offset | usize::from(small_flags) << NODE_FLAG_SHIFT);
    }

    /// Writes the tag of a node, with its flags if this page size keeps them in the tag.
    fn put_node_tag(&mut self, index: usize, tag: Tag, flags: u8) {
        let flags = flags & node_flags::ALL;
        if self.size.is_small() {
            self.put_tag(index, tag, flags);
            return;
        }
        self.put_tag(index, tag, 0);
        let at = self.size.header_bytes() + tag.offset;
        let word = u16_at(self.bytes, at) & 0x1FFF;
        put(self.bytes, at, &(word | u16::from(flags) << NODE_FLAG_SHIFT).to_le_bytes());
    }

    fn set_tag_count(&mut self, count: usize) {
        let reserved = u16_at(self.bytes, field::TAG_COUNT) & !TAG_COUNT_MASK;
        self.put_u16(field::TAG_COUNT, count | usize::from(reserved));
    }

    fn set_free_bytes(&mut self, bytes: usize) {
        self.put_u16(field::FREE_BYTES, bytes);
    }

    fn put_u16(&mut self, at: usize, number: usize) {
        let number = u16::try_from(number).expect("invariant: offsets on a page fit 16 bits");
        put(self.bytes, at, &number.to_le_bytes());
    }
}
