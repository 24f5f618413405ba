//! Whether a client is still connected. Once it has left, none of its requests that wait for a
//! mirrored volume are carried out: it may have written the same blocks through the other host
//! meanwhile.

use std::cell::Cell;

/// See the module.
#[derive(Default)]
pub(super) struct ClientPresence {
    has_left: Cell<bool>,
}

impl ClientPresence {
    pub(super) fn leave(&self) {
        self.has_left.set(true);
    }

    pub(super) fn has_left(&self) -> bool {
        self.has_left.get()
    }
}
