//! Simulates a power failure at a chosen request.
//!
//! The decorator forwards every request and keeps its own record of durable data; after the failure
//! the inner volume no longer matters.

mod ledger;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

use device::{
    Caps, Completed, Completion, Device, DeviceError, Durability, Executor, FileEntry, FileImage,
    Op, OpenMode, Pending, Request, Volume, VolumeImage, completion,
};
use ledger::{FileChange, FileId, Ledger, NameChange, Tearing};
use units::Seed;

/// Time of the power failure, and the possible tearing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrashOptions {
    /// Power fails as this request is submitted, counted from 1 over all files and operations on
    /// names; it counts as in flight. `None` if only `CrashVolume::crash` causes a failure.
    pub at_request: Option<u64>,
    /// Bytes that are written whole or not at all.
    pub atomic_write_unit: u32,
    /// Unit in which the medium writes, in bytes. A torn write may also destroy the other data in
    /// its sector, even if that was durable.
    pub physical_sector: u32,
}

impl Default for CrashOptions {
    fn default() -> Self {
        Self { at_request: None, atomic_write_unit: 512, physical_sector: 512 }
    }
}

/// Storage that reports which writes would survive a loss of power now, whatever durability they
/// requested.
pub trait Guarantee {
    /// The number of the latest request.
    fn last_request(&self) -> Option<u64>;

    /// Whether all bytes of the write of this number would survive a loss of power now.
    fn spares(&self, write: u64) -> bool;
}

/// A volume that can lose power. Cheap to clone: clones are the same volume.
#[derive(Clone)]
pub struct CrashVolume {
    state: Rc<CrashState>,
}

struct CrashState {
    inner: Rc<dyn Volume>,
    options: CrashOptions,
    guarantee: Option<Rc<dyn Guarantee>>,
    ledger: RefCell<Ledger>,
    requests: Cell<u64>,
    dead: Cell<bool>,
    waiting: RefCell<Option<Waker>>,
}

impl CrashVolume {
    /// Wraps `inner`, which holds the files of `before`, all durable.
    pub fn new(inner: Rc<dyn Volume>, before: &VolumeImage, options: CrashOptions) -> Self {
        Self::guaranteed(inner, before, options, None)
    }

    /// Wraps `inner`, but the storage under it decides which writes survive.
    pub fn guaranteed(
        inner: Rc<dyn Volume>,
        before: &VolumeImage,
        options: CrashOptions,
        guarantee: Option<Rc<dyn Guarantee>>,
    ) -> Self {
        let state = CrashState {
            inner,
            options,
            guarantee,
            ledger: RefCell::new(Ledger::new(before)),
            requests: Cell::new(0),
            dead: Cell::new(false),
            waiting: RefCell::default(),
        };
        Self { state: Rc::new(state) }
    }

    /// Requests seen so far: the highest `at_request` that would still have had an effect.
    pub fn requests(&self) -> u64 {
        self.state.requests.get()
    }

    /// Whether power has failed.
    pub fn has_crashed(&self) -> bool {
        self.state.dead.get()
    }

    /// Power fails now.
    #[cfg(test)]
    pub(crate) fn crash(&self) {
        self.state.die();
    }

    /// Runs `future` until it resolves or power fails, whichever is first; after a power failure
    /// the remaining tasks are dropped, since they would wait for ever.
    pub fn run<T: 'static>(
        &self,
        executor: &Executor,
        future: impl Future<Output = T> + 'static,
    ) -> Option<T> {
        let state = Rc::clone(&self.state);
        let mut future = Box::pin(future);
        let value = executor.block_on(std::future::poll_fn(move |context| {
            if state.dead.get() {
                return Poll::Ready(None);
            }
            let value = Pin::new(&mut future).poll(context);
            if state.dead.get() {
                return Poll::Ready(None);
            }
            state.waiting.replace(Some(context.waker().clone()));
            value.map(Some)
        }));
        if value.is_none() {
            executor.abandon();
        }
        value
    }

    /// Contents of the disk after the power failure (or after a failure now), drawn by `seed`. May
    /// be called again with other seeds.
    pub fn survivors(&self, seed: Seed) -> VolumeImage {
        self.survivors_with(seed, |_| self.state.options.atomic_write_unit)
    }

    /// Contents of the disk after the power failure, with an atomic write unit that depends on the
    /// file's name.
    pub fn survivors_with(&self, seed: Seed, unit_of: impl Fn(&str) -> u32) -> VolumeImage {
        let physical = self.state.options.physical_sector;
        self.state.ask();
        let ledger = self.state.ledger.borrow();
        ledger.survivors(seed, &|file| Tearing { unit: unit_of(file), physical })
    }

    /// Carries out a change of names, which the ledger tracks while it is in flight.
    fn change_names<T: 'static>(
        &self,
        change: NameChange,
        work: impl Future<Output = Result<T, DeviceError>> + 'static,
    ) -> Pending<T> {
        let state = Rc::clone(&self.state);
        Box::pin(async move {
            let ticket = state.ledger.borrow_mut().begin_names(change);
            state.count();
            state.while_alive().await;
            let result = work.await;
            state.while_alive().await;
            state.ledger.borrow_mut().end_names(ticket, result.is_ok());
            result
        })
    }
}

