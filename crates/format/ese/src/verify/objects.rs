//! Compares the table of objects with the catalog: both name every table, index and long-value
//! tree.

use std::collections::BTreeSet;

use units::ObjectId;

use crate::catalog::{CatalogTable, OBJECT_IDS_NAME, RowKind};
use crate::reader::{Entry, PageSource, SalvageStep};
use crate::record::RecordRef;
use crate::verify::{Examination, Problem, Subject};

/// An object with its table and kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ListedObject {
    object: u32,
    table: u32,
    kind: u32,
}

impl<S: PageSource> Examination<'_, S> {
    /// Compares the table of objects, if there is one, with the catalog.
    pub(super) fn compare_objects(&mut self, tables: &[CatalogTable]) -> Result<(), S::Error> {
        let listing = tables.iter().find(|table| table.definition.name == OBJECT_IDS_NAME);
        let Some(listing) = listing else {
            return Ok(());
        };
        let subject = Subject::table(OBJECT_IDS_NAME);
        let mut unlisted: BTreeSet<ListedObject> = tables.iter().flat_map(objects_of).collect();
        let page_size = self.reader.page_size();
        let mut walk = self.reader.salvaged_rows(listing);
        let mut is_whole = true;
        while let Some(step) = walk.next(self.reader.source())? {
            let entry = match step {
                SalvageStep::Entry(entry) => entry,
                SalvageStep::Loss(_) => {
                    // Reported when the rows of the table were examined.
                    is_whole = false;
                    continue;
                }
            };
            let record = RecordRef::parse(entry.data, page_size).ok();
            let Some(listed) = record.and_then(|record| listed_object(listing, record)) else {
                is_whole = false;
                continue;
            };
            if !unlisted.remove(&listed) {
                let Entry { page, key, .. } = entry;
                let problem = Problem::StrayObject { object: ObjectId(listed.object) };
                self.log.add(&subject, page, key, problem);
            }
        }
        for listed in unlisted.into_iter().filter(|_| is_whole) {
            let problem = Problem::UnlistedObject { object: ObjectId(listed.object) };
            self.log.add(&subject, listing.place.root, &[], problem);
        }
        Ok(())
    }
}

/// Rows that the table of objects must have for a table. Its primary index is the table itself.
fn objects_of(table: &CatalogTable) -> Vec<ListedObject> {
    let own = (table.place.object, RowKind::Table);
    let indexes = table.secondaries().map(|(_, place)| (place.object, RowKind::Index));
    let long_values = table.long_values.map(|place| (place.object, RowKind::LongValue));
    std::iter::once(own)
        .chain(indexes)
        .chain(long_values)
        .map(|(object, kind)| ListedObject {
            object: object.0,
            table: table.place.object.0,
            kind: kind.number(),
        })
        .collect()
}

/// The object listed by a row of the table of objects; `None` if a column is missing.
fn listed_object(listing: &CatalogTable, record: RecordRef<'_>) -> Option<ListedObject> {
    Some(ListedObject {
        object: number(listing, record, "objid")?,
        table: number(listing, record, "objidTable")?,
        kind: number(listing, record, "type")?,
    })
}

fn number(listing: &CatalogTable, record: RecordRef<'_>, column: &str) -> Option<u32> {
    let bytes = record.plain(listing.definition.column_named(column)?)?;
    Some(bytes.iter().rev().fold(0, |sum: u32, &byte| sum << 8 | u32::from(byte)))
}
