//! The sockets that a ring's tasks wait for. They enter the ring only if the thread works for
//! several turns without waiting: a server usually answers first and then waits for its next
//! request, with one call for both.

use std::cell::{Cell, RefCell};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use io_uring::types::Fd;
use io_uring::{opcode, squeue};

use super::super::watch::{Readiness, Watches};
use super::WATCH;

/// Turns for which watches wait before they enter the ring. A task that has found its socket empty
/// is usually about to start requests, and the thread is about to wait for the socket after them.
const MOST_TURNS: u32 = 16;

/// Watched sockets, in the ring or not yet.
#[derive(Default)]
pub(super) struct WatchedSockets {
    watches: RefCell<Watches>,
    /// Watches outside the ring: number, descriptor, events of poll(2).
    outside: RefCell<Vec<(u64, RawFd, i16)>>,
    /// Turns for which the oldest watch outside the ring has waited.
    turns: Cell<u32>,
}

impl WatchedSockets {
    pub(super) fn add(&self, socket: &Arc<OwnedFd>, readiness: Readiness, then: Box<dyn FnOnce()>) {
        let number = self.watches.borrow_mut().add(socket, then);
        self.outside.borrow_mut().push((number, socket.as_raw_fd(), readiness.events()));
    }

    /// Runs the action for the socket of this number, which is ready.
    pub(super) fn fire(&self, number: u64) {
        let then = self.watches.borrow_mut().take(number);
        if let Some(then) = then {
            then();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.watches.borrow().is_empty()
    }

    /// Whether a turn that has nothing else to submit may leave the watches outside the ring.
    pub(super) fn may_stay_outside(&self) -> bool {
        if self.outside.borrow().is_empty() {
            return true;
        }
        self.turns.set(self.turns.get() + 1);
        self.turns.get() <= MOST_TURNS
    }

    /// Removes the watches outside the ring and returns poll entries for them.
    pub(super) fn enter_ring(&self) -> Vec<squeue::Entry> {
        self.turns.set(0);
        let entry = |(number, descriptor, events): (u64, RawFd, i16)| {
            let poll = opcode::PollAdd::new(Fd(descriptor), u32::from(events.unsigned_abs()));
            poll.build().user_data(WATCH | number)
        };
        self.outside.borrow_mut().drain(..).map(entry).collect()
    }
}
