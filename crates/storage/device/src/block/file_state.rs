//! A file of an open volume: its name, its location on the device, and whether it is open for
//! writes.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::directory::PlacedFile;

/// A file, whether it is open or not.
pub(super) struct FileState {
    /// Its name on the device; `None` once it has been removed.
    pub name: RefCell<Option<String>>,
    pub entry: RefCell<PlacedFile>,
    locked: Cell<bool>,
}

impl FileState {
    pub(super) fn new(name: &str, entry: PlacedFile) -> Rc<Self> {
        let name = RefCell::new(Some(name.to_owned()));
        Rc::new(Self { name, entry: RefCell::new(entry), locked: Cell::new(false) })
    }

    /// Locks the file for the only handle that may write; false if another handle has it.
    pub(super) fn lock(&self) -> bool {
        !self.locked.replace(true)
    }

    pub(super) fn unlock(&self) {
        self.locked.set(false);
    }
}
