//! Serialises changes of a directory: each is written in full, based on the result of the previous
//! one.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// Lets one task at a time make a change.
#[derive(Default)]
pub(super) struct Turns {
    taken: Cell<bool>,
    waiting: RefCell<VecDeque<Waker>>,
}

/// Permission to make a change, until dropped.
pub(super) struct Turn(Rc<Turns>);

impl Turns {
    /// Waits for a turn.
    pub(super) async fn take(self: &Rc<Self>) -> Turn {
        std::future::poll_fn(|context| {
            if !self.taken.replace(true) {
                return Poll::Ready(());
            }
            self.waiting.borrow_mut().push_back(context.waker().clone());
            Poll::Pending
        })
        .await;
        Turn(Rc::clone(self))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.taken.set(false);
        // Wakes all waiters: one that was dropped while waiting would not pass the turn on.
        for waker in self.0.waiting.take() {
            waker.wake();
        }
    }
}
