//! The future of one request, and the handle that a device completes it with.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use units::Nanos;

use crate::{Buffer, DeviceError};

/// How a request ended.
#[derive(Debug)]
pub struct Outcome {
    /// The request's buffer, given back whether it succeeded or failed; none for flush and length.
    pub buffer: Option<Buffer>,
    /// Whether it succeeded.
    pub result: Result<(), DeviceError>,
    /// When the request was handed to the device.
    pub submitted: Nanos,
    /// When its completion was seen.
    pub completed: Nanos,
}

impl Outcome {
    /// The buffer of a read or write that succeeded.
    pub fn into_buffer(self) -> Result<Buffer, DeviceError> {
        self.result?;
        Ok(self
            .buffer
            .expect("invariant: a device gives the buffer of a read or write back"))
    }

    /// Service time as the caller saw it.
    pub const fn latency(&self) -> Nanos {
        self.completed.since(self.submitted)
    }
}

#[derive(Default)]
struct Shared {
    outcome: Option<Outcome>,
    waker: Option<Waker>,
}

/// Resolves to the [`Outcome`] of a request. Dropping it abandons interest, not the request.
#[must_use = "a request that nobody waits for may fail unseen"]
pub struct Completion {
    shared: Rc<RefCell<Shared>>,
}

/// The device's end of a [`Completion`].
pub struct Completer {
    shared: Rc<RefCell<Shared>>,
}

/// A connected pair: the device keeps the completer, the caller the completion.
pub fn completion() -> (Completer, Completion) {
    let shared = Rc::new(RefCell::new(Shared::default()));
    (
        Completer {
            shared: Rc::clone(&shared),
        },
        Completion { shared },
    )
}

impl Completer {
    /// Resolves the completion and wakes the task that waits for it.
    pub fn complete(self, outcome: Outcome) {
        let waker = {
            let mut shared = self.shared.borrow_mut();
            assert!(shared.outcome.is_none(), "a request completes once");
            shared.outcome = Some(outcome);
            shared.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Future for Completion {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let mut shared = self.shared.borrow_mut();
        if let Some(outcome) = shared.outcome.take() {
            return Poll::Ready(outcome);
        }
        shared.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
