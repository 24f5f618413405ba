//! PDUs that the target sends once an initiator is logged in.

use std::ops::Range;

use device_net::iscsi_codec::{FINAL, Head, NO_TAG, append, data_in, field, response};

use super::{TargetSession, TargetStep};
use crate::scsi::Sense;

/// Maximum number of commands in progress.
pub(super) const WINDOW: usize = 128;
const GOOD: u8 = 0;
const CHECK_CONDITION: u8 = 0x02;
const RESERVATION_CONFLICT: u8 = 0x18;
const TASK_ABORTED: u8 = 0x40;

impl TargetSession {
    /// Numbers an answer that carries a status.
    pub(super) fn numbered(&mut self, answer: Head, to: &Head) -> Head {
        let number = self.next_status;
        self.next_status = number.wrapping_add(1);
        self.windowed(answer, to.word(field::TASK_TAG)).with(field::STATUS_NUMBER, number)
    }

    /// Numbers an answer that carries no status.
    pub(super) fn windowed(&self, answer: Head, task: u32) -> Head {
        let room = word(WINDOW.saturating_sub(self.tasks.len()));
        let last = self.next_command.wrapping_add(room).wrapping_sub(1);
        answer
            .with(field::TASK_TAG, task)
            .with(field::EXPECTED_STATUS_NUMBER, self.next_command)
            .with(field::LAST_COMMAND_NUMBER, last)
    }

    pub(super) fn send(&mut self, head: Head, data: &[u8]) {
        let mut bytes = Vec::new();
        append(&mut bytes, head, data);
        self.steps.push(TargetStep::Send(bytes));
    }

    /// Ends a command that returned no data.
    pub(super) fn status(&mut self, command: &Head, result: Result<usize, Sense>) {
        let mut answer = self.numbered(Head::new(response::COMMAND, FINAL), command);
        let moved = result.unwrap_or(0);
        let (flag, residual) = residual(command, moved);
        answer.0[1] |= flag;
        answer = answer.with(field::LENGTH, residual);
        match result {
            Ok(_) => {
                answer.0[3] = GOOD;
                self.send(answer, &[]);
            }
            Err(sense) => {
                answer.0[3] = CHECK_CONDITION;
                self.send(answer, &[&[0, 18][..], &sense.encode()].concat());
            }
        }
    }

    /// Ends a command that another session's reservation forbids.
    pub(super) fn conflict(&mut self, command: &Head) {
        self.bare_status(command, RESERVATION_CONFLICT);
    }

    /// Ends a command that was aborted from elsewhere.
    pub(super) fn aborted(&mut self, command: &Head) {
        self.bare_status(command, TASK_ABORTED);
    }

    fn bare_status(&mut self, command: &Head, status: u8) {
        let mut answer = self.numbered(Head::new(response::COMMAND, FINAL), command);
        let (flag, residual) = residual(command, 0);
        answer.0[1] |= flag;
        answer.0[3] = status;
        self.send(answer.with(field::LENGTH, residual), &[]);
    }

    /// Sends data, with the status in the last piece.
    pub(super) fn data(&mut self, command: &Head, data: &[u8]) {
        for (head, part) in self.pieces(command, data.len()) {
            self.send(head, &data[part]);
        }
    }

    /// Sends data that work has read, with the status in the last piece.
    pub(super) fn read(&mut self, command: &Head, bytes: usize) {
        for (head, part) in self.pieces(command, bytes) {
            let head = head.with_data(part.len()).0;
            self.steps.push(TargetStep::SendRead { head, part });
        }
    }

    /// Splits `bytes` of data into PDUs: the header and range of each. If there is no data to send,
    /// queues the status alone and returns nothing.
    fn pieces(&mut self, command: &Head, bytes: usize) -> Vec<(Head, Range<usize>)> {
        let sent = bytes.min(command.word(field::TRANSFER_TAG) as usize);
        if sent == 0 {
            self.status(command, Ok(bytes));
        }
        let most = self.agreed.most_sent;
        let mut pieces = Vec::with_capacity(sent.div_ceil(most));
        for (number, offset) in (0..sent).step_by(most).enumerate() {
            let end = (offset + most).min(sent);
            let head = Head::new(response::DATA_IN, 0);
            let head = if end == sent {
                let (flag, residual) = residual(command, bytes);
                let mut head = self.numbered(head, command).with(field::LENGTH, residual);
                head.0[1] = FINAL | data_in::STATUS | flag;
                head
            } else {
                self.windowed(head, command.word(field::TASK_TAG))
            };
            let head = head
                .with_lun(command.lun())
                .with(field::TRANSFER_TAG, NO_TAG)
                .with(field::DATA_NUMBER, word(number))
                .with(field::OFFSET, word(offset));
            pieces.push((head, offset..end));
        }
        pieces
    }

    /// Asks for `length` bytes of a command's data from `offset` on.
    pub(super) fn ask(&mut self, command: &Head, number: u32, offset: usize, length: usize) {
        let task = command.word(field::TASK_TAG);
        let head = self
            .windowed(Head::new(response::READY, FINAL), task)
            .with_lun(command.lun())
            .with(field::TRANSFER_TAG, task)
            .with(field::STATUS_NUMBER, self.next_status)
            .with(field::DATA_NUMBER, number)
            .with(field::OFFSET, word(offset))
            .with(field::LENGTH, word(length));
        self.send(head, &[]);
    }
}

/// Flag and count: how many bytes fewer, or more, were transferred than the initiator expected.
fn residual(command: &Head, moved: usize) -> (u8, u32) {
    let expected = command.word(field::TRANSFER_TAG);
    let moved = word(moved);
    match moved.cmp(&expected) {
        std::cmp::Ordering::Less => (data_in::UNDERFLOW, expected - moved),
        std::cmp::Ordering::Equal => (0, 0),
        std::cmp::Ordering::Greater => (0x04, moved - expected),
    }
}

fn word(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
