//! What the thread that sends and the thread that receives know of a session.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::command::CommandTask;
use crate::line::SharedLine;

/// What both threads share.
pub(crate) struct SharedWire {
    pub line: SharedLine<CommandTask>,
    /// Highest number that a command may have.
    pub last_command: AtomicU32,
    /// Number of the next status.
    pub expected_status: AtomicU32,
    /// Whether the sender waits for the target to take more commands.
    pub is_stalled: AtomicBool,
}

impl SharedWire {
    /// Whether the target lets a command of that number in. Numbers go round.
    pub(crate) fn takes(&self, number: u32) -> bool {
        let last = self.last_command.load(Ordering::SeqCst);
        last.wrapping_sub(number).cast_signed() >= 0
    }

    /// Takes note of the highest number that a command may have; whether it is a higher one.
    pub(crate) fn takes_up_to(&self, last: u32) -> bool {
        let is_higher = !self.takes(last);
        if is_higher {
            self.last_command.store(last, Ordering::SeqCst);
        }
        is_higher
    }
}
