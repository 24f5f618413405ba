//! The latch of a database: closed by the first failed write or flush, opened by nothing.

use std::cell::RefCell;
use std::rc::Rc;

use crate::error::{Latch, TransactionError};

/// See the module.
pub(crate) struct LatchCell {
    file: String,
    latch: RefCell<Option<Rc<Latch>>>,
}

impl LatchCell {
    /// An open one for the database in `file`.
    pub fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            latch: RefCell::new(None),
        }
    }

    /// Closes it, unless it is closed already: the first cause is the one that counts.
    pub fn set(&self, cause: &str) -> Rc<Latch> {
        let mut latch = self.latch.borrow_mut();
        let file = || self.file.clone();
        let closed = latch.get_or_insert_with(|| {
            Rc::new(Latch {
                file: file(),
                cause: cause.to_owned(),
            })
        });
        Rc::clone(closed)
    }

    /// Why it is closed, if it is.
    pub fn get(&self) -> Option<Rc<Latch>> {
        self.latch.borrow().clone()
    }

    /// An error where it is closed.
    pub fn check(&self) -> Result<(), TransactionError> {
        match &*self.latch.borrow() {
            None => Ok(()),
            Some(latch) => Err(TransactionError::Latched(Rc::clone(latch))),
        }
    }
}
