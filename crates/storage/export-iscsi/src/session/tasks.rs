//! Commands in progress, and requests to abort them (RFC 7143, 11.5).

use device_net::iscsi_codec::{FINAL, Head, field};

use super::TargetSession;

/// Opcode of the response to task management.
const TASK_MANAGED: u8 = 0x22;
const ABORT_TASK: u8 = 1;
const ABORT_TASK_SET: u8 = 2;
const CLEAR_TASK_SET: u8 = 4;
const LUN_RESET: u8 = 5;
const TARGET_WARM_RESET: u8 = 6;
const COMPLETE: u8 = 0;
const NO_SUCH_TASK: u8 = 1;
const NO_SUCH_UNIT: u8 = 2;
const NOT_SUPPORTED: u8 = 5;

/// A command that waits for data or for its work.
pub(super) struct Task {
    pub command: Head,
    /// Bytes of data that it needs, and how many of them the initiator offers.
    pub wanted: usize,
    pub taken: usize,
    pub data: Vec<u8>,
    /// `true` once memory is reserved for the data to come.
    pub is_granted: bool,
    /// Requests for data so far, and the end of the requested range.
    pub asked: (u32, usize),
    /// Number of the next piece that answers the request.
    pub next_piece: u32,
    pub is_working: bool,
    /// `true` if its initiator no longer waits for its status.
    pub is_aborted: bool,
    /// The session's count of aborts when the task arrived.
    pub aborts: u64,
}

impl Task {
    pub(super) fn new(command: Head, (wanted, taken): (usize, usize), aborts: u64) -> Self {
        Self {
            command,
            wanted,
            taken,
            data: Vec::new(),
            is_granted: false,
            asked: (0, 0),
            next_piece: 0,
            is_working: false,
            is_aborted: false,
            aborts,
        }
    }
}

/// A request to abort that waits for the end of work in progress.
pub(super) struct PendingAbort {
    request: Head,
    outcome: u8,
    tasks: Vec<u32>,
}

impl TargetSession {
    pub(super) fn manage(&mut self, head: &Head) {
        let is_unit = self.is_unit(head);
        let outcome = match head.0[1] & 0x7f {
            ABORT_TASK => return self.abort_one(head),
            _ if !is_unit => NO_SUCH_UNIT,
            ABORT_TASK_SET | CLEAR_TASK_SET => return self.abort_all(head),
            LUN_RESET | TARGET_WARM_RESET => {
                if let Some(seat) = &self.seat {
                    seat.reset();
                }
                return self.abort_all(head);
            }
            _ => NOT_SUPPORTED,
        };
        self.managed(head, outcome);
    }

    /// Aborts one task. If it is already at work, it ends as usual, and the answer follows its
    /// status.
    fn abort_one(&mut self, head: &Head) {
        let number = head.word(field::TRANSFER_TAG);
        match self.tasks.get(&number).map(|task| task.is_working) {
            Some(true) => {
                let tasks = vec![number];
                self.aborts.push(PendingAbort { request: *head, outcome: NO_SUCH_TASK, tasks });
            }
            Some(false) => {
                self.tasks.remove(&number);
                self.managed(head, COMPLETE);
            }
            None => self.managed(head, NO_SUCH_TASK),
        }
    }

    /// Aborts all tasks without responses. The request itself is answered once the tasks already at
    /// work have ended.
    fn abort_all(&mut self, head: &Head) {
        self.tasks.retain(|_, task| task.is_working);
        let tasks: Vec<u32> = self.tasks.keys().copied().collect();
        for task in self.tasks.values_mut() {
            task.is_aborted = true;
        }
        self.aborts.push(PendingAbort { request: *head, outcome: COMPLETE, tasks });
        self.settle_aborts(None);
    }

    /// Answers the requests to abort that waited only for `ended`.
    pub(super) fn settle_aborts(&mut self, ended: Option<u32>) {
        for abort in &mut self.aborts {
            abort.tasks.retain(|task| Some(*task) != ended);
        }
        let settled: Vec<_> = self.aborts.extract_if(.., |abort| abort.tasks.is_empty()).collect();
        for abort in settled {
            self.managed(&abort.request, abort.outcome);
        }
    }

    fn managed(&mut self, head: &Head, outcome: u8) {
        let mut answer = self.numbered(Head::new(TASK_MANAGED, FINAL), head);
        answer.0[2] = outcome;
        self.send(answer, &[]);
    }
}
