//! Finds the growth of the database file that a crash may have undone, without changing anything.

use std::rc::Rc;

use device::{Boxed, OpenMode};
use ese::Lgpos;
use units::Bytes;
use wal::{LogFolder, LogReader, LogRecord};

use crate::files::DatabaseFiles;
use crate::recovery::RecoveryError;
use crate::recovery::redo::{find_log, read_header};

/// The lengths that the log extends the file to, from the checkpoint on. A length before the
/// checkpoint is durable, because the file is flushed before the checkpoint moves: a crash can only
/// leave a file without these. Fails, as recovery would, if the header or the log cannot be read.
pub fn growth(files: &DatabaseFiles) -> Boxed<'_, Result<Vec<Bytes>, RecoveryError>> {
    Box::pin(async move {
        let device = files.database.open(&files.file, OpenMode::ReadOnly).await?;
        let (header, page_size) = read_header(&*device).await?;
        let folder = LogFolder::new(Rc::clone(&files.log), &files.log_base);
        let (chain, checkpoint) = find_log(&folder, &header, page_size).await?;
        let start = Lgpos { generation: checkpoint.generation, segment: 1, byte: 0 };
        let mut reader = LogReader::open(chain, start).await?;
        let mut lengths = Vec::new();
        while let Some((span, record)) = reader.next().await? {
            if let LogRecord::Extend { length } = record
                && span.start >= checkpoint
            {
                lengths.push(length);
            }
        }
        Ok(lengths)
    })
}
