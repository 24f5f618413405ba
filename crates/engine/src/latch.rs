//! The latch of a database: closed by the first failed write or flush, opened by nothing.

use std::cell::RefCell;
use std::rc::Rc;

use crate::error::{Latch, LostFlush, TransactionError};

/// See the module.
pub(crate) struct LatchCell {
    file: String,
    latch: RefCell<Option<Rc<Latch>>>,
}

impl LatchCell {
    /// An open one for the database in `file`.
    pub(crate) fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            latch: RefCell::new(None),
        }
    }

    /// Closes it, unless it is closed already: the first cause is the one that counts.
    pub(crate) fn set(&self, cause: &str) -> Rc<Latch> {
        self.close(|file| Latch {
            file,
            cause: cause.to_owned(),
            is_lost_flush: false,
        })
    }

    /// The same, for a failed write that only showed when its page was read.
    pub(crate) fn set_lost(&self, lost: &LostFlush) -> Rc<Latch> {
        self.close(|file| Latch {
            file,
            cause: format!("lost flush of page {}", lost.page),
            is_lost_flush: true,
        })
    }

    fn close(&self, latch: impl FnOnce(String) -> Latch) -> Rc<Latch> {
        let mut closed = self.latch.borrow_mut();
        Rc::clone(closed.get_or_insert_with(|| Rc::new(latch(self.file.clone()))))
    }

    /// Why it is closed, if it is.
    pub(crate) fn get(&self) -> Option<Rc<Latch>> {
        self.latch.borrow().clone()
    }

    /// An error where it is closed.
    pub(crate) fn check(&self) -> Result<(), TransactionError> {
        match &*self.latch.borrow() {
            None => Ok(()),
            Some(latch) => Err(TransactionError::Latched(Rc::clone(latch))),
        }
    }
}
