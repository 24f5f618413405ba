//! A database with its catalog: tables, records, values.

use std::collections::{BTreeMap, HashMap};

use units::PageNumber;

use crate::catalog::{
    CatalogRow, CatalogTable, OBJECTS_NAME, SystemTree, TreePlace, assemble, system_trees,
};
use crate::compression::{CompressionError, decompress};
use crate::long_value::{LongValueId, LongValueKey, LongValueRoot};
use crate::page::PageSize;
use crate::reader::orphans::Orphan;
use crate::reader::{Cursor, Loss, PageSource, ReadError, Salvage, SalvageStep};
use crate::record::{Element, RecordRef};
use crate::schema::ColumnDefinition;

/// One value of a column, complete: long values fetched, compression undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// The bytes that the column stores.
    Bytes(Vec<u8>),
    /// Encrypted by the application, in stored form.
    Encrypted(Vec<u8>),
}

/// A database to read.
pub struct Reader<S> {
    pub(super) source: S,
    tables: Vec<CatalogTable>,
    /// Leaves of long-value trees by the tree's root, if they had to be searched for.
    pub(super) long_leaves: HashMap<PageNumber, Vec<Orphan>>,
}

impl<S: PageSource> Reader<S> {
    /// Reads the catalog.
    pub fn open(mut source: S) -> Result<Self, ReadError<S::Error>> {
        let tables = Self::read_catalog(&mut source)?;
        Ok(Self::with_catalog(source, tables))
    }

    /// Reads the catalog's second copy, for use if the first one is damaged.
    pub fn open_shadow(mut source: S) -> Result<Self, ReadError<S::Error>> {
        let tables = Self::read_shadow_catalog(&mut source)?;
        Ok(Self::with_catalog(source, tables))
    }

    /// Opens a database whose catalog copies are both damaged: merges the rows readable in either,
    /// and returns the losses of both.
    pub fn open_salvaged(mut source: S) -> Result<(Self, Vec<Loss>), ReadError<S::Error>> {
        let (mut rows, mut losses) = (BTreeMap::new(), Vec::new());
        for tree in [system_trees::OBJECTS, system_trees::OBJECTS_SHADOW] {
            let salvaged = salvage_rows(&mut source, tree, &mut losses);
            for row in salvaged.map_err(ReadError::Source)? {
                rows.entry((row.table, row.kind, row.id)).or_insert(row);
            }
        }
        let tables = complete(rows.into_values(), system_trees::OBJECTS.root)?;
        Ok((Self::with_catalog(source, tables), losses))
    }

    /// The tables that the catalog describes.
    pub(crate) fn read_catalog(source: &mut S) -> Result<Vec<CatalogTable>, ReadError<S::Error>> {
        read_tables(source, system_trees::OBJECTS.root)
    }

    /// The tables that the catalog's second copy describes.
    pub(crate) fn read_shadow_catalog(
        source: &mut S,
    ) -> Result<Vec<CatalogTable>, ReadError<S::Error>> {
        read_tables(source, system_trees::OBJECTS_SHADOW.root)
    }

    pub(crate) fn with_catalog(source: S, tables: Vec<CatalogTable>) -> Self {
        let long_leaves = HashMap::new();
        Self { source, tables, long_leaves }
    }

    /// The tables, in the order of their object identifiers; the engine's own come first.
    pub fn tables(&self) -> &[CatalogTable] {
        &self.tables
    }

    /// The table with this name.
    pub fn table(&self, name: &str) -> Option<&CatalogTable> {
        self.tables.iter().find(|table| table.definition.name == name)
    }

    /// The size of the database's pages.
    pub fn page_size(&self) -> PageSize {
        self.source.page_size()
    }

    /// Source of the pages.
    pub const fn source(&mut self) -> &mut S {
        &mut self.source
    }

    /// A walk over the rows of a table in primary key order: entries are primary key and record.
    /// Pass it [`Reader::source`] at every step.
    pub fn rows(&mut self, table: &CatalogTable) -> Result<Cursor, ReadError<S::Error>> {
        Cursor::first(&mut self.source, table.place.root)
    }

    /// Like [`Self::rows`], for damaged files: it continues past damaged pages.
    pub fn salvaged_rows(&self, table: &CatalogTable) -> Salvage {
        Salvage::of_table(table.place)
    }

    /// The record with this primary key.
    pub(crate) fn record(
        &mut self,
        table: &CatalogTable,
        key: &[u8],
    ) -> Result<Option<Vec<u8>>, ReadError<S::Error>> {
        let mut cursor = Cursor::seek(&mut self.source, table.place.root, key)?;
        let found = cursor.next(&mut self.source)?.filter(|entry| entry.key == key);
        Ok(found.map(|entry| entry.data.to_vec()))
    }

