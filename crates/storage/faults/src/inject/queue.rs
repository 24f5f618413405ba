//! The queue of one file's requests; carries out each decision on the inner device.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use device::{
    Completed, Completer, Completion, Device, DeviceError, Op, Purpose, Request, Runtime,
    completion,
};
use units::Nanos;

use super::plan::{FaultDecision, SECTOR, injected_failure, injected_full};
use crate::crash::take;

/// See the module.
pub(super) struct Queue {
    inner: Rc<dyn Device>,
    runtime: Runtime,
    waiting: RefCell<VecDeque<QueuedJob>>,
    running: Cell<usize>,
    /// Whether the running request must be alone.
    alone: Cell<bool>,
}

struct QueuedJob {
    request: Request,
    decision: FaultDecision,
    completer: Completer,
    submitted: Nanos,
}

impl Queue {
    /// An empty queue before `inner`.
    pub(super) fn new(inner: Rc<dyn Device>, runtime: Runtime) -> Rc<Self> {
        Rc::new(Self {
            inner,
            runtime,
            waiting: RefCell::default(),
            running: Cell::new(0),
            alone: Cell::new(false),
        })
    }

    /// Carries `request` out as decided, in its turn.
    pub(super) fn submit(self: &Rc<Self>, request: Request, decision: FaultDecision) -> Completion {
        let (completer, completion) = completion();
        self.waiting.borrow_mut().push_back(QueuedJob {
            request,
            decision,
            completer,
            submitted: self.runtime.now(),
        });
        self.start_waiting();
        completion
    }

    fn start_waiting(self: &Rc<Self>) {
        while let Some(job) = self.next_to_start() {
            self.running.set(self.running.get() + 1);
            self.start(job);
        }
    }

    fn next_to_start(&self) -> Option<QueuedJob> {
        let mut waiting = self.waiting.borrow_mut();
        let must_be_alone = waiting.front()?.must_be_alone();
        if self.alone.get() || (must_be_alone && self.running.get() > 0) {
            return None;
        }
        self.alone.set(must_be_alone);
        waiting.pop_front()
    }

    /// Ends a job; its outcome is timed from the caller's submission.
    fn end(self: &Rc<Self>, completer: Completer, submitted: Nanos, outcome: Completed) {
        completer.complete(Completed { submitted, ..outcome });
        self.running.set(self.running.get() - 1);
        self.alone.set(false);
        self.start_waiting();
    }

    fn start(self: &Rc<Self>, job: QueuedJob) {
        let QueuedJob { mut request, decision, completer, submitted } = job;
        match decision {
            FaultDecision::Fail { done: false } => {
                let error = injected_failure(self.inner.name(), &request.op);
                self.refuse(request, error, completer, submitted);
            }
            FaultDecision::Full => {
                let error = injected_full(self.inner.name(), &request.op);
                self.refuse(request, error, completer, submitted);
            }
            FaultDecision::FullMidway { moved } => self.fill(request, moved, completer, submitted),
            FaultDecision::Stall(span) => self.stall(span, request, completer, submitted),
            FaultDecision::Lose => self.lose(request, completer, submitted),
            FaultDecision::Misdirect { to } => {
                if let Op::Write { offset, .. } = &mut request.op {
                    *offset = to;
                }
                self.pass(request, completer, submitted, |_| {});
            }
            FaultDecision::Tear(written) => {
                self.mix(request, written, Ok(()), completer, submitted);
            }
            FaultDecision::FlipBits(flips) => self.flip(request, flips, completer, submitted),
            FaultDecision::ShortRead { moved } => {
                let error = self.short(&request.op, moved);
                self.pass(request, completer, submitted, move |outcome| {
                    outcome.result = Err(error);
                });
            }
            FaultDecision::Fail { done: true } => {
                let error = injected_failure(self.inner.name(), &request.op);
                self.pass(request, completer, submitted, move |outcome| {
                    outcome.result = Err(error);
                });
            }
            FaultDecision::Pass => self.pass(request, completer, submitted, |_| {}),
        }
    }

    /// Forwards a request; `change` sees the result before the caller does.
    fn pass(
        self: &Rc<Self>,
        request: Request,
        completer: Completer,
        submitted: Nanos,
        change: impl FnOnce(&mut Completed) + 'static,
    ) {
        let queue = Rc::clone(self);
        let passed_on = self.inner.submit(request).on_complete(move |outcome| {
            change(outcome);
            queue.end(completer, submitted, take(outcome));
        });
        drop(passed_on);
    }

