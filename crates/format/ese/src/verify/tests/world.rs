//! A hand-built database of 40 pages for the tests to damage.
//!
//! Table `T` has ten rows on three leaves (31 to 33), an index `ByGroup` on two (35 and 36) and one
//! long value in two chunks (37), all allocated from the extent 30 to 40.

use units::{ObjectId, PageNumber};

use crate::catalog::{
    CatalogTable, OBJECTS_NAME, OBJECTS_SHADOW_NAME, TreePlace, catalog_definition,
    object_ids_definition, rows_of,
};
use crate::header::{DatabaseHeader, DatabaseState};
use crate::key::index_key;
use crate::long_value::{LongValueId, LongValueRoot, chunks};
use crate::page::{PageMut, PageSize, encode_node, page_flags};
use crate::record::RecordBuilder;
use crate::schema::{ColumnDefinition, ColumnId, ColumnType, IndexDefinition, TableDefinition};
use crate::signature::Signature;
use crate::space::{Extent, Extents, SpaceHeader, SpaceNode, SplitBuffer};

pub(super) const SIZE: PageSize = PageSize::KIB_32;
const PAGES: u32 = 40;
pub(super) const LONG_VALUE: LongValueId = LongValueId(1);
/// The row that holds the long value.
const HOLDER: i64 = 5;

/// A node to be stored: key and data.
type Pair = (Vec<u8>, Vec<u8>);

pub(super) struct World {
    pub file: Vec<u8>,
    pub header: DatabaseHeader,
}

impl World {
    pub(super) fn new() -> Self {
        let mut header = DatabaseHeader::new(SIZE, Signature::default());
        header.state = DatabaseState::CleanShutdown;
        let mut world = Self { file: vec![0; SIZE.bytes() * (PAGES as usize + 2)], header };
        world.build_database();
        world.build_catalog(None);
        world.build_table();
        world
    }

    /// The same with another level in the table: page 38 above leaves 31 and 32, 39 above 33.
    pub(super) fn of_three_levels() -> Self {
        let mut world = Self::new();
        let rows: Vec<Pair> = (0..10).map(|id| (primary_key(id), record(id))).collect();
        let entry = |key: &[u8], child: u32| (key.to_vec(), child.to_le_bytes().to_vec());
        let keys = [&rows[4].0[..], &rows[7].0, &[]];
        let (flags, header) = (page_flags::PARENT_OF_LEAF, &[]);
        let left = [entry(keys[0], 31), entry(keys[1], 32)];
        world.page(38, 8, flags, header, &left);
        world.page(39, 8, flags, header, &[entry(keys[2], 33)]);
        let extents = Extents::Single { available: 0b100 << 7 };
        let entries = [entry(keys[1], 38), entry(keys[2], 39)];
        let header = space(1, 11, extents);
        world.page(30, 8, page_flags::ROOT, &header, &entries);
        world
    }

    /// The same with a table of objects on page 29 that lists these: object, its table and kind.
    pub(super) fn with_objects(listed: &[[u32; 3]]) -> Self {
        let mut world = Self::new();
        let place = TreePlace { object: ObjectId(6), root: PageNumber(29) };
        let listing = CatalogTable::new(object_ids_definition(), place, vec![], None);
        world.build_catalog(Some(&listing.as_system_table()));
        let rows: Vec<Pair> = listed.iter().map(listed_object).collect();
        world.root(29, 6, 0, &space(1, 1, Extents::Single { available: 0 }), &rows);
        let extent = Extent::starting(PageNumber(25), 4);
        let (key, data) = (SpaceNode::key(extent), SpaceNode::data(extent));
        world.change(3, |page| {
            let mut node = Vec::new();
            let flags = encode_node(&[], &key, &data, &mut node);
            page.remove(1, 1).expect("a node");
            page.insert(1, flags, &node).expect("room");
        });
        world
    }

    pub(super) fn page_bytes(&self, number: u32) -> &[u8] {
        let start = (number as usize + 1) * SIZE.bytes();
        &self.file[start..start + SIZE.bytes()]
    }

