//! Tracks which connection serves which initiator port at which target. A second login of a port
//! ends the first one's connection (RFC 7143, 6.3.5).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::{Context, Waker};

use super::InitiatorEnd;

/// Lets another connection end this one.
#[derive(Default)]
pub(super) struct NexusEnding {
    is_set: Cell<bool>,
    end: RefCell<Option<InitiatorEnd>>,
    waker: RefCell<Option<Waker>>,
}

impl NexusEnding {
    pub(super) fn set(&self, end: InitiatorEnd) {
        self.is_set.set(true);
        self.end.borrow_mut().get_or_insert(end);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    pub(super) fn is_set(&self) -> bool {
        self.is_set.get()
    }

    /// Takes the end if set; if not, `set` will wake the task.
    pub(super) fn poll(&self, context: &Context<'_>) -> Option<InitiatorEnd> {
        let end = self.end.take();
        if end.is_none() {
            self.waker.replace(Some(context.waker().clone()));
        }
        end
    }
}

/// See the module.
#[derive(Default)]
pub(super) struct Nexuses(RefCell<BTreeMap<(usize, String), Rc<NexusEnding>>>);

impl Nexuses {
    /// A port has logged in.
    pub(super) fn enter(&self, (target, initiator): (usize, &str), ending: &Rc<NexusEnding>) {
        let key = (target, initiator.to_owned());
        let earlier = self.0.borrow_mut().insert(key, Rc::clone(ending));
        if let Some(earlier) = earlier {
            earlier.set(InitiatorEnd::Replaced);
        }
    }

    /// A connection has ended.
    pub(super) fn leave(&self, ending: &Rc<NexusEnding>) {
        self.0.borrow_mut().retain(|_, known| !Rc::ptr_eq(known, ending));
    }
}
