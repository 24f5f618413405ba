//! Requests after the login: commands with their data, texts, pings, logout.

use device_net::iscsi_codec::{FINAL, Head, IMMEDIATE, KeyText, NO_TAG, field, request, response};

use super::{TargetSession, TargetStep};
use crate::scsi::{self, CommandPlan, Sense, WorkError};

/// Opcode of task management, and of its response.
const TASK_MANAGEMENT: u8 = 0x02;
const TASK_MANAGED: u8 = 0x22;
const ABORT_TASK: u8 = 1;
const LUN_RESET: u8 = 5;
const NO_SUCH_TASK: u8 = 1;
const NOT_SUPPORTED: u8 = 5;
/// The command is a write.
const WRITES: u8 = 0x20;

/// A command that waits for data or for its work.
pub(super) struct Task {
    command: Head,
    /// Bytes of data that it asks for, and those that the initiator offers of them.
    wanted: usize,
    taken: usize,
    data: Vec<u8>,
    /// Requests for data so far, and the end of the requested range.
    asked: (u32, usize),
    /// Number of the next piece that answers the request.
    next_piece: u32,
    is_working: bool,
}

fn command_block(head: &Head) -> [u8; 16] {
    let mut cdb = [0; 16];
    cdb.copy_from_slice(&head.0[field::COMMAND_BLOCK..]);
    cdb
}

impl TargetSession {
    pub(super) fn request(&mut self, head: &Head, data: &[u8]) {
        let is_numbered = head.opcode() != request::DATA_OUT && head.0[0] & IMMEDIATE == 0;
        if is_numbered {
            if head.word(field::COMMAND_NUMBER) != self.next_command {
                return; // On one connection commands arrive in order.
            }
            self.next_command = self.next_command.wrapping_add(1);
        }
        match head.opcode() {
            request::COMMAND if !self.is_discovery => self.command(head, data),
            request::DATA_OUT => self.data_out(head, data),
            request::NOP_OUT => self.ping(head, data),
            request::TEXT => self.text(head, data),
            TASK_MANAGEMENT => self.manage(head),
            request::LOGOUT => {
                let answer = self.numbered(Head::new(response::LOGOUT, FINAL), head);
                self.send(answer, &[]);
                self.close();
            }
            _ => self.close(),
        }
    }

    fn command(&mut self, head: &Head, data: &[u8]) {
        let cdb = command_block(head);
        let is_unit = head.lun() == [0, self.offer.lun, 0, 0, 0, 0, 0, 0];
        let is_question = matches!(cdb[0], 0x03 | 0x12 | 0xa0);
        if !is_unit && cdb[0] == 0x12 {
            return self.data(head, &scsi::no_unit());
        }
        if !is_unit && cdb[0] != 0xa0 {
            return self.status(head, Err(Sense::NO_SUCH_UNIT));
        }
        if !is_question && let Some(sense) = self.attention.take() {
            return self.status(head, Err(sense));
        }
        match scsi::plan(&self.offer.disk, self.offer.lun, &cdb) {
            Err(sense) => self.status(head, Err(sense)),
            Ok(CommandPlan::Answer(answer, most)) => {
                let length = answer.len().min(most);
                self.data(head, &answer[..length]);
            }
            Ok(CommandPlan::Do(work)) => self.begin(head, 0, &[], Some(work)),
            Ok(CommandPlan::Take(wanted)) => self.begin(head, wanted, data, None),
        }
    }

    fn begin(&mut self, head: &Head, wanted: usize, data: &[u8], work: Option<scsi::ScsiWork>) {
        let task = head.word(field::TASK_TAG);
        let offered = head.word(field::TRANSFER_TAG) as usize;
        let offered = if head.has(WRITES) { offered } else { 0 };
        let data = data[..data.len().min(wanted).min(offered)].to_vec();
        let state = Task {
            command: *head,
            wanted,
            taken: wanted.min(offered),
            asked: (0, data.len()),
            data,
            next_piece: 0,
            is_working: work.is_some(),
        };
        if self.tasks.insert(task, state).is_some() {
            return self.close(); // A tag in use: what belongs to which is lost.
        }
        match work {
            Some(work) => self.steps.push(TargetStep::Work { task, work }),
            None => self.proceed(task),
        }
    }

