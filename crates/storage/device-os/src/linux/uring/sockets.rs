//! The sockets that a ring's tasks wait for. They go to the ring only if the thread works on for
//! several turns without waiting: a server mostly answers first, and then waits for its next
//! request, with one call for both.

use std::cell::{Cell, RefCell};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use io_uring::types::Fd;
use io_uring::{opcode, squeue};

use super::super::watch::{Readiness, Watches};
use super::WATCH;

/// Turns for which watches wait before they go to the ring. A task that has just found its socket
/// empty is mostly about to begin requests, and the thread to wait for the socket after them.
const MOST_TURNS: u32 = 16;

/// Watched sockets, in the ring or not yet.
#[derive(Default)]
pub(super) struct WatchedSockets {
    watches: RefCell<Watches>,
    /// Those that the ring does not know: number, descriptor, events of poll(2).
    outside: RefCell<Vec<(u64, RawFd, i16)>>,
    /// Turns for which the oldest of them has waited.
    turns: Cell<u32>,
}

impl WatchedSockets {
    pub(super) fn add(&self, socket: &Arc<OwnedFd>, readiness: Readiness, then: Box<dyn FnOnce()>) {
        let number = self.watches.borrow_mut().add(socket, then);
        self.outside.borrow_mut().push((number, socket.as_raw_fd(), readiness.events()));
    }

    /// The socket of this number is ready.
    pub(super) fn fire(&self, number: u64) {
        let then = self.watches.borrow_mut().take(number);
        if let Some(then) = then {
            then();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.watches.borrow().is_empty()
    }

    /// Whether a turn that has nothing else to submit may leave the watches where they are.
    pub(super) fn may_stay_outside(&self) -> bool {
        if self.outside.borrow().is_empty() {
            return true;
        }
        self.turns.set(self.turns.get() + 1);
        self.turns.get() <= MOST_TURNS
    }

    /// Ring entries for the watches that it does not know, which it knows from now on.
    pub(super) fn enter_ring(&self) -> Vec<squeue::Entry> {
        self.turns.set(0);
        let entry = |(number, descriptor, events): (u64, RawFd, i16)| {
            let poll = opcode::PollAdd::new(Fd(descriptor), u32::from(events.unsigned_abs()));
            poll.build().user_data(WATCH | number)
        };
        self.outside.borrow_mut().drain(..).map(entry).collect()
    }
}
