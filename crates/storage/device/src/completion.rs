//! The future of one request, and the handle with which a device completes it.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use units::Nanos;

use crate::{Buffer, DeviceError};

/// How a request ended.
#[derive(Debug)]
pub struct Completed {
    /// The request's buffer, returned on success and on failure; `None` for flush and length.
    pub buffer: Option<Buffer>,
    /// Whether it succeeded.
    pub result: Result<(), DeviceError>,
    /// Time when the request was passed to the device.
    pub submitted: Nanos,
    /// Time when its completion was noticed.
    pub completed: Nanos,
}

impl Completed {
    /// The buffer of a read or write that succeeded.
    pub fn into_buffer(self) -> Result<Buffer, DeviceError> {
        self.result?;
        Ok(self.buffer.expect("invariant: a device gives the buffer of a read or write back"))
    }

    /// Service time as the caller saw it.
    pub const fn latency(&self) -> Nanos {
        self.completed.since(self.submitted)
    }
}

/// Change that a decorator makes to an outcome before the caller sees it.
type Hook = Box<dyn FnOnce(&mut Completed)>;

#[derive(Default)]
struct CompletionState {
    outcome: Option<Completed>,
    waker: Option<Waker>,
    hooks: Vec<Hook>,
}

/// Resolves to the [`Completed`] of a request. Dropping it abandons interest, not the request.
#[must_use = "a request that is not awaited may fail unseen"]
pub struct Completion {
    shared: Rc<RefCell<CompletionState>>,
}

/// The device's end of a [`Completion`].
pub struct Completer {
    shared: Rc<RefCell<CompletionState>>,
}

/// A connected pair: the device keeps the completer, the caller the completion.
pub fn completion() -> (Completer, Completion) {
    let shared = Rc::new(RefCell::new(CompletionState::default()));
    (Completer { shared: Rc::clone(&shared) }, Completion { shared })
}

impl Completer {
    /// Resolves the completion and wakes the task that waits for it.
    pub fn complete(self, mut outcome: Completed) {
        let hooks = std::mem::take(&mut self.shared.borrow_mut().hooks);
        for hook in hooks {
            hook(&mut outcome);
        }
        let waker = {
            let mut shared = self.shared.borrow_mut();
            shared.outcome = Some(outcome);
            shared.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Completion {
    /// Whether the outcome has arrived, so that waiting for it would take no time.
    pub fn has_arrived(&self) -> bool {
        self.shared.borrow().outcome.is_some()
    }

    /// Runs `hook` when the device completes the request, before the caller sees the outcome, even
    /// if the caller no longer waits for it. Hooks run in the order they were added, so an inner
    /// decorator's comes first. Runs it immediately if the outcome has already arrived.
    pub fn on_complete(self, hook: impl FnOnce(&mut Completed) + 'static) -> Self {
        let there = self.shared.borrow_mut().outcome.take();
        if let Some(mut outcome) = there {
            hook(&mut outcome);
            self.shared.borrow_mut().outcome = Some(outcome);
        } else {
            self.shared.borrow_mut().hooks.push(Box::new(hook));
        }
        self
    }
}

impl Future for Completion {
    type Output = Completed;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Completed> {
        let mut shared = self.shared.borrow_mut();
        if let Some(outcome) = shared.outcome.take() {
            return Poll::Ready(outcome);
        }
        if !shared.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            shared.waker = Some(context.waker().clone());
        }
        Poll::Pending
    }
}
