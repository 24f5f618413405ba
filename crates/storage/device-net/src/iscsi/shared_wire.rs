//! State of a session shared by its sending and receiving threads.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::command::CommandTask;
use crate::line::SharedLine;

/// State shared by both threads.
pub(crate) struct SharedWire {
    pub line: SharedLine<CommandTask>,
    /// Highest number that a command may have.
    pub last_command: AtomicU32,
    /// Number of the next status.
    pub expected_status: AtomicU32,
    /// Whether the sender waits for the target to accept more commands.
    pub is_stalled: AtomicBool,
}

impl SharedWire {
    /// Whether the target's window permits a command of that number. Numbers wrap around.
    pub(crate) fn takes(&self, number: u32) -> bool {
        let last = self.last_command.load(Ordering::SeqCst);
        last.wrapping_sub(number).cast_signed() >= 0
    }

    /// Records the highest number that a command may have; returns whether it has increased.
    pub(crate) fn takes_up_to(&self, last: u32) -> bool {
        let is_higher = !self.takes(last);
        if is_higher {
            self.last_command.store(last, Ordering::SeqCst);
        }
        is_higher
    }
}
