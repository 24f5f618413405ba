//! Keeps nodes that are read together on one page: one rule for fills and inserts.

use ese::page::PageSize;

/// Bytes of a tag.
pub(crate) const TAG_BYTES: usize = 4;

/// Bytes of a node's key size.
const KEY_SIZE_BYTES: usize = 2;

/// Bytes that `nodes` nodes with `content_bytes` of keys and data take on a page, without any
/// prefix compression.
pub(crate) const fn run_bytes(nodes: usize, content_bytes: usize) -> usize {
    content_bytes + nodes * (KEY_SIZE_BYTES + TAG_BYTES)
}

/// Whether nodes of this size are kept on one leaf: a reader of one wants all, and each leaf is a
/// read. For longer runs too much of the previous leaf would stay empty.
pub(crate) const fn is_kept_together(run_bytes: usize, page_size: PageSize) -> bool {
    run_bytes <= page_size.body_bytes() / 2
}

#[cfg(test)]
mod tests {
    use ese::page::PageSize;

    use super::{is_kept_together, run_bytes};

    #[test]
    fn a_run_is_kept_together_up_to_half_a_page() {
        assert_eq!(run_bytes(3, 9_000), 9_018);
        let half = PageSize::KIB_32.body_bytes() / 2;
        assert!(is_kept_together(half, PageSize::KIB_32));
        assert!(!is_kept_together(half + 1, PageSize::KIB_32));
    }
}
