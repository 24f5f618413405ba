//! The checkpoint file: where redo begins, in two copies, at least one of which is always whole.

use std::cell::Cell;
use std::rc::Rc;

use device::{Buffer, Device, Durability, OpenMode, Purpose, Request};
use ese::log_file::{CHECKPOINT_FILE_BYTES, Checkpoint, LOG_HEADER_BYTES};

use crate::not_as_written::{NotAsWritten, Written, difference};
use crate::stream::read;
use crate::{LogError, LogFolder, LogIdentity};

/// The open checkpoint file.
pub(crate) struct CheckpointFile {
    device: Rc<dyn Device>,
    /// The last written checkpoint.
    last: Cell<Option<Checkpoint>>,
}

impl CheckpointFile {
    /// Opens the file for writing; creates it if it does not exist.
    pub(crate) async fn open(folder: &LogFolder) -> Result<Self, LogError> {
        let name = folder.names.checkpoint();
        let mode = if folder.has(&name).await? {
            OpenMode::ReadWrite
        } else {
            OpenMode::CreateNew { length: CHECKPOINT_FILE_BYTES }
        };
        let device = folder.volume.open(&name, mode).await?;
        if device.length() < CHECKPOINT_FILE_BYTES {
            let extend = Request::set_length(Purpose::Header, CHECKPOINT_FILE_BYTES);
            device.submit(extend).await.result?;
        }
        let last = Cell::new(None);
        Ok(Self { device, last })
    }

    /// Writes both copies, the second once the first is durable: a crash tears at most one, and an
    /// intact copy is always valid.
    pub(crate) async fn write(&self, checkpoint: &Checkpoint) -> Result<(), LogError> {
        let bytes = checkpoint.encode();
        for copy in 0..2 {
            let offset = copy * LOG_HEADER_BYTES as u64;
            let buffer = Buffer::copy_of(&bytes);
            let write = Request::write(Purpose::Header, offset, buffer, Durability::Durable);
            self.device.submit(write).await.into_buffer()?;
        }
        self.last.set(Some(*checkpoint));
        Ok(())
    }

    /// Reads the last checkpoint back; `None` if it is intact.
    pub(crate) async fn compare(&self) -> Option<NotAsWritten> {
        let bytes = self.last.get()?.encode();
        let both = [bytes, bytes].concat();
        let (offset, what) = match difference(&*self.device, 0, &both).await {
            Ok(offset) => (offset?, Written::Checkpoint),
            Err(error) => (0, Written::Unreadable(error)),
        };
        let file = self.device.name().to_owned();
        Some(NotAsWritten { file, offset, what })
    }
}

/// Reads the checkpoint of a stream: the later of two good copies. `None` if the file is missing or
/// both copies are damaged; then redo begins with the first generation that the database needs.
pub async fn read_checkpoint(
    folder: &LogFolder,
    identity: &LogIdentity,
) -> Result<Option<Checkpoint>, LogError> {
    let name = folder.names.checkpoint();
    if !folder.has(&name).await? {
        return Ok(None);
    }
    let device = folder.volume.open(&name, OpenMode::ReadOnly).await?;
    let present = usize::try_from(device.length().min(CHECKPOINT_FILE_BYTES)).unwrap_or(0);
    let whole = present / LOG_HEADER_BYTES * LOG_HEADER_BYTES;
    if whole == 0 {
        return Ok(None);
    }
    let bytes = read(&*device, Purpose::Header, 0, whole).await?;
    let copies = bytes.as_chunks::<LOG_HEADER_BYTES>().0.iter();
    let latest = copies
        .filter_map(|copy| Checkpoint::decode(copy).ok())
        .max_by_key(|checkpoint| checkpoint.place);
    if let Some(found) = latest
        && (found.signature, found.database) != (identity.signature, identity.database)
    {
        let (wanted, found) = if found.signature == identity.signature {
            (identity.database, found.database)
        } else {
            (identity.signature, found.signature)
        };
        return Err(LogError::Foreign { file: folder.path(&name), wanted, found });
    }
    Ok(latest)
}
