//! Whether a database is poisoned: the first failed write or flush poisons it, and only reopening
//! cures it.

use std::cell::RefCell;
use std::rc::Rc;

use crate::error::{LostFlush, PoisonCause, TransactionError};

/// The cause that poisoned a database, if any.
pub(crate) struct Poison {
    file: String,
    cause: RefCell<Option<Rc<PoisonCause>>>,
}

impl Poison {
    /// Not poisoned yet; for the database in `file`.
    pub(crate) fn new(file: &str) -> Self {
        Self { file: file.to_owned(), cause: RefCell::new(None) }
    }

    /// Poisons the database unless it is already poisoned: the first cause counts.
    pub(crate) fn set(&self, cause: &str) -> Rc<PoisonCause> {
        self.keep_first(cause.to_owned(), false)
    }

    /// Like [`Poison::set`], for a failed write that was detected only when its page was read.
    pub(crate) fn set_lost(&self, lost: &LostFlush) -> Rc<PoisonCause> {
        self.keep_first(format!("lost flush of page {}", lost.page), true)
    }

    fn keep_first(&self, cause: String, is_lost_flush: bool) -> Rc<PoisonCause> {
        let mut first = self.cause.borrow_mut();
        Rc::clone(first.get_or_insert_with(|| {
            Rc::new(PoisonCause { file: self.file.clone(), cause, is_lost_flush })
        }))
    }

    /// The cause, if any.
    pub(crate) fn get(&self) -> Option<Rc<PoisonCause>> {
        self.cause.borrow().clone()
    }

    /// Returns an error if the database is poisoned.
    pub(crate) fn check(&self) -> Result<(), TransactionError> {
        match &*self.cause.borrow() {
            None => Ok(()),
            Some(cause) => Err(TransactionError::Poisoned(Rc::clone(cause))),
        }
    }
}
