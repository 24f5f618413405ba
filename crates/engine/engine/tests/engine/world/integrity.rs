//! Proves that a closed database file is whole: checksums and page checks, trees, sibling chains,
//! space, index and long values. Independent of the engine: it uses only the format crate.

use std::collections::{BTreeMap, BTreeSet};

use ese::checksum::{PageVerdict, verify};
use ese::header::{DatabaseState, read_copies};
use ese::long_value::{LongValueId, LongValueKey, LongValueRoot};
use ese::page::{PageRef, PageSize, node_flags, page_flags};
use ese::page_check;
use ese::reader::{FieldValue, FileImage, Reader, TreeSpace};
use ese::record::{Element, RecordRef, Stored};
use ese::space::ExtentSet;
use units::PageNumber;

type Nodes = Vec<(Vec<u8>, Vec<u8>)>;

struct File<'a> {
    bytes: &'a [u8],
    size: PageSize,
    dbtime: u64,
}

/// Rows by primary key: record and long value.
pub(crate) type Rows = BTreeMap<Vec<u8>, (Vec<u8>, Vec<u8>)>;

/// The rows of the table `Messages`, after everything has been checked.
pub(crate) fn check(bytes: &[u8]) -> Rows {
    let copies = read_copies(&bytes[..bytes.len().min(65536)]).unwrap();
    assert!(copies.copies_agree);
    assert_eq!(copies.header.state, DatabaseState::CleanShutdown);
    let size = copies.page_size;
    let file = File { bytes, size, dbtime: copies.header.dbtime };
    let mut reader = Reader::open(FileImage::new(bytes, size)).unwrap();
    let spaces = reader.space_report().unwrap();
    let nodes: BTreeMap<PageNumber, Nodes> =
        spaces.iter().map(|space| (space.root, file.check_space(space, &spaces))).collect();
    for number in pages_of(&spaces[0].owned) {
        if !PageRef::new(file.bytes_of(number)).is_uninitialised() {
            file.page(number);
        }
    }
    check_table(&mut reader, &nodes)
}

/// Checks that index, long values and records agree, and returns the rows.
fn check_table(reader: &mut Reader<FileImage<'_>>, nodes: &BTreeMap<PageNumber, Nodes>) -> Rows {
    let table = reader.table("Messages").unwrap().clone();
    let column = |name: &str| table.definition.column_named(name).unwrap();
    let (mut entries, mut referred, mut rows) = (Nodes::new(), BTreeSet::new(), Rows::new());
    for (key, record) in &nodes[&table.place.root] {
        let mut bytes_of = |name| {
            let values = reader.column_values(&table, record, column(name)).unwrap();
            match values.into_iter().next() {
                Some(FieldValue::Bytes(bytes)) => bytes,
                other => panic!("{name}: {other:?}"),
            }
        };
        let mut index_key = vec![0x7F];
        index_key.extend(bytes_of("Received").iter().rev());
        index_key[1] ^= 0x80;
        entries.push((index_key, key.clone()));
        rows.insert(key.clone(), (record.clone(), bytes_of("LongPad")));
        let parsed = RecordRef::parse(record, reader.page_size()).unwrap();
        if let Stored::One(Element::Separated(id)) = parsed.column(column("LongPad")).unwrap() {
            assert!(referred.insert(id), "long value {id} in two records");
        }
    }
    entries.sort();
    let index = table.secondaries().next().unwrap().1;
    assert_eq!(nodes[&index.root], entries, "the index agrees with the table");
    check_long_values(&nodes[&table.long_values.unwrap().root], &referred);
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
    pages.flat_map(|extent| (extent.first().0..=extent.last.0).map(PageNumber)).collect()
}

impl File<'_> {
    /// Checks that every page that a tree owns is used once, by the tree, its space trees, their
    /// reserves or a child, or else is available. Returns the tree's nodes.
    fn check_space(&self, space: &TreeSpace, all: &[TreeSpace]) -> Nodes {
        let mut used = BTreeSet::new();
        let mut add = |pages: BTreeSet<PageNumber>, what: &str| {
            for page in pages {
                assert!(used.insert(page), "page {page} of tree {} twice: {what}", space.root);
            }
        };
        let (nodes, pages) = self.tree(space.root);
        add(pages, "tree");
        let space_roots = [space.header.owned_root(), space.header.available_root()];
        for root in space_roots.into_iter().flatten() {
            add(self.tree(root).1, "space tree");
        }
        add(pages_of(&space.available), "available");
        add(pages_of(&space.reserved), "reserved");
        for child in all.iter().filter(|child| child.header.parent == space.root) {
            add(pages_of(&child.owned), "child");
        }
        let is_single = space.header.owned_root().is_none();
        assert!(is_single || used == pages_of(&space.owned), "space of tree {}", space.root);
        nodes
    }

    fn bytes_of(&self, number: PageNumber) -> &[u8] {
        let start = usize::try_from(self.size.file_offset(number)).unwrap();
        &self.bytes[start..start + self.size.bytes()]
    }

    fn page(&self, number: PageNumber) -> PageRef<'_> {
        let bytes = self.bytes_of(number);
        assert_eq!(verify(bytes, number), PageVerdict::Good, "page {number}");
        page_check::check(PageRef::new(bytes), number).unwrap();
        PageRef::new(bytes)
    }

    /// The nodes of a tree in order, and its pages.
    fn tree(&self, root: PageNumber) -> (Nodes, BTreeSet<PageNumber>) {
        let object = self.page(root).object();
        let (mut nodes, mut pages, mut leaves) = (Nodes::new(), BTreeSet::new(), Vec::new());
        let mut stack = vec![(root, None::<Vec<u8>>)];
        while let Some((number, upper)) = stack.pop() {
            assert!(pages.insert(number), "page {number} reached twice");
            let page = self.page(number);
            assert_eq!((page.object(), page.is_root()), (object, number == root));
            assert!(page.dbtime() <= self.dbtime, "page {number}");
            let repeats = page.has(page_flags::NON_UNIQUE);
            if page.is_leaf() {
                leaves.push(number);
                assert!(page.node_count() > 0 || number == root, "page {number} is empty");
                for node in page.nodes() {
                    assert_eq!(node.flags & node_flags::DELETED, 0, "cleanup is complete");
                    let name = if repeats { [&node.key(), node.data].concat() } else { node.key() };
                    assert!(upper.as_ref().is_none_or(|upper| name < *upper), "page {number}");
                    nodes.push((node.key(), node.data.to_vec()));
                }
                continue;
            }
            for line in (0..page.node_count()).rev() {
                let key = page.node(line).unwrap().key();
                let below = if line + 1 == page.node_count() {
                    assert_eq!(key, upper.clone().unwrap_or_default(), "page {number}");
                    upper.clone()
                } else {
                    assert!(!key.is_empty(), "page {number}");
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
