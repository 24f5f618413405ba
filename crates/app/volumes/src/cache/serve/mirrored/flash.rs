//! The file that holds this host's copy: a header that identifies the volume, then frames. One
//! thread appends them, and makes each durable before its operations count.

mod compaction;
mod scan;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};

use host::crew;
use mirror::{FRAME_ALIGNMENT, FlashImage, FlashOp, FlashRecord, FramePayload};

use self::compaction::NewFile;
pub(super) use self::scan::open;
use super::event::EventSlot;
use console::error::CommandError;

/// Approximate bytes of operations that become durable together.
const BATCH: usize = 4 << 20;

/// A file above the minimum size is rewritten if less than `1 / LIVE_SHARE` of it is live.
const LIVE_SHARE: u64 = 2;

/// Files smaller than this are never rewritten.
const LEAST_BYTES: u64 = 64 << 20;

/// Preallocation step ahead of the frames: overwriting allocated blocks costs half as much as
/// appending (`fdatasync` then has no metadata to write).
const AHEAD: usize = 4 << 20;

/// First bytes of the file.
const MAGIC: &[u8; 8] = b"PLIMCOPY";

/// An open copy, and the offset of its next frame.
#[derive(Debug)]
pub(super) struct FlashFile {
    path: PathBuf,
    identity: String,
    file: File,
    end: u64,
    /// End of the zeros preallocated after `end`.
    allocated: u64,
}

/// Work for the thread of the file.
enum FlashTask {
    Write(FlashOp),
    Compact(Box<FlashImage>),
    Compacted(io::Result<NewFile>),
}

/// Handle for queueing operations.
#[derive(Clone)]
pub(super) struct FlashQueue(Sender<FlashTask>);

impl FlashQueue {
    pub(super) fn write(&self, op: FlashOp) {
        // A missing thread means that the file has failed, which the node already knows.
        let _ = self.0.send(FlashTask::Write(op));
    }

    /// Rewrites the file as `image`.
    pub(super) fn compact(&self, image: FlashImage) {
        let _ = self.0.send(FlashTask::Compact(Box::new(image)));
    }
}

/// `true` if a file of `bytes` should be rewritten when only `live` of them would remain.
pub(super) const fn is_worth_compacting(bytes: u64, live: u64) -> bool {
    bytes > LEAST_BYTES && bytes / LIVE_SHARE > live
}

/// Makes the file of an empty copy; it must not exist.
pub(super) fn create(path: &Path, identity: &str) -> Result<FlashFile, CommandError> {
    let wrong = CommandError::of_file(path, "create");
    let file =
        OpenOptions::new().read(true).write(true).create_new(true).open(path).map_err(wrong)?;
    file.try_lock().map_err(|error| wrong(error.into()))?;
    file.write_all_at(&header(identity), 0).map_err(wrong)?;
    file.sync_all().map_err(wrong)?;
    sync_folder(path).map_err(wrong)?;
    Ok(FlashFile::new(path, identity, file, FRAME_ALIGNMENT as u64))
}

/// First bytes of a file, as long as the smallest frame.
pub(super) fn header(identity: &str) -> Vec<u8> {
    let mut bytes = [MAGIC.as_slice(), identity.as_bytes(), b"\n"].concat();
    bytes.resize(FRAME_ALIGNMENT, 0);
    bytes
}

/// Makes a new directory entry in the folder of `path` durable.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Starts the thread of `file`; it posts completions to `slot`.
pub(super) fn start(file: FlashFile, slot: EventSlot) -> Result<FlashQueue, CommandError> {
    let (sender, tasks) = channel();
    let queue = FlashQueue(sender);
    let own = queue.clone();
    let mut writer = FlashWriter { file, slot, queue: own, since: None };
    crew::start_thread("flash", move || {
        if let Err(error) = writer.run(&tasks) {
            let path = writer.file.path.display();
            writer.slot.flash_failed(format!("{path}: {error}; this host's copy is off"));
        }
    })?;
    Ok(queue)
}

/// State of the thread that writes the file.
struct FlashWriter {
    file: FlashFile,
    slot: EventSlot,
    queue: FlashQueue,
    /// Frames written since a compaction began: the new file lacks them.
    since: Option<Vec<FramePayload>>,
}

impl FlashWriter {
    fn run(&mut self, tasks: &Receiver<FlashTask>) -> io::Result<()> {
        while let Ok(first) = tasks.recv() {
            let (mut payload, mut count) = (FramePayload::default(), 0);
            let mut next = Some(first);
            while let Some(task) = next {
                match task {
                    FlashTask::Write(op) => {
                        payload.push(&FlashRecord::Op(op));
                        count += 1;
                    }
                    other => {
                        self.write(std::mem::take(&mut payload), std::mem::take(&mut count))?;
                        self.compaction(other)?;
                    }
                }
                next = (payload.len() < BATCH).then(|| tasks.try_recv().ok()).flatten();
            }
            self.write(payload, count)?;
        }
        Ok(())
    }

    fn write(&mut self, payload: FramePayload, count: usize) -> io::Result<()> {
        if count == 0 {
            return Ok(());
        }
        self.file.append(&payload)?;
        self.file.file.sync_data()?;
        if let Some(since) = &mut self.since {
            since.push(payload);
        }
        self.slot.flash_done(count, self.file.end);
        Ok(())
    }

    fn compaction(&mut self, task: FlashTask) -> io::Result<()> {
        match task {
            FlashTask::Compact(image) if self.since.is_none() => {
                self.since = Some(Vec::new());
                let (path, identity) = (self.file.path.clone(), self.file.identity.clone());
                let queue = self.queue.clone();
                let started = crew::start_thread("compaction", move || {
                    let written = compaction::write(&path, &identity, &image);
                    let _ = queue.0.send(FlashTask::Compacted(written));
                });
                if started.is_err() {
                    self.since = None;
                    self.slot.compacted(self.file.end);
                }
            }
            FlashTask::Compacted(written) => {
                let since = self.since.take().unwrap_or_default();
                match written {
                    Ok(new) => self.file = new.replace(&self.file, &since)?,
                    Err(error) => self.slot.remark(format!("compaction of the copy: {error}")),
                }
                self.slot.compacted(self.file.end);
            }
            _ => {}
        }
        Ok(())
    }
}

impl FlashFile {
    fn new(path: &Path, identity: &str, file: File, end: u64) -> Self {
        let (path, identity) = (path.to_owned(), identity.to_owned());
        Self { path, identity, file, end, allocated: end }
    }

    fn append(&mut self, payload: &FramePayload) -> io::Result<()> {
        let bytes = payload.frame(self.end);
        self.allocate(self.end + bytes.len() as u64)?;
        self.file.write_all_at(&bytes, self.end)?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Ensures that zeros are on flash at least up to `end`.
    fn allocate(&mut self, end: u64) -> io::Result<()> {
        if end > self.allocated {
            self.file.write_all_at(&vec![0; AHEAD], end)?;
            self.file.sync_data()?;
            self.allocated = end + AHEAD as u64;
        }
        Ok(())
    }
}