    /// Changes a page and seals it again.
    pub(super) fn change(&mut self, number: u32, change: impl FnOnce(&mut PageMut<'_>)) {
        let start = (number as usize + 1) * SIZE.bytes();
        let mut page = PageMut::new(&mut self.file[start..start + SIZE.bytes()]);
        change(&mut page);
        page.seal(PageNumber(number));
    }

    fn build_database(&mut self) {
        let all = [Extent::starting(PageNumber(1), PAGES)];
        let free = [(5, 19), (25, 5)].map(|(first, n)| Extent::starting(PageNumber(first), n));
        self.root(1, 1, 0, &space(0, PAGES, Extents::Multiple { owned: PageNumber(2) }), &[]);
        let split_buffer = SplitBuffer::default().encode();
        for (root, extents) in [(2, &all[..]), (3, &free)] {
            let nodes: Vec<Pair> = extents
                .iter()
                .map(|&e| (SpaceNode::key(e).to_vec(), SpaceNode::data(e).to_vec()))
                .collect();
            self.root(root, 1, page_flags::SPACE_TREE, &split_buffer, &nodes);
        }
    }

    /// Both copies of the catalog, which has no secondary indexes here.
    fn build_catalog(&mut self, listing: Option<&CatalogTable>) {
        let place = |object, root| TreePlace { object: ObjectId(object), root: PageNumber(root) };
        let mut definition = catalog_definition(OBJECTS_SHADOW_NAME);
        let shadow = CatalogTable::new(definition.clone(), place(3, 24), vec![], None);
        OBJECTS_NAME.clone_into(&mut definition.name);
        let objects = CatalogTable::new(definition, place(2, 4), vec![], None);
        let tables = [objects.as_system_table(), shadow.as_system_table(), table()];
        let mut nodes: Vec<Pair> = Vec::new();
        for row in tables.iter().chain(listing).flat_map(rows_of) {
            let key = row.keys().expect("ASCII names").swap_remove(0).expect("a primary key");
            let mut record = Vec::new();
            row.encode(SIZE, &mut record).expect("a short row");
            nodes.push((key, record));
        }
        nodes.sort();
        let header = space(1, 1, Extents::Single { available: 0 });
        self.root(4, 2, 0, &header, &nodes);
        self.root(24, 3, 0, &header, &nodes);
    }

    fn build_table(&mut self) {
        let rows: Vec<Pair> = (0..10).map(|id| (primary_key(id), record(id))).collect();
        // The rest of the extent, pages 38 to 40, is free.
        let header = space(1, 11, Extents::Single { available: 0b111 << 7 });
        self.branch(30, 8, 0, &header, &[(31, &rows[..4]), (32, &rows[4..7]), (33, &rows[7..])]);
        let mut entries: Vec<Pair> = (0..10).map(|id| (group_key(id), primary_key(id))).collect();
        entries.sort();
        let mut header =
            SpaceHeader::decode(&space(30, 3, Extents::Single { available: 0 })).expect("16 bytes");
        header.is_non_unique = true;
        let flags = page_flags::INDEX | page_flags::NON_UNIQUE;
        let leaves = [(35, &entries[..5]), (36, &entries[5..])];
        self.branch(34, 9, flags, &header.encode(), &leaves);
        self.root(
            37,
            10,
            page_flags::LONG_VALUE,
            &space(30, 1, Extents::Single { available: 0 }),
            &long_value(),
        );
    }

    fn root(&mut self, number: u32, object: u32, flags: u32, header: &[u8], nodes: &[Pair]) {
        let flags = flags | page_flags::ROOT | page_flags::LEAF;
        self.page(number, object, flags, header, nodes);
    }

    /// A root with leaves below it; separators are the whole first entry of the next leaf.
    fn branch(
        &mut self,
        root: u32,
        object: u32,
        flags: u32,
        header: &[u8],
        leaves: &[(u32, &[Pair])],
    ) {
        let joins = flags & page_flags::NON_UNIQUE != 0;
        let separator = |index: usize| match leaves.get(index + 1) {
            Some((_, nodes)) if joins => [nodes[0].0.as_slice(), &nodes[0].1].concat(),
            Some((_, nodes)) => nodes[0].0.clone(),
            None => Vec::new(),
        };
        let nodes: Vec<Pair> = leaves
            .iter()
            .enumerate()
            .map(|(index, (child, _))| (separator(index), child.to_le_bytes().to_vec()))
            .collect();
        let root_flags = flags | page_flags::ROOT | page_flags::PARENT_OF_LEAF;
        self.page(root, object, root_flags, header, &nodes);
        for (index, (number, nodes)) in leaves.iter().enumerate() {
            let number_at = |index: usize| leaves.get(index).map_or(0, |(number, _)| *number);
            let (previous, next) =
                (index.checked_sub(1).map_or(0, number_at), number_at(index + 1));
            self.page(*number, object, flags | page_flags::LEAF, b"", nodes);
            self.change(*number, |page| {
                page.set_links(PageNumber(previous), PageNumber(next));
            });
        }
    }

    fn page(&mut self, number: u32, object: u32, flags: u32, header: &[u8], nodes: &[Pair]) {
        self.change(number, |page| {
            page.format(flags, ObjectId(object));
            page.set_external_header(header).expect("room");
            for (line, (key, data)) in nodes.iter().enumerate() {
                let mut node = Vec::new();
                let flags = encode_node(&[], key, data, &mut node);
                page.insert(line, flags, &node).expect("room");
            }
        });
    }
}

/// A row of the table of objects.
fn listed_object(&[object, table, kind]: &[u32; 3]) -> Pair {
    let definition = object_ids_definition();
    let stored = object.to_le_bytes();
    let mut key = Vec::new();
    let made = index_key(&definition, &definition.indexes[0], |_| Some(&stored[..]), &mut key);
    made.expect("a number");
    let mut builder = RecordBuilder::new(&definition, SIZE);
    builder.set(ColumnId(256), &stored).expect("a column");
    builder.set(ColumnId(257), &table.to_le_bytes()).expect("a column");
    builder.set(ColumnId(258), &kind.to_le_bytes()[..2]).expect("a column");
    let mut record = Vec::new();
    builder.finish(&mut record).expect("a short record");
    (key, record)
}

fn space(parent: u32, primary_pages: u32, extents: Extents) -> [u8; SpaceHeader::BYTES] {
    let parent = PageNumber(parent);
    SpaceHeader { primary_pages, parent, is_non_unique: false, extents }.encode()
}

pub(super) fn definition() -> TableDefinition {
    let columns = vec![
        ColumnDefinition::new(1, "Id", ColumnType::LongLong, 0).not_null(),
        ColumnDefinition::new(2, "Group", ColumnType::LongLong, 0),
        ColumnDefinition::new(256, "Body", ColumnType::LongBinary, 0),
    ];
    let indexes = vec![
        IndexDefinition::primary("Primary", &[1]),
        IndexDefinition::secondary("ByGroup", &[2]),
    ];
    TableDefinition::new("T", columns, indexes)
}

pub(super) fn table() -> CatalogTable {
    let place = |object, root| TreePlace { object: ObjectId(object), root: PageNumber(root) };
    CatalogTable::new(definition(), place(8, 30), vec![place(9, 34)], Some(place(10, 37)))
}

fn key_of(index: usize, number: i64) -> Vec<u8> {
    let table = definition();
    let stored = number.to_le_bytes();
    let mut key = Vec::new();
    index_key(&table, &table.indexes[index], |_| Some(&stored[..]), &mut key).expect("a number");
    key
}

pub(super) fn primary_key(id: i64) -> Vec<u8> {
    key_of(0, id)
}

/// Three rows share a group.
pub(super) fn group_key(id: i64) -> Vec<u8> {
    key_of(1, id / 3)
}

pub(super) fn record(id: i64) -> Vec<u8> {
    let mut builder = RecordBuilder::new(&definition(), SIZE);
    builder.set(ColumnId(1), &id.to_le_bytes()).expect("a column");
    builder.set(ColumnId(2), &(id / 3).to_le_bytes()).expect("a column");
    if id == HOLDER {
        builder.set_separated(ColumnId(256), LONG_VALUE).expect("a long column");
    }
    let mut record = Vec::new();
    builder.finish(&mut record).expect("a short record");
    record
}

fn long_value() -> Vec<Pair> {
    let value = vec![0x80; 10_000];
    let root = LongValueRoot { references: 1, bytes: 10_000 };
    let mut nodes = vec![(LONG_VALUE.root_key().to_vec(), root.encode().to_vec())];
    nodes.extend(
        chunks(&value, SIZE)
            .map(|(offset, chunk)| (LONG_VALUE.chunk_key(offset).to_vec(), chunk.to_vec())),
    );
    nodes
}