    fn refuse(
        self: &Rc<Self>,
        request: Request,
        error: DeviceError,
        completer: Completer,
        submitted: Nanos,
    ) {
        let outcome = Completed {
            buffer: request.op.into_buffer(),
            result: Err(error),
            submitted,
            completed: self.runtime.now(),
        };
        self.end(completer, submitted, outcome);
    }

    /// Writes only the first bytes, and fails for lack of space.
    fn fill(
        self: &Rc<Self>,
        request: Request,
        moved: usize,
        completer: Completer,
        submitted: Nanos,
    ) {
        let error = injected_full(self.inner.name(), &request.op);
        if moved == 0 {
            return self.refuse(request, error, completer, submitted);
        }
        let sectors = request.op.length() / SECTOR;
        let written = (0..sectors).map(|sector| sector * SECTOR < moved).collect();
        self.mix(request, written, Err(error), completer, submitted);
    }

    fn stall(
        self: &Rc<Self>,
        span: Nanos,
        request: Request,
        completer: Completer,
        submitted: Nanos,
    ) {
        let queue = Rc::clone(self);
        drop(self.runtime.spawn(async move {
            queue.runtime.sleep(span).await;
            queue.pass(request, completer, submitted, |_| {});
        }));
    }

    /// Spends a write's time on a read instead, and returns the caller's buffer unwritten.
    fn lose(self: &Rc<Self>, request: Request, completer: Completer, submitted: Nanos) {
        let Op::Write { offset, buffer, .. } = request.op else {
            unreachable!("only writes are lost");
        };
        let read = Request::read(request.purpose, offset, buffer.len());
        self.pass(read, completer, submitted, move |outcome| {
            outcome.buffer = Some(buffer);
        });
    }

    /// Reads the present content and writes it back with only some sectors new. If that succeeds,
    /// the caller gets the given result.
    fn mix(
        self: &Rc<Self>,
        request: Request,
        written: Vec<bool>,
        told: Result<(), DeviceError>,
        completer: Completer,
        submitted: Nanos,
    ) {
        let (inner, queue) = (Rc::clone(&self.inner), Rc::clone(self));
        let purpose: Purpose = request.purpose;
        let Op::Write { offset, buffer, durability } = request.op else {
            unreachable!("only writes are torn");
        };
        drop(self.runtime.spawn(async move {
            let mut outcome = inner.submit(Request::read(purpose, offset, buffer.len())).await;
            if let (Ok(()), Some(mut mixed)) = (&outcome.result, outcome.buffer.take()) {
                let new = mixed.chunks_mut(SECTOR).zip(buffer.chunks(SECTOR)).zip(written);
                for ((old, new), _) in new.filter(|(_, written)| *written) {
                    old.copy_from_slice(new);
                }
                let write = Request::write(purpose, offset, mixed, durability);
                outcome = inner.submit(write).await;
            }
            outcome.buffer = Some(buffer);
            outcome.result = outcome.result.and(told);
            queue.end(completer, submitted, outcome);
        }));
    }

    /// Flips bits: in the result of a read, or in the bytes that a write stores. The caller of a
    /// write gets its own bytes back.
    fn flip(
        self: &Rc<Self>,
        mut request: Request,
        flips: Vec<(usize, u8)>,
        completer: Completer,
        submitted: Nanos,
    ) {
        if let Op::Write { buffer, .. } = &mut request.op {
            flip_bits(buffer, &flips);
        }
        self.pass(request, completer, submitted, move |outcome| {
            if let Some(buffer) = &mut outcome.buffer {
                flip_bits(buffer, &flips);
            }
        });
    }

    fn short(&self, op: &Op, moved: usize) -> DeviceError {
        let Op::Read { offset, buffer } = op else {
            unreachable!("only reads are cut short");
        };
        DeviceError::Short {
            file: self.inner.name().to_owned(),
            offset: *offset,
            wanted: buffer.len(),
            moved,
        }
    }
}

fn flip_bits(bytes: &mut [u8], flips: &[(usize, u8)]) {
    for &(at, bit) in flips {
        bytes[at] ^= bit;
    }
}

impl QueuedJob {
    /// Whether the job touches bytes outside its caller's request, or takes several steps.
    const fn must_be_alone(&self) -> bool {
        matches!(
            self.decision,
            FaultDecision::Misdirect { .. }
                | FaultDecision::Tear(_)
                | FaultDecision::FullMidway { .. }
        )
    }
}
