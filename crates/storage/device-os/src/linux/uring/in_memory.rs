//! Requests of files in memory (tmpfs). The kernel reads and writes these only by calls that block,
//! and would hand each request to one of its threads, which takes longer than the copy. They are
//! made here at once, and complete with the next turn as all others do.

use std::cell::RefCell;

use device::{Completed, Completer, Op};

use super::super::file::OpenFile;
use super::super::pool;
use crate::OsClock;

/// Requests that were made and whose tasks have not been notified.
#[derive(Default)]
pub(super) struct CopiedAtOnce {
    done: RefCell<Vec<(Completer, Completed)>>,
}

impl CopiedAtOnce {
    /// Makes a request.
    pub(super) fn start(&self, file: &OpenFile, op: Op, completer: Completer, clock: OsClock) {
        let completed = pool::call(file, op, clock);
        self.done.borrow_mut().push((completer, completed));
    }

    /// Completes requests; whether there were any.
    pub(super) fn deliver(&self) -> bool {
        let done = self.done.take();
        let any = !done.is_empty();
        for (completer, completed) in done {
            completer.complete(completed);
        }
        any
    }
}
