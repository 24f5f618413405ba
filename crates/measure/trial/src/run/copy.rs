//! A copy of a database file from before a load, for a replay that still has to apply every change.

use std::rc::Rc;

use device::{Device, DeviceError, Durability, OpenMode, Purpose, Request, Volume};

use crate::coordinator::Coordinator;

/// Bytes of one request.
const PIECE_BYTES: u64 = 1 << 20;

/// Name of the copy next to a database file of this name.
pub(super) fn copy_of(file: &str) -> String {
    format!("{file}.passive")
}

/// Copies `file` while nothing writes to it. If the run must end before the copy is complete, the
/// partial copy is worthless; on failure it is removed.
pub(super) async fn copy(
    volume: &Rc<dyn Volume>,
    file: &str,
    coordinator: &Coordinator,
) -> Result<(), DeviceError> {
    let from = volume.open(file, OpenMode::ReadOnly).await?;
    let length = from.length();
    let to = volume.open(&copy_of(file), OpenMode::CreateNew { length }).await?;
    let copied = copy_all(&*from, &*to, coordinator).await;
    if copied.is_err() {
        drop(to);
        volume.remove(&copy_of(file)).await?;
    }
    copied
}

async fn copy_all(
    from: &dyn Device,
    to: &dyn Device,
    coordinator: &Coordinator,
) -> Result<(), DeviceError> {
    let (mut offset, length) = (0, from.length());
    while offset < length && coordinator.stopped().is_none() {
        let bytes = PIECE_BYTES.min(length - offset);
        copy_piece(from, to, (offset, bytes)).await?;
        offset += bytes;
    }
    to.submit(Request::flush(Purpose::Fill)).await.result
}

async fn copy_piece(
    from: &dyn Device,
    to: &dyn Device,
    (offset, bytes): (u64, u64),
) -> Result<(), DeviceError> {
    let length = usize::try_from(bytes).expect("invariant: a piece is a mebibyte at most");
    let read = from.submit(Request::read(Purpose::Fill, offset, length)).await;
    let write = Request::write(Purpose::Fill, offset, read.into_buffer()?, Durability::Volatile);
    to.submit(write).await.into_buffer().map(drop)
}

/// Why there is no copy, and what to do.
pub(super) fn not_copied(error: &DeviceError) -> String {
    match error {
        DeviceError::AlreadyExists { file } => format!(
            "{file}: the copy that a test of soft recovery makes would overwrite it; one that was \
             killed has left it there, remove it"
        ),
        other => format!("{other}; no copy for the replay was made"),
    }
}
