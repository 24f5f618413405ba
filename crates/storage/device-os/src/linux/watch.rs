//! Sockets that a task waits for. The bytes themselves move by plain calls that do not block: a
//! watch only reports that such a call may succeed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Waker};

use device::Lookout;

use super::Host;
use super::options::set_room_to_send;

/// The event to wait for on a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Bytes have arrived, or the peer has closed.
    Readable,
    /// There is room for bytes, or the peer has closed.
    Writable,
}

impl Readiness {
    pub(super) const fn events(self) -> i16 {
        match self {
            Self::Readable => libc::POLLIN,
            Self::Writable => libc::POLLOUT,
        }
    }
}

/// One direction of a socket.
#[derive(Default)]
struct AwaitedDirection {
    is_armed: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

/// A socket, and the action to run once it is ready.
type Waiting = (Arc<OwnedFd>, Box<dyn FnOnce()>);

/// Sockets that a ring waits for, by the number in their completion. The reference held here keeps
/// the descriptor from being reused for another file before the kernel has seen it.
#[derive(Default)]
pub(super) struct Watches {
    waiting: BTreeMap<u64, Waiting>,
    next: u64,
}

impl Watches {
    /// Adds a socket and returns its number.
    pub(super) fn add(&mut self, socket: &Arc<OwnedFd>, then: Box<dyn FnOnce()>) -> u64 {
        let number = self.next;
        self.next += 1;
        self.waiting.insert(number, (Arc::clone(socket), then));
        number
    }

    /// Takes the action for the socket of this number, which is now ready.
    pub(super) fn take(&mut self, number: u64) -> Option<Box<dyn FnOnce()>> {
        self.waiting.remove(&number).map(|(_, then)| then)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// A socket that wakes tasks of one executor when it is ready; one task for each direction.
pub struct Watch {
    host: Rc<dyn Host>,
    descriptor: Arc<OwnedFd>,
    directions: [Rc<AwaitedDirection>; 2],
}

/// Makes watches. Cheap to clone.
#[derive(Clone)]
pub struct Watcher {
    host: Rc<dyn Host>,
}

impl Watcher {
    pub(crate) fn new(host: Rc<dyn Host>) -> Self {
        Self { host }
    }

    /// Watches a connected socket with room for `bytes` that its peer has not read yet, or the
    /// maximum that the system allows: a server of many concurrent requests keeps working while its
    /// client is busy.
    pub fn watch_with_room(&self, socket: OwnedFd, bytes: i32) -> Watch {
        // The default room also works, only more slowly.
        let _ = set_room_to_send(&socket, bytes);
        self.watch(socket)
    }

    /// Makes the executor's thread poll `lookout` in each turn; `false` if it never does.
    pub fn look_at(&self, lookout: Weak<dyn Lookout>) -> bool {
        self.host.look_at(lookout)
    }

    /// Watches a connected socket.
    pub fn watch(&self, socket: OwnedFd) -> Watch {
        let host = Rc::clone(&self.host);
        Watch { host, descriptor: Arc::new(socket), directions: Default::default() }
    }
}

impl Watch {
    /// `true` if the socket has not been ready since a task began to wait for it; the task of
    /// `context` then replaces the waiting one.
    pub(super) fn still_waits(&self, readiness: Readiness, context: &Context<'_>) -> bool {
        let direction = &self.directions[readiness as usize];
        let still_waits = direction.is_armed.get();
        if still_waits {
            direction.waker.replace(Some(context.waker().clone()));
        }
        still_waits
    }

    /// Wakes the task of `context` as soon as the socket is ready. Call it after a read or write
    /// would have blocked, and try that again once woken.
    pub fn wake_when(&self, readiness: Readiness, context: &Context<'_>) {
        let direction = &self.directions[readiness as usize];
        direction.waker.replace(Some(context.waker().clone()));
        if !direction.is_armed.replace(true) {
            let fired = Rc::clone(direction);
            let then = Box::new(move || {
                fired.is_armed.set(false);
                if let Some(waker) = fired.waker.take() {
                    waker.wake();
                }
            });
            self.host.watch(&self.descriptor, readiness, then);
        }
    }
}
