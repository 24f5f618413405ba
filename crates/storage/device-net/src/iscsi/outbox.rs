//! Outgoing commands and data: commands in the order of their sequence numbers, within the target's
//! window, and write data as the target requests it.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use super::agreed::Agreed;
use super::command::{Command, CommandTask, DataDirection};
use super::login::FIRST_COMMAND;
use super::pdu::{self, FINAL, Head, IMMEDIATE, NO_TAG, field, request};
use super::shared_wire::SharedWire;
use crate::line::{Abandon as _, UnderWay, lock};

/// Flags of a command.
const READS: u8 = 0x40;
const WRITES: u8 = 0x20;
/// The target may carry out commands in any order.
const SIMPLE: u8 = 0x01;

/// Number of pending bytes above which they are sent before more are added.
const ENOUGH_BYTES: usize = 256 << 10;

/// Data that a target asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AskedData {
    pub tag: u32,
    pub transfer_tag: u32,
    /// Offset in the data of the command, in bytes.
    pub offset: u32,
    pub length: u32,
}

/// See the module.
pub(crate) struct Outbox {
    wire: Arc<SharedWire>,
    agreed: Agreed,
    next_command: u32,
    next_tag: u32,
    /// Commands beyond the target's current window.
    waiting: VecDeque<Box<Command>>,
    /// Commands that the target rejected because it was busy.
    later: VecDeque<Box<Command>>,
    bytes: Vec<u8>,
}

impl Outbox {
    pub(crate) fn new(wire: Arc<SharedWire>, agreed: Agreed) -> Self {
        Self {
            wire,
            agreed,
            next_command: FIRST_COMMAND,
            next_tag: 0,
            waiting: VecDeque::new(),
            later: VecDeque::new(),
            bytes: Vec::new(),
        }
    }

    /// Whether more can be added before sending.
    pub(crate) fn has_room(&self) -> bool {
        self.bytes.len() < ENOUGH_BYTES
    }

    /// Whether any commands are delayed.
    pub(crate) fn is_delayed(&self) -> bool {
        !self.later.is_empty()
    }

    pub(crate) fn add(&mut self, command: Box<Command>) {
        if self.wire.line.is_broken() {
            command.abandon(None, self.wire.line.error());
        } else {
            self.waiting.push_back(command);
        }
    }

    pub(crate) fn delay(&mut self, command: Box<Command>) {
        self.later.push_back(command);
    }

    /// Requeues the delayed commands once their delay is over.
    pub(crate) fn resume(&mut self) {
        for command in std::mem::take(&mut self.later) {
            self.add(command);
        }
    }

    /// Fails every queued command and every one in flight.
    pub(crate) fn fail(&mut self, why: String) {
        self.wire.line.fail(why);
        self.bytes.clear();
        for command in self.waiting.drain(..).chain(self.later.drain(..)) {
            command.abandon(None, self.wire.line.error());
        }
    }

    /// Answers a ping from the target.
    pub(crate) fn answer(&mut self, lun: [u8; 8], transfer_tag: u32) {
        let head = Head::new(request::NOP_OUT | IMMEDIATE, FINAL)
            .with_lun(lun)
            .with(field::TASK_TAG, NO_TAG)
            .with(field::TRANSFER_TAG, transfer_tag)
            .with(field::COMMAND_NUMBER, self.next_command);
        self.append(head, 0..0, None);
    }

    /// Adds a logout request.
    pub(crate) fn log_out(&mut self) {
        let head = Head::new(request::LOGOUT | IMMEDIATE, FINAL)
            .with(field::TASK_TAG, NO_TAG - 1)
            .with(field::COMMAND_NUMBER, self.next_command);
        self.append(head, 0..0, None);
    }

    /// Adds data that the target asked for; does nothing if the command has ended meanwhile.
    pub(crate) fn supply(&mut self, ready: AskedData) {
        let task = self.wire.line.with(u64::from(ready.tag), |under_way| {
            let task = &under_way.task;
            (Arc::clone(&under_way.buffer), task.lun, task.range.clone())
        });
        let Some((slot, lun, range)) = task else {
            return;
        };
        let from = range.start + ready.offset as usize;
        let data = from..(from + ready.length as usize).min(range.end);
        let held = lock(&slot);
        if let Some(bytes) = held.as_deref() {
            self.data_out(lun, ready.tag, ready.transfer_tag, (range.start, data), bytes);
        }
    }

