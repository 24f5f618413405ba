//! The lifecycle of an open database: its background tasks, and the signals that end them.

use std::cell::{Cell, RefCell};

use device::{JoinHandle, Notify};

/// Lifecycle of an open database.
#[derive(Default)]
pub(crate) struct Lifecycle {
    stopping: Cell<bool>,
    closed: Cell<bool>,
    tasks: RefCell<Vec<JoinHandle<()>>>,
    /// The eviction task, which runs until no more changes come.
    eviction: Cell<Option<JoinHandle<()>>>,
    /// Signalled when a transaction or a batch of cleanup ends, or the database is about to close.
    work_ended: Notify,
}

impl Lifecycle {
    /// Registers a background task; closing the database waits for it.
    pub(crate) fn keep(&self, task: JoinHandle<()>) {
        self.tasks.borrow_mut().push(task);
    }

    /// Takes the registered background tasks.
    pub(crate) fn take_tasks(&self) -> Vec<JoinHandle<()>> {
        std::mem::take(&mut *self.tasks.borrow_mut())
    }

    /// Registers the eviction task, which ends after all others.
    pub(crate) fn keep_eviction(&self, task: JoinHandle<()>) {
        self.eviction.set(Some(task));
    }

    /// Takes the eviction task, if one is registered.
    pub(crate) fn take_eviction(&self) -> Option<JoinHandle<()>> {
        self.eviction.take()
    }

    /// Asks background work to end.
    pub(crate) fn stop(&self) {
        self.stopping.set(true);
    }

    /// Whether background work must end.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.get()
    }

    /// Declares that no more changes will come, so eviction must end as well.
    pub(crate) fn close(&self) {
        self.closed.set(true);
    }

    /// Whether no more changes will come.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// Notified when a transaction, a cleanup or the database ends.
    pub(crate) const fn work_ended(&self) -> &Notify {
        &self.work_ended
    }
}
