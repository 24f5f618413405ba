//! Builds a whole database file in one pass at the speed of the device.
//!
//! Rows arrive in primary-key order and every tree grows at its right edge, so pages are finished
//! once, in the buffers that are written, and nothing is ever read back or logged. The header says
//! "just created" until everything else is durable: an interrupted fill cannot be mistaken for a
//! database.
//!
//! Leaves of the table and its indexes are left a fifth empty, as in ESE (density 80 %), so that
//! rows may grow; the long-value tree, which never grows inside, is packed full.

mod catalog;
mod error;
mod extents;
mod fill;
mod gaps;
mod sink;
mod space;
#[cfg(test)]
mod tests;
mod tree;
mod writer;

use std::rc::Rc;

use device::{DeviceError, OpenMode, Runtime, Volume};
use ese::Signature;
use ese::flush_map::file_name;
use ese::header::{DatabaseHeader, DatabaseState};
use ese::page::PageSize;
use ese::schema::TableDefinition;
use units::{Bytes, PageNumber};

use crate::flush_map_file::{self, pair};
use crate::row::Row;
use fill::Fill;
use writer::FileWriter;

pub use error::{BulkError, RowProblem};

/// The database time of every page of a fresh fill. Live changes continue from here.
pub(crate) const DBTIME_OF_FILL: u64 = 1;

/// How much a fill makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A fixed number of rows, or all that the source has.
    Rows(u64),
    /// A file of this many bytes (whole pages of it), as full of rows as its reserve allows.
    File(Bytes),
}

/// The database to build.
#[derive(Clone, Debug)]
pub struct BulkOptions {
    /// Size of every page.
    pub page_size: PageSize,
    /// The one user table.
    pub table: TableDefinition,
    /// Identity of the database; its time is when the file was created.
    pub signature: Signature,
    /// Signature of the log that the database belongs to; all zero if there is none yet.
    pub log_signature: Signature,
    /// Amount to make.
    pub amount: Amount,
    /// Free pages to leave at the end of the file, for growth without extending it.
    pub reserve: Bytes,
    /// Maximum number of writes of 1 MiB in flight.
    pub writes_in_flight: usize,
}

impl BulkOptions {
    /// Number of writes in flight that keeps a typical disk busy.
    pub(crate) const WRITES_IN_FLIGHT: usize = 8;

    /// An empty database of 32 KiB pages with `table`.
    pub fn new(table: TableDefinition, signature: Signature) -> Self {
        Self {
            page_size: PageSize::KIB_32,
            table,
            signature,
            log_signature: Signature::default(),
            amount: Amount::Rows(u64::MAX),
            reserve: Bytes(0),
            writes_in_flight: Self::WRITES_IN_FLIGHT,
        }
    }
}

/// Supplies the rows of a fill, in ascending order of their primary keys; secondary keys ascend
/// too.
pub trait RowSource {
    /// Sets the columns of the next row in `row`, which is empty; `false` if there are no more.
    fn fill(&mut self, row: &mut Row) -> bool;

    /// Whether to stop before the fill is complete.
    fn is_broken_off(&self) -> bool {
        false
    }
}

/// A source without rows.
struct NoRows;

impl RowSource for NoRows {
    fn fill(&mut self, _row: &mut Row) -> bool {
        false
    }
}

/// Progress of a fill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BulkProgress {
    /// Rows added.
    pub rows: u64,
    /// Bytes of finished pages.
    pub bytes: Bytes,
}

/// Result of a fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkSummary {
    /// Rows of the table.
    pub rows: u64,
    /// Long values.
    pub long_values: u64,
    /// Pages of the file, used and free, without the two header pages.
    pub pages: u32,
    /// Pages that were written.
    pub pages_written: u64,
    /// Length of the file.
    pub bytes: Bytes,
    /// Whether the fill wrote every byte because the storage did not zero the file.
    pub written_whole: bool,
}

