//! The next log file, formatted ahead of its use: records overwrite space that the file system
//! allocated long before, so that a log write is one write and never an allocation.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use device::{Buffer, Device, Durability, Notify, OpenMode, Purpose, Request, Runtime};
use ese::log_file::{LOG_FILE_BYTES, LOG_HEADER_BYTES};
use units::Bytes;

use crate::{LogError, LogFolder};

/// Fill pattern of a new file. Not zero, which storage may skip writing, and not a valid segment.
const PATTERN: [u8; 8] = *b"plimsoll";

/// Bytes of the current file in use before formatting begins: half of it, as in ESE.
const BEGIN_AT_BYTE: u64 = LOG_FILE_BYTES / 2;

/// Formats the next file while the current one fills.
pub(crate) struct NextFile {
    folder: LogFolder,
    chunk_bytes: usize,
    /// Bytes of the current file written so far.
    progress: Cell<u64>,
    /// Whether a task waits for the file.
    hurry: Cell<bool>,
    running: Cell<bool>,
    stopped: Cell<bool>,
    ready: RefCell<Option<Result<Rc<dyn Device>, LogError>>>,
    bytes_written: Cell<u64>,
    changed: Notify,
}

impl NextFile {
    /// A formatter that has formatted nothing yet.
    pub(crate) fn new(folder: LogFolder, chunk: Bytes) -> Rc<Self> {
        let chunk_bytes = usize::try_from(chunk.0).unwrap_or(usize::MAX);
        let divides = chunk.0.is_power_of_two() && chunk.0 <= LOG_FILE_BYTES;
        assert!(
            divides && chunk_bytes >= LOG_HEADER_BYTES,
            "a log file is formatted in equal chunks of whole segments"
        );
        Rc::new(Self {
            folder,
            chunk_bytes,
            progress: Cell::new(0),
            hurry: Cell::new(false),
            running: Cell::new(false),
            stopped: Cell::new(false),
            ready: RefCell::default(),
            bytes_written: Cell::new(0),
            changed: Notify::default(),
        })
    }

    /// Bytes of pattern written since the log was opened.
    pub(crate) fn bytes_written(&self) -> Bytes {
        Bytes(self.bytes_written.get())
    }

    /// Reports the bytes of the current file written so far; formatting keeps pace, so that it
    /// neither bursts nor finishes late.
    pub(crate) fn advance(self: &Rc<Self>, runtime: &Runtime, bytes: u64) {
        self.progress.set(bytes);
        self.changed.notify_all();
        if bytes >= BEGIN_AT_BYTE && !self.running.get() {
            self.start(runtime);
        }
    }

    /// Waits until the file is complete and durable, and hands it over.
    pub(crate) async fn take(
        self: &Rc<Self>,
        runtime: &Runtime,
    ) -> Result<Rc<dyn Device>, LogError> {
        if !self.running.get() {
            self.start(runtime);
        }
        self.hurry.set(true);
        self.changed.notify_all();
        self.changed.wait_until(|| self.ready.borrow().is_some()).await;
        self.running.set(false);
        self.hurry.set(false);
        self.progress.set(0);
        self.ready.take().expect("invariant: the wait ended because the file is ready")
    }

    /// Stops formatting at any point; the partial file is worthless.
    pub(crate) async fn stop(self: &Rc<Self>) {
        self.stopped.set(true);
        self.hurry.set(true);
        self.changed.notify_all();
        self.changed.wait_until(|| !self.running.get() || self.ready.borrow().is_some()).await;
    }

    fn start(self: &Rc<Self>, runtime: &Runtime) {
        self.running.set(true);
        let next = Rc::clone(self);
        drop(runtime.spawn(async move {
            let result = next.format().await;
            *next.ready.borrow_mut() = Some(result);
            next.changed.notify_all();
        }));
    }

    async fn format(&self) -> Result<Rc<dyn Device>, LogError> {
        let name = self.folder.names.next();
        self.folder.remove_if_there(&name).await?;
        let mode = OpenMode::CreateNew { length: LOG_FILE_BYTES };
        let device = self.folder.volume.open(&name, mode).await?;
        let mut buffer = pattern(self.chunk_bytes);
        for offset in (0..LOG_FILE_BYTES).step_by(self.chunk_bytes) {
            let due = due_at(offset);
            self.changed.wait_until(|| self.hurry.get() || self.progress.get() >= due).await;
            if self.stopped.get() {
                break;
            }
            let write = Request::write(Purpose::LogFormat, offset, buffer, Durability::Volatile);
            buffer = device.submit(write).await.into_buffer()?;
            let written = self.bytes_written.get() + buffer.len() as u64;
            self.bytes_written.set(written);
        }
        device.submit(Request::flush(Purpose::LogFormat)).await.result?;
        Ok(device)
    }
}

/// The byte of the current file at which the next file's chunk at byte `offset` is written: spread
/// evenly over the second half.
const fn due_at(offset: u64) -> u64 {
    BEGIN_AT_BYTE + (LOG_FILE_BYTES - BEGIN_AT_BYTE) * offset / LOG_FILE_BYTES
}

fn pattern(bytes: usize) -> Buffer {
    let mut buffer = Buffer::zeroed(bytes);
    for word in buffer.as_chunks_mut::<8>().0 {
        *word = PATTERN;
    }
    buffer
}

#[cfg(test)]
mod tests {
    use super::due_at;

    #[test]
    fn formatting_keeps_pace_with_the_second_half() {
        assert_eq!(due_at(0), 512 << 10);
        assert_eq!(due_at(256 << 10), 640 << 10);
        assert_eq!(due_at(768 << 10), 896 << 10);
    }
}
