//! Tests that walk the trees built by the fill from their roots.

use std::collections::BTreeMap;

use ese::page::{PageRef, PageSize, page_flags};
use proptest::prelude::*;
use units::{ObjectId, PageNumber};

use super::sink::PageSink;
use super::space::{Frontier, SpaceGrowth, TreeSpace};
use super::tree::{EntryProblem, Ground, TreeBuilder, TreeShape};
use ese::space::Extent;

const ROOT: PageNumber = PageNumber(5);
const GROWTH: SpaceGrowth = SpaceGrowth { extent_pages: 7, unit_pages: 3 };

/// Written pages by number.
type Pages = BTreeMap<PageNumber, Vec<u8>>;

fn shape(flags: u32, reserve_bytes: usize) -> TreeShape {
    TreeShape { object: ObjectId(9), flags, reserve_bytes, compress: true }
}

/// Builds a tree of `entries` and returns its pages.
fn build(size: PageSize, shape: TreeShape, entries: &[(Vec<u8>, Vec<u8>)]) -> (Pages, TreeBuilder) {
    let (pages, tree, ()) = build_with(size, shape, |tree, ground| {
        for (key, data) in entries {
            tree.append(ground, key, data).unwrap();
        }
    });
    (pages, tree)
}

/// Builds a tree of the entries that `append` adds and returns its pages, and the result of
/// `append`.
fn build_with<T>(
    size: PageSize,
    shape: TreeShape,
    append: impl FnOnce(&mut TreeBuilder, &mut Ground<'_>) -> T,
) -> (Pages, TreeBuilder, T) {
    let mut sink = PageSink::new(size);
    let mut frontier = Frontier::new(PageNumber(10), 100_000);
    let space = TreeSpace::new(Extent::starting(ROOT, 3), GROWTH);
    let mut tree = TreeBuilder::new(shape, size, space);
    let mut ground = Ground { frontier: &mut frontier, sink: &mut sink };
    ground.sink.open_unit(Extent::starting(ROOT, 1));
    let appended = append(&mut tree, &mut ground);
    tree.finish(&mut ground, ROOT, [0; 16]);
    sink.close();
    let mut pages = Pages::new();
    while let Some(write) = sink.take_write() {
        let first = u32::try_from(write.offset / size.bytes_u64() - 1).unwrap();
        for (number, bytes) in (first..).zip(write.buffer.chunks(size.bytes())) {
            if bytes.iter().any(|&byte| byte != 0) {
                pages.insert(PageNumber(number), bytes.to_vec());
            }
        }
    }
    (pages, tree, appended)
}

/// Every entry of the tree in order, and its leaves; checks separators on the way down.
fn walk(
    pages: &Pages,
    page: PageNumber,
    out: &mut Vec<(Vec<u8>, Vec<u8>)>,
    leaves: &mut Vec<PageNumber>,
) {
    let read = PageRef::new(&pages[&page]);
    assert_eq!(read.flush_type(), 1, "page {page} was written once");
    if read.is_leaf() {
        leaves.push(page);
        for line in 0..read.node_count() {
            let node = read.node(line).unwrap();
            out.push((node.key(), node.data.to_vec()));
        }
        return;
    }
    for line in 0..read.node_count() {
        let node = read.node(line).unwrap();
        let child = u32::from_le_bytes(node.data.try_into().unwrap());
        walk(pages, PageNumber(child), out, leaves);
        let is_last = line + 1 == read.node_count();
        assert_eq!(is_last, node.key_bytes() == 0, "only the last separator is empty");
        let last = out.last().map(|(key, data)| [key.as_slice(), data].concat());
        assert!(is_last || Some(node.key()) > last, "separators lie above their child");
    }
}

proptest! {
    #[test]
    fn a_tree_gives_back_what_it_was_built_from(
        lengths in proptest::collection::vec((0usize..600, 0usize..3), 0..900),
        reserve in 0usize..900,
        unique in any::<bool>(),
    ) {
        let flags = if unique { 0 } else { page_flags::INDEX | page_flags::NON_UNIQUE };
        let mut key = 0x7F80_0000u32;
        let mut entries = Vec::new();
        for (number, (length, step)) in (0u32..).zip(lengths) {
            key += u32::try_from(step).unwrap() + u32::from(unique);
            let mut data = number.to_be_bytes().to_vec();
            data.resize(4 + length, 0xA5);
            entries.push((key.to_be_bytes().to_vec(), data));
        }
        let (pages, tree) = build(PageSize::KIB_4, shape(flags, reserve), &entries);
        let (mut found, mut leaves) = (Vec::new(), Vec::new());
        walk(&pages, ROOT, &mut found, &mut leaves);
        prop_assert_eq!(found, entries);
        let free = tree.space.available().map_or(0, |free| free.pages);
        prop_assert_eq!(
            pages.keys().filter(|&&page| page != ROOT).count() as u64,
            owned_pages(&tree) - 3 - u64::from(free)
        );
        let chain: Vec<_> = std::iter::successors(leaves.first().copied(), |page| {
            Some(PageRef::new(&pages[page]).next()).filter(|next| next.is_some())
        }).collect();
        prop_assert_eq!(&chain, &leaves);
        for pair in leaves.windows(2) {
            prop_assert_eq!(PageRef::new(&pages[&pair[1]]).previous(), pair[0]);
        }
    }
}

fn owned_pages(tree: &TreeBuilder) -> u64 {
    tree.space.owned().iter().map(|extent| u64::from(extent.pages)).sum()
}

#[test]
fn the_reserve_is_left_free() {
    let entries: Vec<_> =
        (0u32..500).map(|key| (key.to_be_bytes().to_vec(), vec![1; 100])).collect();
    let (pages, _) = build(PageSize::KIB_8, shape(0, 1_600), &entries);
    for (page, bytes) in pages.iter().filter(|(page, _)| **page != ROOT) {
        let free = PageRef::new(bytes).free_bytes();
        assert!((1_600..1_800).contains(&free) || page.0 > 15, "{free} bytes free on {page}");
    }
}

#[test]
fn entries_out_of_order_and_too_large_are_refused() {
    let mut sink = PageSink::new(PageSize::KIB_4);
    let mut frontier = Frontier::new(PageNumber(10), 100_000);
    let space = TreeSpace::new(Extent::starting(ROOT, 3), GROWTH);
    let mut tree = TreeBuilder::new(shape(0, 0), PageSize::KIB_4, space);
    let mut ground = Ground { frontier: &mut frontier, sink: &mut sink };
    assert_eq!(tree.append(&mut ground, b"b", &[1; 4_100]), Err(EntryProblem::TooLarge));
    assert_eq!(tree.append(&mut ground, b"b", &[1]), Ok(()));
    assert_eq!(tree.append(&mut ground, b"b", &[2]), Err(EntryProblem::Unordered));
    assert_eq!(tree.append(&mut ground, b"a", &[2]), Err(EntryProblem::Unordered));
}

#[test]
fn what_is_wanted_together_and_takes_half_a_page_lies_on_one() {
    let body = PageSize::KIB_4.body_bytes();
    for reserve in [0, 300] {
        let (size, shape) = (PageSize::KIB_4, shape(0, reserve));
        let runs = (0..200u32).map(|number| (number, 100 + 37 * number as usize % (body - 200)));
        let (pages, _, held) = build_with(size, shape, |tree, ground| {
            let mut together = Vec::new();
            for (number, bytes) in runs {
                let key = number.to_be_bytes();
                let keys = [&key[..], &[&key[..], &[1]].concat()].map(<[u8]>::to_vec);
                tree.keep_together(ground, 2, 9 + bytes);
                tree.append(ground, &keys[0], &[0; 8]).unwrap();
                tree.append(ground, &keys[1], &vec![7; bytes - 8]).unwrap();
                if 9 + bytes + 12 <= body / 2 {
                    together.push(key.to_vec());
                }
            }
            together
        });
        let (mut found, mut leaves) = (Vec::new(), Vec::new());
        walk(&pages, ROOT, &mut found, &mut leaves);
        assert_eq!(found.len(), 400);
        for key in &held {
            let on = leaves.iter().filter(|leaf| {
                let nodes = PageRef::new(&pages[leaf]);
                nodes.nodes().any(|node| node.key().starts_with(key))
            });
            assert_eq!(on.count(), 1, "{key:?}");
        }
        assert!((50..150).contains(&held.len()), "{}", held.len());
    }
}
