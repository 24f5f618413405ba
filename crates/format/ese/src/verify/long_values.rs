//! Compares long values with the records that hold them.

use units::PageNumber;

use crate::catalog::{CatalogTable, TreePlace};
use crate::compression::{CompressionError, decompress};
use crate::long_value::{LongValueId, LongValueKey, LongValueRoot};
use crate::reader::{Entry, Loss, PageSource, Salvage, SalvageStep};
use crate::verify::finding::LogNeeded;
use crate::verify::{Examination, Problem, Subject};

impl<S: PageSource> Examination<'_, S> {
    /// Compares a table's long values with its records' `references`, one id per reference.
    pub(super) fn compare_long_values(
        &mut self,
        table: &CatalogTable,
        mut references: Vec<u64>,
    ) -> Result<(), S::Error> {
        references.sort_unstable();
        let subject = Subject::index(&table.definition.name, "long values");
        let chunk_bytes = table.long_value_chunk_bytes(self.reader.page_size());
        let mut audit = Audit {
            log: &mut self.log,
            subject: &subject,
            references: &references,
            chunk_bytes,
            current: None,
            leaving: None,
        };
        let walked = match table.long_values {
            Some(place) => audit.walk(self.reader.source(), place),
            None => Ok(()),
        };
        audit.end();
        walked
    }
}

/// The value whose chunks are being walked.
struct CurrentValue {
    id: LongValueId,
    page: PageNumber,
    bytes: u64,
    seen_bytes: u64,
    is_whole: bool,
    is_encrypted: bool,
}

/// Offset of the flags after the numbers of a root node, in later formats.
const ROOT_FLAGS_OFFSET: usize = 8;
/// In the flags of a root node: the application has encrypted the chunks.
const ENCRYPTED: u8 = 1;

/// Whether only the application can judge the chunks of the value with this root node.
fn is_encrypted(root: &[u8]) -> bool {
    root.get(ROOT_FLAGS_OFFSET).is_some_and(|flags| flags & ENCRYPTED != 0)
}

/// Whether a stored chunk unpacks to `expected` bytes; true if its method is not decoded here.
fn unpacks(stored: &[u8], expected: u64) -> bool {
    if stored.len() as u64 == expected {
        return true;
    }
    match decompress(stored) {
        Ok(bytes) => bytes.len() as u64 == expected,
        Err(error) => matches!(error, CompressionError::UnknownMethod { .. }),
    }
}

/// A walk over a long-value tree in parallel with the sorted references to its values.
struct Audit<'a> {
    log: &'a mut LogNeeded,
    subject: &'a Subject,
    /// References that the walk has not passed yet.
    references: &'a [u64],
    chunk_bytes: usize,
    current: Option<CurrentValue>,
    /// The value most recently found without references or without a root.
    leaving: Option<LongValueId>,
}

impl Audit<'_> {
    fn walk<S: PageSource>(&mut self, source: &mut S, place: TreePlace) -> Result<(), S::Error> {
        let mut walk = Salvage::of_long_values(place).with_deleted();
        while let Some(step) = walk.next(source)? {
            let entry = match step {
                SalvageStep::Entry(entry) => entry,
                SalvageStep::Loss(loss) => {
                    self.log.lost(self.subject, loss.error);
                    continue;
                }
            };
            match LongValueKey::decode(entry.key) {
                Some(LongValueKey::Root(id)) => self.begin(id, &entry),
                Some(LongValueKey::Chunk(id, offset)) => self.chunk(id, offset, &entry),
                None => {
                    let damage = Loss::node(entry.page, entry.line).error;
                    self.log.add(self.subject, entry.page, entry.key, Problem::Unreadable(damage));
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self, id: LongValueId, entry: &Entry<'_>) {
        self.finish();
        self.log.report.long_values += 1;
        let counted = self.pass_references(id);
        let Some(root) = LongValueRoot::decode(entry.data) else {
            let problem = Problem::LongValueChunks { id };
            self.log.add(self.subject, entry.page, entry.key, problem);
            return;
        };
        let stated = if entry.is_deleted { 0 } else { root.references };
        if stated == 0 {
            self.log.report.awaiting_cleanup += 1;
            self.leaving = Some(id);
        }
        if stated != counted {
            let problem = Problem::LongValueReferences { id, stated, counted };
            self.log.add(self.subject, entry.page, entry.key, problem);
        }
        // A value that is being removed may have lost chunks already.
        self.current = (stated > 0).then_some(CurrentValue {
            id,
            page: entry.page,
            bytes: u64::from(root.bytes),
            seen_bytes: 0,
            is_whole: true,
            is_encrypted: is_encrypted(entry.data),
        });
    }

    fn chunk(&mut self, id: LongValueId, offset: u32, entry: &Entry<'_>) {
        let step = self.chunk_bytes as u64;
        match self.current.as_mut().filter(|current| current.id == id) {
            Some(current) => {
                let is_next = current.seen_bytes == u64::from(offset) && !entry.is_deleted;
                current.is_whole &= is_next && current.seen_bytes < current.bytes;
                let expected = current.bytes.saturating_sub(u64::from(offset)).min(step);
                if is_next && !current.is_encrypted && !unpacks(entry.data, expected) {
                    let problem = Problem::LongValueChunk { id, offset };
                    self.log.add(self.subject, entry.page, entry.key, problem);
                }
                current.seen_bytes = (u64::from(offset) + step).min(current.bytes);
            }
            None if entry.is_deleted => {}
            None => self.stray_chunk(id, entry),
        }
    }

    /// Reports a chunk without its root, unless the root is being removed. Each value is reported
    /// once.
    fn stray_chunk(&mut self, id: LongValueId, entry: &Entry<'_>) {
        if self.leaving.replace(id) != Some(id) {
            let problem = Problem::LongValueChunks { id };
            self.log.add(self.subject, entry.page, entry.key, problem);
        }
    }

    fn finish(&mut self) {
        if let Some(current) = self.current.take()
            && (!current.is_whole || current.seen_bytes != current.bytes)
        {
            let problem = Problem::LongValueChunks { id: current.id };
            self.log.add(self.subject, current.page, &[], problem);
        }
    }

    /// Counts the references to `id`; reports those to lower ids as missing values.
    fn pass_references(&mut self, id: LongValueId) -> u32 {
        let below = self.references.partition_point(|reference| *reference < id.0);
        self.missing(below);
        let equal = self.references.partition_point(|reference| *reference == id.0);
        self.references = &self.references[equal..];
        u32::try_from(equal).unwrap_or(u32::MAX)
    }

    /// Reports that the first `count` references have no value.
    fn missing(&mut self, count: usize) {
        let (missing, rest) = self.references.split_at(count);
        for id in missing.iter().map(|&id| LongValueId(id)) {
            self.log.add(self.subject, PageNumber::NONE, &[], Problem::LongValueMissing { id });
        }
        self.references = rest;
    }

    fn end(&mut self) {
        self.finish();
        self.missing(self.references.len());
    }
}
