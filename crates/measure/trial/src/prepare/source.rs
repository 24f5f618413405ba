//! The messages of a fill, row by row.

use std::sync::Arc;

use engine::Row;
use engine::bulk::RowSource;
use workload::{Content, Pads};

use crate::coordinator::Coordinator;
use crate::messages::fill_row;

/// Yields version 1 of every message from number 1 on, until a stop is requested.
pub(super) struct Source {
    content: Content,
    last: i64,
    pads: Pads,
    coordinator: Arc<Coordinator>,
}

impl Source {
    /// The messages of `content`.
    pub(super) fn new(content: Content, coordinator: Arc<Coordinator>) -> Self {
        Self { content, last: 0, pads: Pads::default(), coordinator }
    }
}

impl RowSource for Source {
    fn fill(&mut self, row: &mut Row) -> bool {
        if self.coordinator.stopped().is_some() {
            return false;
        }
        self.last += 1;
        let message = self.content.message(self.last, 1, &mut self.pads);
        fill_row(row, &message, &self.pads);
        true
    }

    fn is_broken_off(&self) -> bool {
        self.coordinator.stopped().is_some()
    }
}