    /// Sends pending data, with the commands that the target's window now permits.
    pub(crate) fn flush(&mut self, stream: &mut impl Write) -> io::Result<()> {
        if self.wire.line.is_broken() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        loop {
            while self.has_room() && self.may_start() {
                match self.waiting.pop_front() {
                    Some(command) => self.start(*command),
                    None => break,
                }
            }
            if self.bytes.is_empty() {
                return Ok(());
            }
            stream.write_all(&self.bytes)?;
            self.bytes.clear();
        }
    }

    /// Whether the target accepts the next command; if not, the receiver will notify when it does.
    fn may_start(&self) -> bool {
        if self.waiting.is_empty() || self.wire.takes(self.next_command) {
            return true;
        }
        self.wire.is_stalled.store(true, Ordering::SeqCst);
        // The window may have changed in between.
        self.wire.takes(self.next_command)
    }

    fn start(&mut self, command: Command) {
        let Command { lun, block, direction, buffer, range, end } = command;
        let (tag, number) = (self.next_tag, self.next_command);
        self.next_tag = if tag >= NO_TAG - 2 { 0 } else { tag + 1 };
        self.next_command = number.wrapping_add(1);
        let slot = Arc::new(Mutex::new(buffer));
        let task = CommandTask { lun, direction, range: range.clone(), arrived: 0, end };
        let held = lock(&slot);
        let under_way = UnderWay { buffer: Arc::clone(&slot), task };
        self.wire.line.begin(u64::from(tag), under_way);
        let length = if direction == DataDirection::None { 0 } else { range.len() };
        let with_it = match direction {
            DataDirection::Out if self.agreed.is_immediate => self.first(length),
            _ => 0,
        };
        let unasked = match direction {
            DataDirection::Out if !self.agreed.waits_for_request => {
                length.min(self.agreed.first_burst as usize)
            }
            _ => with_it,
        };
        let way = match direction {
            DataDirection::None => 0,
            DataDirection::In => READS,
            DataDirection::Out => WRITES,
        };
        let last = if unasked > with_it { 0 } else { FINAL };
        let mut head = Head::new(request::COMMAND, last | way | SIMPLE)
            .with_lun(lun)
            .with(field::TASK_TAG, tag)
            .with(field::TRANSFER_TAG, u32::try_from(length).unwrap_or(u32::MAX))
            .with(field::COMMAND_NUMBER, number);
        head.0[field::COMMAND_BLOCK..].copy_from_slice(&block);
        let bytes = held.as_deref();
        self.append(head, range.start..range.start + with_it, bytes);
        if let Some(bytes) = bytes.filter(|_| unasked > with_it) {
            let data = range.start + with_it..range.start + unasked;
            self.data_out(lun, tag, NO_TAG, (range.start, data), bytes);
        }
    }

    /// How many of the `length` bytes are sent with their command.
    fn first(&self, length: usize) -> usize {
        length.min(self.agreed.first_burst as usize).min(self.agreed.most_sent as usize)
    }

    /// Adds the range `data` of a buffer; the command's own bytes start at `begin` in it.
    fn data_out(
        &mut self,
        lun: [u8; 8],
        tag: u32,
        transfer_tag: u32,
        (begin, data): (usize, std::ops::Range<usize>),
        bytes: &[u8],
    ) {
        let step = self.agreed.most_sent as usize;
        for (number, from) in data.clone().step_by(step).enumerate() {
            let to = (from + step).min(data.end);
            let head = Head::new(request::DATA_OUT, if to == data.end { FINAL } else { 0 })
                .with_lun(lun)
                .with(field::TASK_TAG, tag)
                .with(field::TRANSFER_TAG, transfer_tag)
                .with(field::DATA_NUMBER, u32::try_from(number).unwrap_or(u32::MAX))
                .with(field::OFFSET, u32::try_from(from - begin).unwrap_or(u32::MAX));
            self.append(head, from..to, Some(bytes));
        }
    }

    fn append(&mut self, head: Head, data: std::ops::Range<usize>, bytes: Option<&[u8]>) {
        let expected = self.wire.expected_status.load(Ordering::SeqCst);
        let head = head.with(field::EXPECTED_STATUS_NUMBER, expected);
        pdu::append(&mut self.bytes, head, bytes.map_or(&[], |bytes| &bytes[data]));
    }
}