    /// The values of one column of a record, in order; `None` if it is null.
    pub fn column_values(
        &mut self,
        table: &CatalogTable,
        record: &[u8],
        column: &ColumnDefinition,
    ) -> Result<Vec<FieldValue>, ReadError<S::Error>> {
        RecordRef::parse(record, self.page_size())?
            .column(column)?
            .or_default(column)
            .into_iter()
            .map(|element| self.value_of(table, element))
            .collect()
    }

    pub(super) fn value_of(
        &mut self,
        table: &CatalogTable,
        element: Element<'_>,
    ) -> Result<FieldValue, ReadError<S::Error>> {
        Ok(match element {
            Element::Plain(bytes) => FieldValue::Bytes(bytes.to_vec()),
            Element::Compressed(bytes) => FieldValue::Bytes(decompress(bytes)?),
            Element::Encrypted(bytes) => FieldValue::Encrypted(bytes.to_vec()),
            Element::Separated(id) => FieldValue::Bytes(self.long_value(table, id)?),
        })
    }

    /// The whole of a long value.
    pub(crate) fn long_value(
        &mut self,
        table: &CatalogTable,
        id: LongValueId,
    ) -> Result<Vec<u8>, ReadError<S::Error>> {
        let missing = || ReadError::LongValue { id };
        let place = table.long_values.ok_or_else(missing)?;
        let mut cursor = Cursor::seek(&mut self.source, place.root, &id.any_root_key())?;
        let root = cursor.next(&mut self.source)?.filter(|entry| entry.key == id.any_root_key());
        let root = root.and_then(|entry| LongValueRoot::decode(entry.data)).ok_or_else(missing)?;
        let total = root.bytes as usize;
        let chunk_bytes = table.long_value_chunk_bytes(self.page_size());
        let mut value = Vec::new();
        while value.len() < total {
            let offset = u32::try_from(value.len()).map_err(|_| missing())?;
            let entry = cursor.next(&mut self.source)?.ok_or_else(missing)?;
            if LongValueKey::decode(entry.key) != Some(LongValueKey::Chunk(id, offset)) {
                return Err(missing());
            }
            let expected = chunk_bytes.min(total - value.len());
            append_chunk(&mut value, entry.data, expected)?;
        }
        Ok(value)
    }
}

/// The tables of the catalog with this root.
fn read_tables<S: PageSource>(
    source: &mut S,
    root: PageNumber,
) -> Result<Vec<CatalogTable>, ReadError<S::Error>> {
    let page_size = source.page_size();
    let mut cursor = Cursor::first(source, root)?;
    let mut rows = Vec::new();
    while let Some(entry) = cursor.next(source)? {
        rows.extend(CatalogRow::decode(entry.data, page_size)?);
    }
    complete(rows, root)
}

/// The readable rows of the catalog at `tree`.
fn salvage_rows<S: PageSource>(
    source: &mut S,
    tree: SystemTree,
    losses: &mut Vec<Loss>,
) -> Result<Vec<CatalogRow>, S::Error> {
    let page_size = source.page_size();
    let mut walk = Salvage::of_table(TreePlace { object: tree.object, root: tree.root });
    let mut rows = Vec::new();
    while let Some(step) = walk.next(source)? {
        match step {
            SalvageStep::Entry(entry) => match CatalogRow::decode(entry.data, page_size) {
                Ok(row) => rows.extend(row),
                Err(_) => losses.push(Loss::node(entry.page, entry.line)),
            },
            SalvageStep::Loss(loss) => losses.push(loss),
        }
    }
    Ok(rows)
}

/// The tables described by `rows`. A catalog that does not list itself is invalid.
fn complete<E>(
    rows: impl IntoIterator<Item = CatalogRow>,
    root: PageNumber,
) -> Result<Vec<CatalogTable>, ReadError<E>> {
    let tables = assemble(rows);
    let lists_itself = tables.iter().any(|table| table.definition.name == OBJECTS_NAME);
    if lists_itself { Ok(tables) } else { Err(ReadError::Catalog { page: root }) }
}

/// Appends a chunk, which is compressed if its length differs from the one expected at its
/// position.
fn append_chunk<E>(
    value: &mut Vec<u8>,
    stored: &[u8],
    expected: usize,
) -> Result<(), ReadError<E>> {
    if stored.len() == expected {
        value.extend_from_slice(stored);
        return Ok(());
    }
    let chunk = decompress(stored)?;
    if chunk.len() != expected {
        let error = CompressionError::Damaged;
        return Err(ReadError::Compression { error });
    }
    value.extend_from_slice(&chunk);
    Ok(())
}
