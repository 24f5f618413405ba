//! Finds the nodes that remain trustworthy on a page with inconsistent structure.

use crate::page::{PageRef, Tag, node_flags};
use crate::page_check::{PageFault, TAG_BYTES, tags};

impl PageFault {
    /// Whether the fault leaves the bounds of all nodes in doubt, so that none can be trusted.
    pub(crate) const fn spoils_all_nodes(self) -> bool {
        matches!(self, Self::OwnNumber { .. } | Self::TagCount { .. })
    }
}

/// The lines of nodes that extend past the used bytes, share bytes with another node, or have
/// inconsistent sizes. Ascending.
pub(crate) fn unsound_lines(page: PageRef<'_>) -> Vec<usize> {
    let is_bad = bad_tags(page);
    let lacks_prefix = is_bad.first().copied().unwrap_or(true);
    (0..page.node_count())
        .filter(|line| {
            let Some(node) = page.node(*line) else {
                return true;
            };
            let borrows = node.flags & node_flags::COMPRESSED != 0;
            let is_bad_tag = is_bad.get(page.tag_at_line(*line)).copied().unwrap_or(true);
            is_bad_tag || node.data.is_empty() || node.key_bytes() == 0 || borrows && lacks_prefix
        })
        .collect()
}

/// Whether each tag claims bytes that cannot belong to it.
fn bad_tags(page: PageRef<'_>) -> Vec<bool> {
    let tags: Vec<Tag> = tags(page).collect();
    let body = page.size().body_bytes();
    let end = page.first_free().min(body);
    let reserved = page.reserved_tags();
    let mut bad: Vec<bool> = tags
        .iter()
        .enumerate()
        .map(|(index, tag)| {
            (tag.bytes == 0 && index >= reserved) || (tag.bytes > 0 && tag.end() > end)
        })
        .collect();
    let used: usize = tags.iter().map(|tag| tag.bytes).sum();
    let adds_up = used + page.free_bytes() + tags.len() * TAG_BYTES == body;
    mark_overlaps(&tags, adds_up, &mut bad);
    bad
}

/// Marks tags that share bytes. The first of two is too long, unless the sizes add up: then either
/// offset may be wrong.
fn mark_overlaps(tags: &[Tag], adds_up: bool, bad: &mut [bool]) {
    let mut order: Vec<usize> = (0..tags.len()).filter(|&index| tags[index].bytes > 0).collect();
    order.sort_unstable_by_key(|&index| (tags[index].offset, index));
    let mut furthest: Option<usize> = None;
    for index in order {
        if let Some(before) = furthest.filter(|&before| tags[before].end() > tags[index].offset) {
            bad[before] = true;
            // If a tag's bytes are entirely within another tag's, their owner is unknown.
            bad[index] |= adds_up || tags[index].end() <= tags[before].end();
        }
        if furthest.is_none_or(|before| tags[index].end() > tags[before].end()) {
            furthest = Some(index);
        }
    }
}