impl CrashState {
    fn die(&self) {
        self.dead.set(true);
        if let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }

    /// Asks the storage which writes would survive now, if it knows.
    fn ask(&self) {
        if let Some(guarantee) = &self.guarantee {
            self.ledger.borrow_mut().ask(&|write| guarantee.spares(write));
        }
    }

    /// Counts a request, which may be the one that power fails at.
    fn count(&self) {
        self.requests.set(self.requests.get() + 1);
        if self.options.at_request == Some(self.requests.get()) {
            self.die();
        }
    }

    /// Resolves at once, or never if power has failed.
    fn while_alive(&self) -> impl Future<Output = ()> + use<> {
        let dead = self.dead.get();
        std::future::poll_fn(move |_| if dead { Poll::Pending } else { Poll::Ready(()) })
    }
}

impl Volume for CrashVolume {
    fn open(&self, file: &str, mode: OpenMode) -> Pending<Rc<dyn Device>> {
        let opening = self.state.inner.open(file, mode);
        let opening: Pending<Rc<dyn Device>> = match mode.new_length() {
            Some(length) => {
                let file = file.to_owned();
                self.change_names(NameChange::Create { file, length }, opening)
            }
            None => opening,
        };
        let (state, file) = (Rc::clone(&self.state), file.to_owned());
        Box::pin(async move {
            let inner = opening.await?;
            state.while_alive().await;
            let file = state.ledger.borrow().find(&file);
            Ok(Rc::new(CrashDevice { inner, state, file }) as Rc<dyn Device>)
        })
    }

    fn rename(&self, from: &str, to: &str) -> Pending<()> {
        let change = NameChange::Rename { from: from.to_owned(), to: to.to_owned() };
        self.change_names(change, self.state.inner.rename(from, to))
    }

    fn remove(&self, file: &str) -> Pending<()> {
        let change = NameChange::Remove { file: file.to_owned() };
        self.change_names(change, self.state.inner.remove(file))
    }

    fn list(&self) -> Pending<Vec<FileEntry>> {
        let (state, listing) = (Rc::clone(&self.state), self.state.inner.list());
        Box::pin(async move {
            let entries = listing.await;
            state.while_alive().await;
            entries
        })
    }

    fn free_bytes(&self) -> Pending<u64> {
        let (state, asking) = (Rc::clone(&self.state), self.state.inner.free_bytes());
        Box::pin(async move {
            let free = asking.await;
            state.while_alive().await;
            free
        })
    }

    fn name(&self) -> &str {
        self.state.inner.name()
    }
}

struct CrashDevice {
    inner: Rc<dyn Device>,
    state: Rc<CrashState>,
    file: FileId,
}

impl Device for CrashDevice {
    fn submit(&self, request: Request) -> Completion {
        let (completer, completion) = completion();
        if self.state.dead.get() {
            return completion;
        }
        let (state, file) = (Rc::clone(&self.state), self.file);
        let change = change(&request.op);
        let ticket = state.ledger.borrow_mut().begin(file, change);
        state.count();
        let submitted = self.inner.submit(request);
        let known_as = state.guarantee.as_ref().and_then(|guarantee| guarantee.last_request());
        if let Some(number) = known_as {
            state.ledger.borrow_mut().known_as(file, ticket, number);
        }
        let passed_on = submitted.on_complete(move |outcome| {
            if state.dead.get() {
                return; // No task is left to see it.
            }
            state.ask();
            state.ledger.borrow_mut().end(file, ticket, outcome.result.is_ok());
            completer.complete(take(outcome));
        });
        drop(passed_on);
        completion
    }

    fn caps(&self) -> Caps {
        Caps {
            atomic_write_unit: self.state.options.atomic_write_unit,
            physical_sector: self.state.options.physical_sector,
            ..self.inner.caps()
        }
    }

    fn length(&self) -> u64 {
        self.inner.length()
    }

    fn name(&self) -> &str {
        self.inner.name()
    }
}

/// The change made by `op`, as the ledger stores it.
fn change(op: &Op) -> FileChange {
    match op {
        Op::Read { .. } => FileChange::Nothing,
        Op::Write { offset, buffer, durability } => FileChange::Write {
            offset: *offset,
            bytes: FileImage::of(buffer),
            durable: *durability == Durability::Durable,
        },
        Op::Flush => FileChange::Flush,
        Op::SetLength { length } => FileChange::SetLength { length: *length },
    }
}

/// Moves an outcome on to the completion that the caller holds.
pub(crate) fn take(outcome: &mut Completed) -> Completed {
    Completed {
        buffer: outcome.buffer.take(),
        result: std::mem::replace(&mut outcome.result, Ok(())),
        submitted: outcome.submitted,
        completed: outcome.completed,
    }
}

#[cfg(test)]
mod tests;
