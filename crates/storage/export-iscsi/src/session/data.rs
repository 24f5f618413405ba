//! Data of commands: collects the data that the initiator sends, solicited or not, until the work
//! can begin.

use device_net::iscsi_codec::{Head, field};

use super::full::command_block;
use super::tasks::Task;
use super::{TargetSession, TargetStep};
use crate::reservations::{ReservationChange, ReserveRefusal};
use crate::scsi::{self, CommandAccess, ScsiWork, Sense, WorkError};

/// The command is a write.
const WRITES: u8 = 0x20;

impl TargetSession {
    /// Begins work that needs no data.
    pub(super) fn begin_work(&mut self, head: &Head, work: ScsiWork) {
        let mut task = Task::new(*head, (0, 0), self.seat_aborts());
        task.is_working = true;
        let number = head.word(field::TASK_TAG);
        if self.add(number, task) {
            self.steps.push(TargetStep::Work { task: number, work });
        }
    }

    /// Begins a command that needs `wanted` bytes, of which `data` came with it.
    pub(super) fn begin_transfer(&mut self, head: &Head, wanted: usize, data: &[u8]) {
        let offered = head.word(field::TRANSFER_TAG) as usize;
        let offered = if head.has(WRITES) { offered } else { 0 };
        if let Some(sense) = scsi::size_fault(&command_block(head), wanted, offered) {
            return self.status(head, Err(sense));
        }
        let taken = wanted.min(offered);
        let mut task = Task::new(*head, (wanted, taken), self.seat_aborts());
        let data = &data[..data.len().min(taken)];
        task.data.extend_from_slice(data);
        task.asked.1 = data.len();
        let number = head.word(field::TASK_TAG);
        if !self.add(number, task) {
            return;
        }
        if data.len() < taken {
            let bytes = taken - data.len();
            self.steps.push(TargetStep::Reserve { task: number, bytes });
        } else {
            self.proceed(number);
        }
    }

    fn add(&mut self, number: u32, task: Task) -> bool {
        let is_new = self.tasks.insert(number, task).is_none();
        if !is_new {
            self.close(); // A tag in use: what belongs to which is lost.
        }
        is_new
    }

    /// Continues a task after memory for its data has been reserved.
    pub(crate) fn granted(&mut self, task: u32) -> Vec<TargetStep> {
        if let Some(waiting) = self.tasks.get_mut(&task).filter(|task| !task.is_granted) {
            waiting.is_granted = true;
            waiting.data.reserve_exact(waiting.taken - waiting.data.len());
            self.proceed(task);
        }
        std::mem::take(&mut self.steps)
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
        let (command, data) = (task.command, std::mem::take(&mut task.data));
        let wanted = task.wanted;
        match self.work_of(&command, data, wanted) {
            Ok(Some(work)) => {
                if let Some(task) = self.tasks.get_mut(&number) {
                    task.is_working = true;
                    self.steps.push(TargetStep::Work { task: number, work });
                }
            }
            Ok(None) => self.end(number, Ok(wanted)),
            Err(ReserveRefusal::Sense(sense)) => self.end(number, Err(sense)),
            Err(ReserveRefusal::Conflict) => {
                self.tasks.remove(&number);
                self.conflict(&command);
            }
        }
    }

    fn end(&mut self, number: u32, result: Result<usize, Sense>) {
        if let Some(task) = self.tasks.remove(&number) {
            self.status(&task.command, result);
        }
    }

    /// The work of a command whose data has arrived; `None` if nothing is left to do.
    fn work_of(
        &self,
        command: &Head,
        mut data: Vec<u8>,
        wanted: usize,
    ) -> Result<Option<ScsiWork>, ReserveRefusal> {
        let cdb = command_block(command);
        if cdb[0] == 0x5f {
            return self.reservation_work(&cdb, &data);
        }
        let disk = &self.offer().ok_or(ReserveRefusal::Conflict)?.disk;
        let is_plain = scsi::is_plain_write(&cdb);
        if data.len() < wanted {
            let block = disk.block_bytes as usize;
            data.truncate(data.len() / block * block);
            if !is_plain {
                return Err(ReserveRefusal::Sense(Sense::PARAMETER_LENGTH));
            }
        }
        if is_plain && data.is_empty() {
            return Ok(None);
        }
        scsi::work(disk, &cdb, data).map(Some).map_err(ReserveRefusal::Sense)
    }

    /// Carries out PERSISTENT RESERVE OUT. One that removes keys waits for work in progress, so
    /// that no write of a fenced host reaches the volume after the answer.
    fn reservation_work(
        &self,
        cdb: &[u8; 16],
        data: &[u8],
    ) -> Result<Option<ScsiWork>, ReserveRefusal> {
        let change = ReservationChange::parse(cdb, data)?;
        self.seat.as_ref().ok_or(ReserveRefusal::Conflict)?.change(&change)?;
        Ok(change.action.is_preemption().then_some(ScsiWork::Settle))
    }

    pub(super) fn data_out(&mut self, head: &Head, data: &[u8]) {
        let number = head.word(field::TASK_TAG);
        let offset = head.word(field::OFFSET) as usize;
        let Some(task) = self.tasks.get_mut(&number) else { return };
        let fits =
            !task.is_working && offset == task.data.len() && offset + data.len() <= task.asked.1;
        if !fits {
            return self.close(); // Data that was not asked for, or out of order.
        }
        if head.word(field::DATA_NUMBER) != task.next_piece {
            return self.end(number, Err(Sense::DATA_PHASE));
        }
        task.next_piece += 1;
        task.data.extend_from_slice(data);
        self.proceed(number);
    }

    /// `true` if a task's work may begin: reservations may have changed since it was planned. If
    /// `false`, pass [`WorkError::Aborted`] to [`Self::finished`].
    #[must_use]
    pub(crate) fn may_begin(&self, task: u32) -> bool {
        let (Some(task), Some(seat)) = (self.tasks.get(&task), &self.seat) else { return false };
        let access = CommandAccess::of(&command_block(&task.command));
        !task.is_aborted && task.aborts == seat.aborts() && seat.admits(access)
    }

    /// Accepts the result of work: the number of bytes read, else 0.
    pub(crate) fn finished(
        &mut self,
        task: u32,
        result: Result<usize, WorkError>,
    ) -> Vec<TargetStep> {
        if let Some(done) = self.tasks.remove(&task).filter(|done| !done.is_aborted) {
            match result {
                Ok(bytes) if done.wanted == 0 && bytes > 0 => self.read(&done.command, bytes),
                Ok(_) => self.status(&done.command, Ok(done.wanted)),
                Err(WorkError::Aborted) => self.aborted(&done.command),
                Err(error) => self.status(&done.command, Err(Sense::of(error))),
            }
        }
        self.settle_aborts(Some(task));
        std::mem::take(&mut self.steps)
    }
}
