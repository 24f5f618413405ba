//! Requests on files in memory (tmpfs). The kernel reads and writes these only through blocking
//! calls, and would pass each request to one of its threads, which takes longer than the copy. They
//! are executed here at once, and complete in the next turn like all others.

use std::cell::RefCell;

use device::{Completed, Completer, Op};

use super::super::file::OpenFile;
use super::super::pool;
use crate::OsClock;

/// Executed requests whose tasks have not been notified yet.
#[derive(Default)]
pub(super) struct CopiedAtOnce {
    done: RefCell<Vec<(Completer, Completed)>>,
}

impl CopiedAtOnce {
    /// Executes a request.
    pub(super) fn start(&self, file: &OpenFile, op: Op, completer: Completer, clock: OsClock) {
        let completed = pool::call(file, op, clock);
        self.done.borrow_mut().push((completer, completed));
    }

    /// Completes requests; `true` if there were any.
    pub(super) fn deliver(&self) -> bool {
        let done = self.done.take();
        let any = !done.is_empty();
        for (completer, completed) in done {
            completer.complete(completed);
        }
        any
    }
}
