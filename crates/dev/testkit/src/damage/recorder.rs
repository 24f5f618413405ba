//! A volume that keeps a copy of every page that the engine writes, in the order of submission.

use std::cell::RefCell;
use std::rc::Rc;

use device::{Completion, Device, FileEntry, Op, OpenMode, Pending, Purpose, Request, Volume};

/// Recorded page writes: byte offset and bytes.
pub(super) type Writes = Rc<RefCell<Vec<(u64, Vec<u8>)>>>;

/// A volume that records page writes; see the module.
pub(super) struct Recorder {
    pub(super) inner: Rc<dyn Volume>,
    pub(super) writes: Writes,
}

struct RecordingDevice {
    inner: Rc<dyn Device>,
    writes: Writes,
}

impl Volume for Recorder {
    fn open(&self, file: &str, mode: OpenMode) -> Pending<Rc<dyn Device>> {
        let (opening, writes) = (self.inner.open(file, mode), Rc::clone(&self.writes));
        Box::pin(async move {
            let inner = opening.await?;
            Ok(Rc::new(RecordingDevice { inner, writes }) as Rc<dyn Device>)
        })
    }

    fn rename(&self, from: &str, to: &str) -> Pending<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, file: &str) -> Pending<()> {
        self.inner.remove(file)
    }

    fn list(&self) -> Pending<Vec<FileEntry>> {
        self.inner.list()
    }

    fn free_bytes(&self) -> Pending<u64> {
        self.inner.free_bytes()
    }

    fn name(&self) -> &str {
        self.inner.name()
    }
}

impl Device for RecordingDevice {
    fn submit(&self, request: Request) -> Completion {
        if let (Purpose::Database, Op::Write { offset, buffer, .. }) =
            (request.purpose, &request.op)
        {
            self.writes.borrow_mut().push((*offset, buffer.to_vec()));
        }
        self.inner.submit(request)
    }

    device::same_as_inner!();
}