    /// Asks for more of a task's data, or begins its work.
    fn proceed(&mut self, number: u32) {
        let burst = self.agreed.burst as usize;
        let Some(task) = self.tasks.get_mut(&number) else { return };
        if task.data.len() < task.taken {
            let offset = task.data.len();
            if offset == task.asked.1 {
                let length = burst.min(task.taken - offset);
                let (command, count) = (task.command, task.asked.0);
                task.asked = (count + 1, offset + length);
                task.next_piece = 0;
                self.ask(&command, count, offset, length);
            }
            return;
        }
        let (command, mut data) = (task.command, std::mem::take(&mut task.data));
        let (cdb, wanted) = (command_block(&command), task.wanted);
        if data.len() < wanted {
            let block = self.offer.disk.block_bytes as usize;
            data.truncate(data.len() / block * block);
            let is_whole = scsi::is_plain_write(&cdb);
            if !is_whole || data.is_empty() {
                self.tasks.remove(&number);
                let nothing = if is_whole { Ok(wanted) } else { Err(Sense::PARAMETER_LENGTH) };
                return self.status(&command, nothing);
            }
        }
        match scsi::work(&self.offer.disk, &cdb, &data) {
            Ok(work) => {
                task.is_working = true;
                self.steps.push(TargetStep::Work { task: number, work });
            }
            Err(sense) => {
                self.tasks.remove(&number);
                self.status(&command, Err(sense));
            }
        }
    }

    fn data_out(&mut self, head: &Head, data: &[u8]) {
        let number = head.word(field::TASK_TAG);
        let offset = head.word(field::OFFSET) as usize;
        let Some(task) = self.tasks.get_mut(&number) else { return };
        let fits =
            !task.is_working && offset == task.data.len() && offset + data.len() <= task.asked.1;
        if !fits {
            return self.close(); // Data that was not asked for, or out of order.
        }
        if head.word(field::DATA_NUMBER) != task.next_piece {
            let command = task.command;
            self.tasks.remove(&number);
            return self.status(&command, Err(Sense::DATA_PHASE));
        }
        task.next_piece += 1;
        task.data.extend_from_slice(data);
        self.proceed(number);
    }

    /// The result of work: the bytes of a read, else nothing.
    pub fn finished(&mut self, task: u32, result: Result<Vec<u8>, WorkError>) -> Vec<TargetStep> {
        if let Some(done) = self.tasks.remove(&task) {
            match result {
                Ok(data) if done.wanted == 0 && !data.is_empty() => self.data(&done.command, &data),
                Ok(_) => self.status(&done.command, Ok(done.wanted)),
                Err(error) => self.status(&done.command, Err(Sense::of(error))),
            }
        }
        std::mem::take(&mut self.steps)
    }

    fn ping(&mut self, head: &Head, data: &[u8]) {
        if head.word(field::TASK_TAG) != NO_TAG {
            let answer = self.numbered(Head::new(response::NOP_IN, FINAL), head);
            self.send(answer.with(field::TRANSFER_TAG, NO_TAG), data);
        }
    }

    /// The list of targets.
    fn text(&mut self, head: &Head, data: &[u8]) {
        let asked = KeyText::decode(data).unwrap_or_default();
        let mut answer = KeyText::default();
        if asked.get("SendTargets").is_some() {
            answer.set("TargetName", &self.offer.name);
            answer.set("TargetAddress", format!("{},1", self.offer.portal));
        }
        let head = self.numbered(Head::new(response::TEXT, FINAL), head);
        self.send(head.with(field::TRANSFER_TAG, NO_TAG), &answer.encode());
    }

    fn manage(&mut self, head: &Head) {
        let function = head.0[1] & 0x7f;
        let aborted = head.word(field::TRANSFER_TAG);
        let waits = self.tasks.get(&aborted).is_some_and(|task| !task.is_working);
        let outcome = match function {
            LUN_RESET => {
                self.tasks.retain(|_, task| task.is_working);
                self.attention = Some(Sense::RESET);
                0
            }
            ABORT_TASK if waits => {
                self.tasks.remove(&aborted);
                0
            }
            // It has ended, or its work will: either way it is answered.
            ABORT_TASK => NO_SUCH_TASK,
            _ => NOT_SUPPORTED,
        };
        let mut answer = self.numbered(Head::new(TASK_MANAGED, FINAL), head);
        answer.0[2] = outcome;
        self.send(answer, &[]);
    }
}
