//! Synchronisation between tasks: waiting for a change, and for a turn.

use std::cell::{Cell, RefCell};
use std::task::{Poll, Waker};

/// Wakes every task that waits for a change.
#[derive(Default)]
pub(crate) struct Signal(RefCell<Vec<Waker>>);

impl Signal {
    /// Waits until `ready` holds, asked again after every change.
    pub(crate) async fn until(&self, ready: impl Fn() -> bool) {
        std::future::poll_fn(|context| {
            if ready() {
                return Poll::Ready(());
            }
            self.0.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Wakes the waiting tasks.
    pub(crate) fn notify(&self) {
        for waker in self.0.take() {
            waker.wake();
        }
    }
}

/// Lets one task at a time do something.
#[derive(Default)]
pub(crate) struct WriterTurns {
    is_taken: Cell<bool>,
    over: Signal,
}

/// A turn, until it is dropped.
pub(crate) struct WriterTurn<'a>(&'a WriterTurns);

impl WriterTurns {
    /// Waits for a turn.
    pub(crate) async fn take(&self) -> WriterTurn<'_> {
        self.over.until(|| !self.is_taken.replace(true)).await;
        WriterTurn(self)
    }
}

impl Drop for WriterTurn<'_> {
    fn drop(&mut self) {
        self.0.is_taken.set(false);
        self.0.over.notify();
    }
}
