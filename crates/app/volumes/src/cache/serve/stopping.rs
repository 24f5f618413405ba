//! Signals the server's shutdown to its connections.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

use device::Runtime;
use units::Nanos;

type WakerSlot = RefCell<Option<Waker>>;

/// Set once; wakes every connection.
#[derive(Default)]
pub(super) struct Stopping {
    is_set: Cell<bool>,
    connections: RefCell<Vec<Weak<WakerSlot>>>,
}

impl Stopping {
    /// Returns a check for one connection: is the server stopping? If not, its task is woken when
    /// it does.
    pub(super) fn question(self: &Rc<Self>) -> Rc<dyn Fn(&Context<'_>) -> bool> {
        let (stopping, slot) = (Rc::clone(self), Rc::<WakerSlot>::default());
        let mut connections = self.connections.borrow_mut();
        connections.retain(|slot| slot.strong_count() > 0);
        connections.push(Rc::downgrade(&slot));
        Rc::new(move |context| {
            let mut waker = slot.borrow_mut();
            if !waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                *waker = Some(context.waker().clone());
            }
            stopping.is_set.get()
        })
    }

    /// Waits for `time`, or until the server stops; `true` if it does.
    pub(super) async fn within(self: &Rc<Self>, time: Nanos, runtime: &Runtime) -> bool {
        let stops = self.question();
        let mut sleep = pin!(runtime.sleep(time));
        poll_fn(|context| match (stops(context), sleep.as_mut().poll(context)) {
            (true, _) => Poll::Ready(true),
            (false, Poll::Ready(())) => Poll::Ready(false),
            (false, Poll::Pending) => Poll::Pending,
        })
        .await
    }

    /// Announces that the server stops.
    pub(super) fn set(&self) {
        self.is_set.set(true);
        for slot in self.connections.borrow().iter().filter_map(Weak::upgrade) {
            if let Some(waker) = slot.borrow_mut().take() {
                waker.wake();
            }
        }
    }
}
