//! The checks that the real engine performs on every page after reading and before writing it.
//!
//! They catch damage that checksums cannot: a page that was damaged in memory and then sealed. See
//! ESE `CPAGE::ErrCheckPage`.

use std::cmp::Ordering;
use std::fmt;

use units::PageNumber;

pub(crate) use sound::unsound_lines;

use crate::page::{Node, PageRef, PageSize, Tag, page_flags};

/// Bytes of one tag.
const TAG_BYTES: usize = 4;
/// Minimum size of a node: the size of its key and a byte each of key and data.
const LEAST_NODE_BYTES: usize = 4;

/// The fault of a page with a correct checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageFault {
    /// The page states a number that does not match its place.
    OwnNumber {
        /// The number that it states.
        stated: PageNumber,
    },
    /// More free bytes than the page has.
    FreeBytes {
        /// The free bytes stated.
        stated: usize,
    },
    /// More uncommitted free bytes than free bytes.
    UncommittedFreeBytes {
        /// The bytes stated.
        stated: usize,
    },
    /// The used bytes end past the end of the page.
    FirstFree {
        /// The end stated.
        stated: usize,
    },
    /// The number of tags does not match the page's size or flags.
    TagCount {
        /// The number stated.
        stated: usize,
    },
    /// Flags that exclude each other, or that no healthy page carries.
    Flags {
        /// The flags stated.
        stated: u32,
    },
    /// A node without bytes.
    EmptyTag {
        /// The tag.
        tag: usize,
    },
    /// A tag's bytes end past the used bytes.
    TagBeyondUsed {
        /// The tag.
        tag: usize,
    },
    /// Two tags share bytes.
    Overlap {
        /// The later one of the two.
        tag: usize,
    },
    /// A node's own sizes do not match its bytes, or its key or data is missing.
    Node {
        /// The node's line.
        line: usize,
    },
    /// A node sorts before its predecessor.
    KeyOrder {
        /// The node's line.
        line: usize,
    },
    /// Used bytes, free bytes and tags do not add up to the page.
    SpaceIdentity {
        /// Their sum.
        sum: usize,
        /// The expected sum.
        expected: usize,
    },
}

impl fmt::Display for PageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OwnNumber { stated } => write!(f, "the page says that it is page {stated}"),
            Self::FreeBytes { stated } => write!(f, "{stated} free bytes are more than it has"),
            Self::UncommittedFreeBytes { stated } => {
                write!(f, "{stated} uncommitted free bytes are more than its free bytes")
            }
            Self::FirstFree { stated } => write!(f, "its used bytes end at {stated}, behind it"),
            Self::TagCount { stated } => write!(f, "{stated} tags do not fit it"),
            Self::Flags { stated } => write!(f, "its flags {stated:#x} exclude each other"),
            Self::EmptyTag { tag } => write!(f, "tag {tag} has no bytes"),
            Self::TagBeyondUsed { tag } => write!(f, "tag {tag} ends behind the used bytes"),
            Self::Overlap { tag } => write!(f, "tag {tag} shares bytes with another one"),
            Self::Node { line } => write!(f, "the node at line {line} contradicts its own sizes"),
            Self::KeyOrder { line } => write!(f, "the node at line {line} is out of order"),
            Self::SpaceIdentity { sum, expected } => {
                write!(f, "used and free bytes add up to {sum} instead of {expected}")
            }
        }
    }
}

impl std::error::Error for PageFault {}

/// Performs all of the real engine's checks on page `number`.
pub fn check(page: PageRef<'_>, number: PageNumber) -> Result<(), PageFault> {
    if let Some(stated) = page.own_number().filter(|stated| *stated != number) {
        return Err(PageFault::OwnNumber { stated });
    }
    check_header(page)?;
    check_flags(page)?;
    check_tags(page)?;
    if !page.has(page_flags::SPACE_TREE) {
        check_nodes(page)?;
    }
    Ok(())
}

fn check_header(page: PageRef<'_>) -> Result<(), PageFault> {
    let body = page.size().body_bytes();
    let (free, uncommitted) = (page.free_bytes(), page.uncommitted_free_bytes());
    if free > body {
        return Err(PageFault::FreeBytes { stated: free });
    }
    if uncommitted > free {
        return Err(PageFault::UncommittedFreeBytes { stated: uncommitted });
    }
    if page.first_free() > body {
        return Err(PageFault::FirstFree { stated: page.first_free() });
    }
    let (tags, reserved) = (page.tag_count(), page.reserved_tags());
    let least = tags * TAG_BYTES + tags.saturating_sub(reserved) * LEAST_NODE_BYTES;
    let may_have_none = page.has(page_flags::EMPTY | page_flags::PREINITIALISED);
    if least >= body || (tags < reserved && !(tags == 0 && may_have_none)) {
        return Err(PageFault::TagCount { stated: tags });
    }
    Ok(())
}

