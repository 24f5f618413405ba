//! A command on its way to a logical unit, and its outcome.

use std::ops::Range;

use device::{Buffer, DeviceError};

use super::scsi::CommandBlock;
use super::sense::ScsiRefusal;
use crate::line::Abandon;

/// Direction of the data transfer, from the initiator's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataDirection {
    None,
    In,
    Out,
}

/// See the module.
pub(crate) struct Command {
    pub lun: [u8; 8],
    pub block: CommandBlock,
    pub direction: DataDirection,
    pub buffer: Option<Buffer>,
    /// Range of the buffer to transfer.
    pub range: Range<usize>,
    pub end: CommandEnd,
}

/// Called once, from any thread, with the outcome of a command.
pub(crate) type CommandEnd = Box<dyn FnOnce(CommandOutcome) + Send>;

/// Outcome of a command.
pub(crate) struct CommandOutcome {
    pub buffer: Option<Buffer>,
    /// Bytes transferred.
    pub moved: usize,
    pub result: Result<(), CommandFailure>,
}

/// Why a command was not carried out.
#[derive(Debug)]
pub(crate) enum CommandFailure {
    /// The connection broke: the outcome is unknown.
    Lost(DeviceError),
    /// The target returned an error status.
    Refused(ScsiRefusal),
}

/// State of a command in progress.
pub(crate) struct CommandTask {
    pub lun: [u8; 8],
    pub direction: DataDirection,
    pub range: Range<usize>,
    /// Bytes that have arrived.
    pub arrived: usize,
    pub end: CommandEnd,
}

impl Abandon for CommandTask {
    fn abandon(self, buffer: Option<Buffer>, error: DeviceError) {
        let result = Err(CommandFailure::Lost(error));
        (self.end)(CommandOutcome { buffer, moved: 0, result });
    }
}

impl Abandon for Command {
    fn abandon(self, buffer: Option<Buffer>, error: DeviceError) {
        let result = Err(CommandFailure::Lost(error));
        (self.end)(CommandOutcome { buffer: buffer.or(self.buffer), moved: 0, result });
    }
}
