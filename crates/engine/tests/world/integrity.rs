//! Proves that a closed database file is whole: checksums and page checks, trees, sibling chains,
//! space, index and long values. Written apart from the engine, over the format crate alone.

use std::collections::{BTreeMap, BTreeSet};

use ese::check::Tally;
use ese::checksum::{PageVerdict, verify};
use ese::header::{DatabaseState, read_copies};
use ese::long_value::{LongValueId, LongValueKey, LongValueRoot};
use ese::page::{PageRef, PageSize, node_flags, page_flags};
use ese::page_check;
use ese::reader::{FileImage, Reader};
use ese::space::ExtentSet;
use units::PageNumber;

type Nodes = Vec<(Vec<u8>, Vec<u8>)>;

struct File<'a> {
    bytes: &'a [u8],
    size: PageSize,
}

/// Rows by primary key with their long values, after everything has been checked.
pub fn check(bytes: &[u8]) -> BTreeMap<Vec<u8>, (Vec<u8>, Vec<u8>)> {
    let copies = read_copies(&bytes[..bytes.len().min(65536)]).unwrap();
    assert!(copies.copies_agree);
    assert_eq!(copies.header.state, DatabaseState::CleanShutdown);
    let file = File {
        bytes,
        size: copies.page_size,
    };
    let mut reader = Reader::open(FileImage::new(bytes, copies.page_size)).unwrap();
    let spaces = reader.space_report().unwrap();
    let mut nodes = BTreeMap::new();
    for space in &spaces {
        let mut used = BTreeSet::new();
        let mut add = |pages: BTreeSet<PageNumber>, what: &str| {
            for page in pages {
                assert!(
                    used.insert(page),
                    "page {page} of tree {} twice: {what}",
                    space.root
                );
            }
        };
        let (tree_nodes, pages) = file.tree(space.root, copies.header.dbtime);
        nodes.insert(space.root, tree_nodes);
        add(pages, "tree");
        let single = space.header.owned_root().is_none();
        for root in [space.header.owned_root(), space.header.available_root()] {
            root.into_iter()
                .for_each(|root| add(file.tree(root, copies.header.dbtime).1, "space"));
        }
        add(pages_of(&space.available), "available");
        add(pages_of(&space.reserved), "reserved");
        for child in spaces
            .iter()
            .filter(|child| child.header.parent == space.root)
        {
            add(pages_of(&child.owned), "child");
        }
        assert!(
            single || used == pages_of(&space.owned),
            "space of tree {}",
            space.root
        );
    }
    let table = reader.table("Messages").unwrap().clone();
    let primary = &nodes[&table.place.root];
    let mut entries = Nodes::new();
    let mut referred = BTreeSet::new();
    let mut rows = BTreeMap::new();
    for (key, record) in primary {
        let column = |name: &str| table.definition.column_named(name).unwrap();
        let received = reader
            .column_values(&table, record, column("Received"))
            .unwrap();
        let ese::reader::FieldValue::Bytes(received) = &received[0] else {
            panic!()
        };
        let mut index_key = vec![0x7F];
        index_key.extend(received.iter().rev());
        index_key[1] ^= 0x80;
        entries.push((index_key, key.clone()));
        let long = reader
            .column_values(&table, record, column("LongPad"))
            .unwrap();
        let ese::reader::FieldValue::Bytes(long) = &long[0] else {
            panic!()
        };
        let parsed = ese::record::RecordRef::parse(record, copies.page_size).unwrap();
        if let ese::record::Stored::One(ese::record::Element::Separated(id)) =
            parsed.column(column("LongPad")).unwrap()
        {
            assert!(referred.insert(id), "long value {id} in two records");
        }
        rows.insert(key.clone(), (record.clone(), long.clone()));
    }
    entries.sort();
    let index = table.secondaries().next().unwrap().1;
    assert_eq!(
        nodes[&index.root], entries,
        "the index agrees with the table"
    );
    check_long_values(&nodes[&table.long_values.unwrap().root], &referred);
    let mut tally = Tally::default();
    let owned = spaces[0].owned.clone();
    let first_page = 2 * copies.page_size.bytes();
    tally.add_block(
        PageNumber(1),
        &bytes[first_page..],
        copies.page_size,
        Some(&owned),
    );
    assert_eq!(
        tally.bad + tally.faulty + tally.wrong_page + tally.correctable,
        0,
        "{tally:?}"
    );
    rows
}

