//! Values that are partly lost, or stored in a form not decoded here.

use std::collections::BTreeMap;

use crate::catalog::{CatalogTable, TreePlace};
use crate::compression::{CompressionError, decompress};
use crate::long_value::{LongValueId, LongValueKey, LongValueRoot};
use crate::page::{PageRef, page_flags};
use crate::reader::cursor::load;
use crate::reader::{Cursor, FieldValue, PageSource, ReadDamage, ReadError, Reader, orphans};
use crate::record::{Element, RecordRef};
use crate::schema::ColumnDefinition;

/// A value as far as it can be recovered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Salvaged {
    /// All of it.
    Whole(FieldValue),
    /// Only parts of it, or nothing.
    Partial(PartialValue),
}

/// An incomplete value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialValue {
    /// Its length; `None` if that is lost too.
    pub bytes: Option<u32>,
    /// Its readable parts, in order.
    pub chunks: Vec<ValuePart>,
    /// Why the rest is missing.
    pub reason: ReadDamage,
}

/// A part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValuePart {
    /// Offset in the value, in bytes.
    pub offset: u32,
    /// Its content.
    pub content: ChunkContent,
}

/// Content of a part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChunkContent {
    /// The bytes of the value.
    Bytes(Vec<u8>),
    /// Stored bytes that encode the value by an unknown method.
    Stored(Vec<u8>),
}

/// The nodes of one long value, in stored form.
#[derive(Default)]
struct ValueNodes {
    root: Option<LongValueRoot>,
    chunks: BTreeMap<u32, Vec<u8>>,
}

impl ValueNodes {
    /// Takes a node; false if it is past the value.
    fn take(&mut self, id: LongValueId, key: &[u8], data: &[u8]) -> bool {
        match LongValueKey::decode(key) {
            Some(LongValueKey::Root(root)) if root == id => {
                self.root = LongValueRoot::decode(data);
            }
            Some(LongValueKey::Chunk(of, offset)) if of == id => {
                self.chunks.insert(offset, data.to_vec());
            }
            _ => return key < id.any_root_key().as_slice(),
        }
        true
    }
}

impl<S: PageSource> Reader<S> {
    /// The values of one column of a record, in order, as far as recoverable. Errors concern the
    /// structure of the record itself.
    pub fn salvaged_values(
        &mut self,
        table: &CatalogTable,
        record: RecordRef<'_>,
        column: &ColumnDefinition,
    ) -> Result<Vec<Salvaged>, ReadError<S::Error>> {
        let mut values = Vec::new();
        for element in record.column(column)?.or_default(column) {
            values.push(self.salvaged_value(table, element)?);
        }
        Ok(values)
    }

    fn salvaged_value(
        &mut self,
        table: &CatalogTable,
        element: Element<'_>,
    ) -> Result<Salvaged, ReadError<S::Error>> {
        let error = match self.value_of(table, element) {
            Ok(value) => return Ok(Salvaged::Whole(value)),
            Err(error) => error.without_source().map_err(ReadError::Source)?,
        };
        let partial = match element {
            Element::Separated(id) => self.partial_value(table, id, error)?,
            Element::Plain(bytes) | Element::Compressed(bytes) | Element::Encrypted(bytes) => {
                let content = ChunkContent::Stored(bytes.to_vec());
                PartialValue {
                    bytes: None,
                    chunks: vec![ValuePart { offset: 0, content }],
                    reason: error,
                }
            }
        };
        Ok(Salvaged::Partial(partial))
    }

    /// The readable parts of a long value that could not be read as a whole.
    fn partial_value(
        &mut self,
        table: &CatalogTable,
        id: LongValueId,
        reason: ReadDamage,
    ) -> Result<PartialValue, ReadError<S::Error>> {
        let mut nodes = ValueNodes::default();
        if let Some(place) = table.long_values {
            let followed = self.follow(place, id, &mut nodes);
            if let Err(error) = followed {
                error.without_source().map_err(ReadError::Source)?;
                let found = self.look_for(place, id, &mut nodes);
                found.map_err(ReadError::Source)?;
            }
        }
        let chunk_bytes = table.long_value_chunk_bytes(self.page_size());
        let bytes = nodes.root.map(|root| root.bytes);
        let chunks = nodes.chunks.into_iter().map(|(offset, stored)| {
            let left = bytes.map(|bytes| bytes.saturating_sub(offset) as usize);
            let expected = chunk_bytes.min(left.unwrap_or(chunk_bytes));
            let content = content(stored, expected);
            ValuePart { offset, content }
        });
        Ok(PartialValue { bytes, chunks: chunks.collect(), reason })
    }

    /// Takes the nodes of a value along the links of leaves, up to the first damage.
    fn follow(
        &mut self,
        place: TreePlace,
        id: LongValueId,
        nodes: &mut ValueNodes,
    ) -> Result<(), ReadError<S::Error>> {
        let mut cursor = Cursor::seek(&mut self.source, place.root, &id.any_root_key())?;
        while let Some(entry) = cursor.next(&mut self.source)? {
            if !nodes.take(id, entry.key, entry.data) {
                break;
            }
        }
        Ok(())
    }

    /// Takes the nodes of a value from all leaves that may hold some.
    fn look_for(
        &mut self,
        place: TreePlace,
        id: LongValueId,
        nodes: &mut ValueNodes,
    ) -> Result<(), S::Error> {
        if !self.long_leaves.contains_key(&place.root) {
            let leaves = orphans::leaves(&mut self.source, place, page_flags::LONG_VALUE)?;
            self.long_leaves.insert(place.root, leaves);
        }
        let leaves = &self.long_leaves[&place.root];
        let (low, high) = (id.any_root_key(), id.last_key());
        let first = leaves.partition_point(|leaf| leaf.last < low);
        for leaf in leaves[first..].iter().take_while(|leaf| leaf.first <= high) {
            let page = match load(&mut self.source, leaf.page) {
                Ok(page) => page,
                Err(ReadError::Source(error)) => return Err(error),
                Err(_) => continue,
            };
            for node in PageRef::new(&page).nodes().filter(|node| !node.is_deleted()) {
                nodes.take(id, &node.key(), node.data);
            }
        }
        Ok(())
    }
}

fn content(stored: Vec<u8>, expected: usize) -> ChunkContent {
    if stored.len() == expected {
        return ChunkContent::Bytes(stored);
    }
    match decompress(&stored) {
        Ok(bytes) if bytes.len() == expected => ChunkContent::Bytes(bytes),
        Ok(_) | Err(CompressionError::UnknownMethod { .. } | CompressionError::Damaged) => {
            ChunkContent::Stored(stored)
        }
    }
}
