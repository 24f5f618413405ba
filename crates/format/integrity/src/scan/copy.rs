//! Copies blocks to another file, at the same offsets, while the next ones are read.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use device::{Buffer, Completion, Device, DeviceError, Durability, Purpose, Request, Runtime};
use units::Nanos;

/// The file that blocks are copied to.
pub struct BlockCopy {
    device: Rc<dyn Device>,
    purpose: Purpose,
    /// Writes in flight at most.
    in_flight: usize,
    writing: RefCell<VecDeque<Completion>>,
    written: Cell<u64>,
    /// Time that reads have waited for writes.
    waited: Cell<Nanos>,
    /// The first write that failed; no writes follow it.
    failed: RefCell<Option<DeviceError>>,
}

impl BlockCopy {
    /// A copy in `device`, which is as long as the original, written with `in_flight` requests in
    /// flight.
    pub fn new(device: Rc<dyn Device>, purpose: Purpose, in_flight: usize) -> Self {
        assert!(in_flight > 0, "a copy is written");
        Self {
            device,
            purpose,
            in_flight,
            writing: RefCell::default(),
            written: Cell::new(0),
            waited: Cell::new(Nanos::ZERO),
            failed: RefCell::default(),
        }
    }

    /// Waits for a write slot, then writes a block. Returns the buffer of a completed write for
    /// reuse, if any.
    pub(super) async fn write(
        &self,
        runtime: &Runtime,
        offset: u64,
        block: Option<Buffer>,
    ) -> Option<Buffer> {
        let mut spare = self.room(runtime).await;
        match block {
            Some(block) if self.failed.borrow().is_none() => {
                let request = Request::write(self.purpose, offset, block, Durability::Volatile);
                let completion = self.device.submit(request);
                self.writing.borrow_mut().push_back(completion);
            }
            block => spare = spare.or(block),
        }
        spare
    }

    /// Waits until another write may be in flight; returns the buffer of a completed one for reuse,
    /// if any.
    async fn room(&self, runtime: &Runtime) -> Option<Buffer> {
        if self.writing.borrow().len() < self.in_flight {
            return None;
        }
        let began = runtime.now();
        let spare = self.oldest().await;
        self.waited.set(self.waited.get() + runtime.now().since(began));
        spare
    }

    /// Time that reads of the original have waited for writes of the copy so far.
    pub fn waited(&self) -> Nanos {
        self.waited.get()
    }

    /// Waits for all writes and makes them durable; returns the number of bytes written.
    pub async fn finish(&self) -> Result<u64, DeviceError> {
        while !self.writing.borrow().is_empty() {
            self.oldest().await;
        }
        if let Some(error) = self.failed.borrow().clone() {
            return Err(error);
        }
        self.device.submit(Request::flush(self.purpose)).await.result?;
        Ok(self.written.get())
    }

    /// Waits for the oldest write and returns its buffer.
    async fn oldest(&self) -> Option<Buffer> {
        let oldest = self.writing.borrow_mut().pop_front();
        let outcome = oldest?.await;
        match outcome.result {
            Ok(()) => {
                let bytes = outcome.buffer.as_ref().map_or(0, |buffer| buffer.len() as u64);
                self.written.set(self.written.get() + bytes);
            }
            Err(error) => {
                self.failed.borrow_mut().get_or_insert(error);
            }
        }
        outcome.buffer
    }
}
