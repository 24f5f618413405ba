//! Compares a table's rows with its indexes and long values.
//!
//! Entries are first compared as order-free sums, in one pass over each tree. Only if sums differ
//! is every entry looked up, to name those that are wrong.

use units::PageNumber;

use crate::catalog::{CatalogTable, OBJECTS_NAME, OBJECTS_SHADOW_NAME, TreePlace};
use crate::header::DatabaseHeader;
use crate::reader::{Cursor, Entry, LostPart, PageSource, ReadError, SalvageStep};
use crate::record::{Element, RecordError, RecordRef, Stored};
use crate::schema::IndexDefinition;
use crate::verify::index::{EntrySum, Expected, expected_key, parse};
use crate::verify::notice::LostLeaves;
use crate::verify::{Examination, Notice, Problem, Subject};

/// A secondary index while its table is walked.
struct Compared<'t> {
    definition: &'t IndexDefinition,
    place: TreePlace,
    expected: EntrySum,
    is_known: bool,
}

/// Outcome of the walk over a table.
#[derive(Default)]
struct WalkedRows {
    /// Whether rows could not be read.
    is_partial: bool,
    /// The lost pages of rows; `None` if the number of rows cannot be estimated.
    lost_leaves: Option<LostLeaves>,
}

impl<S: PageSource> Examination<'_, S> {
    /// Compares a table with its indexes and long values.
    pub(super) fn compare_table(&mut self, table: &CatalogTable) -> Result<(), S::Error> {
        let subject = Subject::table(&table.definition.name);
        let mut indexes = Vec::new();
        for (definition, place) in table.secondaries() {
            let (expected, is_known) = (EntrySum::default(), true);
            indexes.push(Compared { definition, place, expected, is_known });
        }
        let mut long_values = Vec::new();
        let walked = self.walk_rows(table, &mut indexes, &mut long_values)?;
        if walked.is_partial {
            let about = walked.lost_leaves;
            let notice = Notice::LostRows { subject, about };
            self.log.report.notices.push(notice);
            return Ok(());
        }
        for index in &indexes {
            let subject = Subject::index(&table.definition.name, &index.definition.name);
            let compared = self.compare_index(table, index, &subject);
            if self.log.keep(&subject, compared)?.is_none() {
                let notice = Notice::LostEntries { subject };
                self.log.report.notices.push(notice);
            }
        }
        self.compare_long_values(table, long_values)?;
        let is_shadowed = self.header.is_some_and(DatabaseHeader::is_catalog_shadowed);
        if table.definition.name == OBJECTS_NAME && is_shadowed {
            let compared = self.compare_catalogs(table);
            self.log.keep(&subject, compared)?;
        }
        Ok(())
    }

    fn walk_rows(
        &mut self,
        table: &CatalogTable,
        indexes: &mut [Compared<'_>],
        long_values: &mut Vec<u64>,
    ) -> Result<WalkedRows, S::Error> {
        let subject = Subject::table(&table.definition.name);
        let mut walked = WalkedRows::default();
        let (mut lost_leaves, mut is_known) = (0, true);
        let mut walk = self.reader.salvaged_rows(table).with_deleted();
        while let Some(step) = walk.next(self.reader.source())? {
            match step {
                SalvageStep::Entry(entry) if entry.is_deleted => {
                    self.log.report.awaiting_cleanup += 1;
                }
                SalvageStep::Entry(entry) => {
                    let read = self.look_at_row(table, &entry, indexes, long_values);
                    if let Err(error) = read {
                        let problem = Problem::Unreadable(ReadError::Record { error });
                        self.log.add(&subject, entry.page, entry.key, problem);
                        walked.is_partial = true;
                    }
                }
                SalvageStep::Loss(loss) => {
                    lost_leaves += u64::from(loss.part == LostPart::Leaf);
                    is_known &= !loss.is_of_unknown_extent();
                    walked.is_partial = true;
                    self.log.lost(&subject, loss.error);
                }
            }
        }
        let per_leaf = walk.nodes_per_leaf().filter(|_| lost_leaves > 0 && is_known);
        walked.lost_leaves = per_leaf.map(|rows_each| LostLeaves { pages: lost_leaves, rows_each });
        Ok(walked)
    }

    /// Records the keys and long values of a row.
    fn look_at_row(
        &mut self,
        table: &CatalogTable,
        entry: &Entry<'_>,
        indexes: &mut [Compared<'_>],
        long_values: &mut Vec<u64>,
    ) -> Result<(), RecordError> {
        self.log.report.rows += 1;
        let record = RecordRef::parse(entry.data, self.reader.page_size())?;
        if !has_its_key(table, record, entry.key) {
            let subject = Subject::table(&table.definition.name);
            self.log.add(&subject, entry.page, entry.key, Problem::PrimaryKey);
        }
        for index in indexes.iter_mut() {
            index.expect_row(table, record, entry.key);
        }
        collect_long_values(record, long_values)
    }

    fn compare_index(
        &mut self,
        table: &CatalogTable,
        index: &Compared<'_>,
        subject: &Subject,
    ) -> Result<(), ReadError<S::Error>> {
        if !index.is_known {
            let subject = subject.clone();
            self.log.report.notices.push(Notice::IndexNotCompared { subject });
            return Ok(());
        }
        let mut found = EntrySum::default();
        let mut cursor = Cursor::first(self.reader.source(), index.place.root)?.with_deleted();
        while let Some(entry) = cursor.next(self.reader.source())? {
            if entry.is_deleted {
                self.log.report.awaiting_cleanup += 1;
            } else {
                found.add(entry.key, entry.data);
            }
        }
        self.log.report.index_entries += found.count;
        if found != index.expected {
            self.name_stray_entries(table, index, subject)?;
            self.name_missing_entries(table, index, subject)?;
        }
        Ok(())
    }

    fn name_stray_entries(
        &mut self,
        table: &CatalogTable,
        index: &Compared<'_>,
        subject: &Subject,
    ) -> Result<(), ReadError<S::Error>> {
        let page_size = self.reader.page_size();
        let mut cursor = Cursor::first(self.reader.source(), index.place.root)?;
        let mut before: Option<(Vec<u8>, Vec<u8>)> = None;
        while let Some(entry) = cursor.next(self.reader.source())? {
            let row = self.reader.record(table, entry.data)?;
            let record = row.as_deref().and_then(|row| parse(row, page_size));
            let is_right = record.is_some_and(|record| {
                let expected = expected_key(table, index.definition, record);
                matches!(expected, Expected::Key(key) if key == entry.key)
            });
            let pair = (entry.key.to_vec(), entry.data.to_vec());
            let is_repeated = before.as_ref() == Some(&pair);
            if !is_right || is_repeated {
                self.log.add(subject, entry.page, entry.key, Problem::StrayEntry);
            }
            if !self.log.has_room() {
                break;
            }
            before = Some(pair);
        }
        Ok(())
    }

    fn name_missing_entries(
        &mut self,
        table: &CatalogTable,
        index: &Compared<'_>,
        subject: &Subject,
    ) -> Result<(), ReadError<S::Error>> {
        let page_size = self.reader.page_size();
        let mut cursor = self.reader.rows(table)?;
        while let Some(entry) = cursor.next(self.reader.source())? {
            let Some(record) = parse(entry.data, page_size) else {
                continue;
            };
            let expected = expected_key(table, index.definition, record);
            let Expected::Key(key) = expected else {
                continue;
            };
            if !self.has_entry(index.place.root, &key, entry.key)? {
                self.log.add(subject, entry.page, entry.key, Problem::MissingEntry);
            }
            if !self.log.has_room() {
                break;
            }
        }
        Ok(())
    }

    fn has_entry(
        &mut self,
        root: PageNumber,
        key: &[u8],
        primary: &[u8],
    ) -> Result<bool, ReadError<S::Error>> {
        let mut cursor = Cursor::seek(self.reader.source(), root, key)?;
        while let Some(entry) = cursor.next(self.reader.source())?.filter(|entry| entry.key == key)
        {
            if entry.data == primary {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Compares the catalog with its shadow: both must hold the same records under the same keys.
    fn compare_catalogs(&mut self, catalog: &CatalogTable) -> Result<(), ReadError<S::Error>> {
        let Some(shadow) = self.reader.table(OBJECTS_SHADOW_NAME).cloned() else {
            return Ok(());
        };
        let sums = [self.sum_rows(catalog)?, self.sum_rows(&shadow)?];
        if sums[0] != sums[1] {
            let subject = Subject::table(OBJECTS_SHADOW_NAME);
            self.log.add(&subject, shadow.place.root, &[], Problem::CatalogCopies);
        }
        Ok(())
    }

    fn sum_rows(&mut self, table: &CatalogTable) -> Result<EntrySum, ReadError<S::Error>> {
        let mut sum = EntrySum::default();
        let mut cursor = self.reader.rows(table)?;
        while let Some(entry) = cursor.next(self.reader.source())? {
            sum.add(entry.key, entry.data);
        }
        Ok(sum)
    }
}

impl Compared<'_> {
    fn expect_row(&mut self, table: &CatalogTable, record: RecordRef<'_>, primary: &[u8]) {
        if !self.is_known {
            return;
        }
        match expected_key(table, self.definition, record) {
            Expected::Key(key) => self.expected.add(&key, primary),
            Expected::Nothing => {}
            Expected::Unknown => self.is_known = false,
        }
    }
}

/// Whether a row is stored under the key derived from its columns, as far as that can be decided
/// here.
fn has_its_key(table: &CatalogTable, record: RecordRef<'_>, key: &[u8]) -> bool {
    let Some(primary) = table.definition.primary() else {
        return true;
    };
    match expected_key(table, primary, record) {
        Expected::Key(expected) => expected == key,
        Expected::Nothing | Expected::Unknown => true,
    }
}

fn collect_long_values(
    record: RecordRef<'_>,
    long_values: &mut Vec<u64>,
) -> Result<(), RecordError> {
    for field in record.tagged_fields()? {
        let elements = match field.stored {
            Stored::One(element) => vec![element],
            Stored::Many(elements) => elements,
            Stored::Absent | Stored::Null => continue,
        };
        long_values.extend(elements.iter().filter_map(|element| match element {
            Element::Separated(id) => Some(id.0),
            _ => None,
        }));
    }
    Ok(())
}