/// Creates `file` in `volume` and fills it with the rows of `source`.
///
/// `progress` is called after every write. If this fails, or `source` cancels it, the file remains
/// in the state "just created", which nothing opens.
pub async fn load(
    runtime: &Runtime,
    volume: &Rc<dyn Volume>,
    file: &str,
    options: &BulkOptions,
    source: &mut impl RowSource,
    mut progress: impl FnMut(BulkProgress),
) -> Result<BulkSummary, BulkError> {
    check_schema(file, options)?;
    let mut fill = Fill::new(options).map_err(|problem| problem.of(file))?;
    let size = options.page_size;
    let wanted = match options.amount {
        Amount::File(bytes) => bytes.0 - bytes.0 % size.bytes_u64(),
        Amount::Rows(_) => 0,
    };
    let create = OpenMode::CreateUnwritten { length: wanted.max(2 * size.bytes_u64()) };
    let device = volume.open(file, create).await?;
    let written_whole = !device.caps().zeroed;
    let mut writer = FileWriter::new(device, options.writes_in_flight);
    let mut header = DatabaseHeader::new(size, options.signature);
    header.state = DatabaseState::JustCreated;
    header.log_signature = options.log_signature;
    header.dbtime = DBTIME_OF_FILL;
    header.last_object = fill.last_object();
    write_headers(&mut writer, &header, size).await?;
    let step = add_rows(runtime, file, (&mut fill, &mut writer), source, &mut progress).await?;
    let least_pages = u32::try_from(size.pages_of_file(wanted)).unwrap_or(u32::MAX);
    let pages = fill.finish(least_pages);
    writer.drain(runtime, &mut fill.sink).await?;
    close_gaps(&mut writer, source, step, &mut progress).await?;
    let bytes = size.file_length(PageNumber(pages));
    writer.finish(bytes).await?;
    if source.is_broken_off() {
        return Err(BulkError::BrokenOff { file: file.to_owned() });
    }
    header.state = DatabaseState::CleanShutdown;
    let map_header = pair(runtime, &mut header);
    let map = fill.sink.flush_map().encode(&map_header);
    flush_map_file::write(&**volume, &file_name(file), &map).await?;
    write_headers(&mut writer, &header, size).await?;
    Ok(BulkSummary {
        rows: fill.rows(),
        long_values: fill.long_values(),
        pages,
        pages_written: fill.sink.finished(),
        bytes: Bytes(bytes),
        written_whole,
    })
}

/// Writes rows until there are no more; returns the progress.
async fn add_rows(
    runtime: &Runtime,
    file: &str,
    (fill, writer): (&mut Fill, &mut FileWriter),
    source: &mut impl RowSource,
    progress: &mut impl FnMut(BulkProgress),
) -> Result<BulkProgress, BulkError> {
    loop {
        let more = fill.add_rows(source).map_err(|problem| BulkError::Row {
            file: file.to_owned(),
            row: fill.rows(),
            problem,
        })?;
        writer.drain(runtime, &mut fill.sink).await?;
        let bytes = Bytes(fill.sink.finished() * fill.sink.page_size().bytes_u64());
        let step = BulkProgress { rows: fill.rows(), bytes };
        progress(step);
        if !more {
            return Ok(step);
        }
    }
}

/// Writes zeros to the unwritten parts of a file that was not zeroed initially.
async fn close_gaps(
    writer: &mut FileWriter,
    source: &impl RowSource,
    mut step: BulkProgress,
    progress: &mut impl FnMut(BulkProgress),
) -> Result<(), DeviceError> {
    while !source.is_broken_off() {
        let Some(bytes) = writer.close_gap().await? else {
            break;
        };
        step.bytes.0 += bytes;
        progress(step);
    }
    Ok(())
}

/// Creates a database whose table has no rows.
pub async fn create_empty(
    runtime: &Runtime,
    volume: &Rc<dyn Volume>,
    file: &str,
    options: &BulkOptions,
) -> Result<BulkSummary, BulkError> {
    load(runtime, volume, file, options, &mut NoRows, |_| {}).await
}

/// Writes the primary copy first: a reader that finds the copies different trusts that one.
async fn write_headers(
    writer: &mut FileWriter,
    header: &DatabaseHeader,
    size: PageSize,
) -> Result<(), DeviceError> {
    let page = header.encode(size);
    writer.write_header(0, &page).await?;
    writer.write_header(size.bytes_u64(), &page).await
}

/// Checks that a fill supports the table's columns and indexes.
fn check_schema(file: &str, options: &BulkOptions) -> Result<(), BulkError> {
    let table = &options.table;
    let problem = match table.primary() {
        None => "a table without a primary index has no order to be filled in",
        Some(primary) if !primary.is_unique() => "the keys of a primary index must not repeat",
        _ if table.indexes.iter().skip(1).any(ese::schema::IndexDefinition::is_primary) => {
            "a table has one primary index"
        }
        _ => return Ok(()),
    };
    Err(BulkError::Schema { file: file.to_owned(), problem: problem.to_owned() })
}