fn check_long_values(nodes: &Nodes, referred: &BTreeSet<LongValueId>) {
    let mut roots = BTreeSet::new();
    for (key, data) in nodes {
        match LongValueKey::decode(key).unwrap() {
            LongValueKey::Root(id) => {
                assert_eq!(LongValueRoot::decode(data).unwrap().references, 1, "{id}");
                roots.insert(id);
            }
            LongValueKey::Chunk(id, _) => assert!(roots.contains(&id)),
        }
    }
    assert_eq!(&roots, referred, "every long value belongs to one record");
}

fn pages_of(set: &ExtentSet) -> BTreeSet<PageNumber> {
    let pages = set.extents().iter();
    pages
        .flat_map(|extent| (extent.first().0..=extent.last.0).map(PageNumber))
        .collect()
}

impl File<'_> {
    fn page(&self, number: PageNumber) -> PageRef<'_> {
        let start = usize::try_from(self.size.file_offset(number)).unwrap();
        let bytes = &self.bytes[start..start + self.size.bytes()];
        assert_eq!(verify(bytes, number), PageVerdict::Good, "page {number}");
        page_check::check(PageRef::new(bytes), number).unwrap();
        PageRef::new(bytes)
    }

    /// The nodes of a tree in order, and its pages.
    fn tree(&self, root: PageNumber, dbtime: u64) -> (Nodes, BTreeSet<PageNumber>) {
        let object = self.page(root).object();
        let (mut nodes, mut pages, mut leaves) = (Nodes::new(), BTreeSet::new(), Vec::new());
        let mut stack = vec![(root, None::<Vec<u8>>)];
        while let Some((number, upper)) = stack.pop() {
            assert!(pages.insert(number), "page {number} reached twice");
            let page = self.page(number);
            assert_eq!((page.object(), page.is_root()), (object, number == root));
            assert!(page.dbtime() <= dbtime, "page {number}");
            let repeats = page.has(page_flags::NON_UNIQUE);
            if page.is_leaf() {
                leaves.push(number);
                assert!(
                    page.node_count() > 0 || number == root,
                    "page {number} is empty"
                );
                for node in page.nodes() {
                    assert_eq!(node.flags & node_flags::DELETED, 0, "cleanup is complete");
                    let name = if repeats {
                        [&node.key(), node.data].concat()
                    } else {
                        node.key()
                    };
                    assert!(
                        upper.as_ref().is_none_or(|upper| name < *upper),
                        "page {number}"
                    );
                    nodes.push((node.key(), node.data.to_vec()));
                }
                continue;
            }
            for line in (0..page.node_count()).rev() {
                let key = page.node(line).unwrap().key();
                assert_eq!(
                    key.is_empty(),
                    line + 1 == page.node_count(),
                    "page {number}"
                );
                let below = if key.is_empty() {
                    upper.clone()
                } else {
                    Some(key)
                };
                stack.push((page.child(line).unwrap(), below));
            }
        }
        assert!(nodes.is_sorted(), "tree {root} is in order");
        let chain: Vec<_> = std::iter::successors(leaves.first().copied(), |&leaf| {
            let next = self.page(leaf).next();
            next.is_some().then_some(next)
        })
        .collect();
        assert_eq!(chain, leaves, "sibling chain of tree {root}");
        for pair in leaves.windows(2) {
            assert_eq!(self.page(pair[1]).previous(), pair[0]);
        }
        (nodes, pages)
    }
}
