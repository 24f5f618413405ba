//! One open file behind the cache.

use std::rc::Rc;

use device::{
    Buffer, Caps, Completed, Completer, Completion, Device, DeviceError, Op, Purpose, Request,
    completion,
};
use units::Nanos;

use super::FlashCache;
use super::file::CachedFile;
use super::locks::ClaimMode;
use crate::policy::{ClassCounters, PoolShare, RequestClass};
use crate::store::Lasting;

/// How a request was served: its buffer, and whether it succeeded.
pub(super) type ServedRequest = (Option<Buffer>, Result<(), DeviceError>);

/// A device that serves reads from flash if possible. Cheap to clone: clones share everything.
#[derive(Clone)]
pub struct Cached {
    pub(super) inner: Rc<dyn Device>,
    pub(super) file: Rc<CachedFile>,
}

impl Cached {
    /// Puts `cache` in front of `inner`, under the name `name`. Blocks from an earlier session are
    /// used if the device has the same length and `stamp`; pass a different stamp if the device may
    /// have been written in another way. All access to the device must go through this.
    pub async fn new(
        cache: &FlashCache,
        inner: Rc<dyn Device>,
        (name, stamp): (&str, u64),
        share: PoolShare,
    ) -> Self {
        let file = CachedFile::new(cache, name.to_owned(), stamp, share);
        file.attach(&inner).await;
        Self { inner, file }
    }

    /// Counters of this device's requests of a class.
    pub fn class(&self, class: RequestClass) -> ClassCounters {
        self.file.classes.borrow()[class as usize]
    }

    pub(super) fn of(inner: Rc<dyn Device>, file: Rc<CachedFile>) -> Self {
        Self { inner, file }
    }

    async fn serve(self, request: Request, submitted: Nanos, completer: Completer) {
        let Request { purpose, op } = request;
        let (buffer, result) = match op {
            Op::Read { offset, buffer } => self.read(purpose, offset, buffer).await,
            Op::Write { offset, buffer, durability } => {
                self.write(purpose, (offset, durability), buffer).await
            }
            Op::Flush => (None, self.flush(purpose).await),
            Op::SetLength { length } => (None, self.set_length(purpose, length).await),
        };
        let completed = self.file.cache.store().runtime().now();
        completer.complete(Completed { buffer, result, submitted, completed });
    }

    async fn flush(&self, purpose: Purpose) -> Result<(), DeviceError> {
        let store = self.file.cache.store();
        let number = store.flush_begins();
        let result = self.inner.submit(Request::flush(purpose)).await.result;
        if let Some(volume) = self.file.volume() {
            match &result {
                Ok(()) => store.flushed(volume, number),
                Err(DeviceError::PermissionDenied { .. }) => {}
                Err(_) => store.flush_failed(volume),
            }
        }
        result
    }

    /// Truncates or extends; cached blocks beyond the end are dropped, so that they read as zeros
    /// later.
    async fn set_length(&self, purpose: Purpose, length: u64) -> Result<(), DeviceError> {
        let _all = self.file.locks.claim(0..u64::MAX, ClaimMode::Update).await;
        let block_bytes = self.file.block_bytes();
        let change = Request::set_length(purpose, length);
        let Some(volume) = self.file.volume() else {
            self.file.wrote_unseen.set(true);
            return self.inner.submit(change).await.result;
        };
        let before = self.inner.length();
        let cut = length.min(before) / block_bytes..before.div_ceil(block_bytes);
        let [first, end] =
            [cut.start, cut.end].map(|block| u32::try_from(block).unwrap_or(u32::MAX));
        let store = self.file.cache.store();
        let Some(ticket) = store.begin_write(volume, first..end).await else {
            return Err(self.closed());
        };
        let result = self.inner.submit(change).await.result;
        store.end_write(&ticket, if result.is_ok() { Lasting::Durable } else { Lasting::Unknown });
        store.set_length(volume, self.inner.length());
        result
    }

    pub(super) fn closed(&self) -> DeviceError {
        DeviceError::Disconnected {
            file: self.inner.name().to_owned(),
            why: "its cache was closed".to_owned(),
        }
    }
}

impl Device for Cached {
    fn submit(&self, request: Request) -> Completion {
        request.op.assert_aligned();
        let (completer, completion) = completion();
        let runtime = self.file.cache.store().runtime();
        let task = self.clone().serve(request, runtime.now(), completer);
        drop(runtime.spawn(task));
        completion
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn length(&self) -> u64 {
        self.inner.length()
    }

    fn caps(&self) -> Caps {
        self.inner.caps()
    }
}