fn check_flags(page: PageRef<'_>) -> Result<(), PageFault> {
    let excluded = (page.has(page_flags::EMPTY) && page.has(page_flags::PREINITIALISED))
        || (page.has(page_flags::INDEX) && page.has(page_flags::LONG_VALUE))
        || page.has(page_flags::REPAIRED);
    let is_bare = page.tag_count() == 0
        && !page.previous().is_some()
        && !page.next().is_some()
        && page.flags() & !PREINITIALISED_MAY_CARRY == 0;
    if excluded || (page.has(page_flags::PREINITIALISED) && !is_bare) {
        return Err(PageFault::Flags { stated: page.flags() });
    }
    Ok(())
}

/// Flags that a page initialised ahead of use may carry.
const PREINITIALISED_MAY_CARRY: u32 =
    page_flags::PREINITIALISED | page_flags::ALWAYS | page_flags::FLUSH_TYPE;

fn check_tags(page: PageRef<'_>) -> Result<(), PageFault> {
    let mut edges = TagEdges::new();
    let (mut used, first_free, reserved) = (0, page.first_free(), page.reserved_tags());
    for (index, tag) in tags(page).enumerate() {
        used += tag.bytes;
        if tag.bytes == 0 && index >= reserved {
            return Err(PageFault::EmptyTag { tag: index });
        }
        if tag.bytes > 0 && tag.end() > first_free {
            return Err(PageFault::TagBeyondUsed { tag: index });
        }
        edges.add(tag);
    }
    let tag_bytes = page.tag_count() * TAG_BYTES;
    let (sum, expected) = (used + page.free_bytes() + tag_bytes, page.size().body_bytes());
    // Pages without tags (empty or initialised ahead of use) do not account for their bytes.
    if sum != expected && tag_bytes > 0 {
        return Err(PageFault::SpaceIdentity { sum, expected });
    }
    if edges.covered_bytes() == used { Ok(()) } else { name_overlap(page) }
}

fn tags(page: PageRef<'_>) -> impl Iterator<Item = Tag> {
    (0..page.tag_count()).filter_map(move |index| page.tag(index))
}

/// Reports the later of two tags that share bytes.
fn name_overlap(page: PageRef<'_>) -> Result<(), PageFault> {
    let tags: Vec<Tag> = tags(page).collect();
    let mut order: Vec<usize> = (0..tags.len()).filter(|&index| tags[index].bytes > 0).collect();
    order.sort_unstable_by_key(|&index| tags[index].offset);
    let overlapping = order.windows(2).find(|two| tags[two[0]].end() > tags[two[1]].offset);
    overlapping.map_or(Ok(()), |two| Err(PageFault::Overlap { tag: two[0].max(two[1]) }))
}

/// The boundaries of the tags' bytes on a page, one bit each; two at the same position cancel out.
/// So the tags need not be sorted, and on a page without gaps few boundaries remain.
struct TagEdges([u64; EDGE_WORDS]);

const EDGE_WORDS: usize = PageSize::KIB_32.bytes() / 64;

impl TagEdges {
    const fn new() -> Self {
        Self([0; EDGE_WORDS])
    }

    /// Adds a tag that ends on the page.
    fn add(&mut self, tag: Tag) {
        for at in [tag.offset, tag.end()] {
            self.0[at / 64] ^= 1 << (at % 64);
        }
    }

    /// Number of bytes covered by an odd number of tags: equal to the total of all tags if none
    /// overlap, and less if some do.
    fn covered_bytes(&self) -> usize {
        let (mut covered, mut begun) = (0, None);
        for (index, word) in self.0.iter().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let at = index * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                match begun.take() {
                    Some(begun) => covered += at - begun,
                    None => begun = Some(at),
                }
            }
        }
        covered
    }
}

fn check_nodes(page: PageRef<'_>) -> Result<(), PageFault> {
    let (count, is_leaf) = (page.node_count(), page.is_leaf());
    // Keys ascend; if they may repeat, leaves are ordered by data too.
    let may_repeat = is_leaf && page.has(page_flags::NON_UNIQUE);
    let mut before: Option<Node<'_>> = None;
    let mut nodes = page.nodes();
    for line in 0..count {
        let node = nodes.next().ok_or(PageFault::Node { line })?;
        let may_lack_key = !is_leaf && line + 1 == count;
        let lacks_key = node.key_bytes() == 0;
        if node.data.is_empty() || (lacks_key && !may_lack_key) {
            return Err(PageFault::Node { line });
        }
        if before.is_some_and(|before| !lacks_key && !is_in_order(&before, &node, may_repeat)) {
            return Err(PageFault::KeyOrder { line });
        }
        before = Some(node);
    }
    Ok(())
}

fn is_in_order(before: &Node<'_>, node: &Node<'_>, may_repeat: bool) -> bool {
    match before.compare_key_of(node) {
        Ordering::Less => true,
        Ordering::Equal => may_repeat && before.data <= node.data,
        Ordering::Greater => false,
    }
}

mod sound;
#[cfg(test)]
mod tests;
