//! One completion ring per executor thread.
//!
//! A request is submitted at once if its file has no other in flight: held until the next turn of
//! the reactor, it would wait for the thread's other work while the device is idle. While the
//! device is busy, further requests wait briefly to form a batch: submitting one costs as much as
//! submitting several (decision 058). A request's clock starts when it is submitted.
//!
//! Completions are drained until the ring is empty and timestamped once per drain. A request owns
//! its buffer, and the ring owns the request, until the kernel is done with it: dropping the ring
//! waits for that.
#![expect(unsafe_code, reason = "hands buffers to the kernel; each block has its argument")]

mod attention;
mod in_memory;
mod sockets;

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::thread;

use device::{Clock, Completed, Completer, DeviceError, Durability, Lookout, Op, Reactor};
use io_uring::types::{Fd, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, Probe, opcode, squeue};
use units::Nanos;

use super::file::OpenFile;
use super::lookouts::Lookouts;
use super::{Host, Readiness, pool, sys};
use crate::OsClock;
use crate::helpers::Helpers;
use crate::probe::DurableWrites;
use crate::transfer::{Progress, progress};
use attention::{Attention, ClientWait};
use in_memory::CopiedAtOnce;
use sockets::WatchedSockets;

/// Entries that may wait to be submitted: remainders of short transfers, and requests that the
/// kernel lacked memory for.
const SUBMISSION_ENTRIES: u32 = 256;

/// Completions that may wait to be drained before the kernel has to set some aside.
const COMPLETION_ENTRIES: u32 = 4_096;

/// Maximum number of requests held to form a batch. With more, a fast device would idle while the
/// kernel prepares the last of them: with 32 in flight an unlimited batch cost a tenth of the
/// reads.
const MOST_TOGETHER: usize = 8;

/// Maximum number of concurrent metadata calls. They are rare and short.
const HELPER_THREADS: usize = 4;

/// Marks the completion of the poll on the helpers' bell.
const BELL: u64 = u64::MAX;

/// Marks the completions of watched sockets, beside the number of the watch.
const WATCH: u64 = 1 << 62;

/// `RWF_DSYNC` of linux/fs.h: the write is durable when it completes.
const RWF_DSYNC: i32 = 2;

/// Longest transfer of one call: the kernel's limit rounded down to whole blocks.
const LONGEST_TRANSFER: usize = 1 << 30;

/// Requests through one ring.
pub(super) struct UringHost {
    clock: OsClock,
    ring: RefCell<IoUring>,
    requests: RefCell<RingRequests>,
    finished: RefCell<Vec<(u64, i32)>>,
    /// Slots of requests that have not been submitted to the kernel.
    untold: RefCell<Vec<usize>>,
    sockets: WatchedSockets,
    lookouts: Lookouts,
    /// How long the next wait for a socket polls before it sleeps.
    attention: Cell<Attention>,
    copied: CopiedAtOnce,
    helpers: Helpers,
    bell: File,
    bell_is_watched: Cell<bool>,
}

/// A request that the kernel works on.
struct RingRequest {
    op: Op,
    moved: usize,
    /// All data has been transferred, and the flush that makes it durable is in flight.
    flushes: bool,
    file: Rc<OpenFile>,
    completer: Completer,
    submitted: Nanos,
}

/// Requests, each in the slot whose number the kernel returns with its completion.
#[derive(Default)]
struct RingRequests {
    slots: Vec<Option<RingRequest>>,
    free: Vec<usize>,
}

impl RingRequests {
    fn insert(&mut self, request: RingRequest) -> usize {
        request.file.under_way.set(request.file.under_way.get() + 1);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(request);
        slot
    }

    fn get(&mut self, slot: usize) -> &mut RingRequest {
        let request = self.slots[slot].as_mut();
        request.expect("invariant: the kernel completes only what is in flight")
    }

    fn remove(&mut self, slot: usize) -> RingRequest {
        let request = self.slots[slot].take();
        let request = request.expect("invariant: the kernel completes a request once");
        self.free.push(slot);
        request.file.under_way.set(request.file.under_way.get() - 1);
        request
    }

    const fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl UringHost {
    /// Sets a ring up; an error if the kernel refuses it or lacks a required feature (Linux 5.11).
    pub(super) fn new() -> io::Result<Self> {
        let ring = build_ring()?;
        let bell = sys::event_counter()?;
        let counter = bell.try_clone()?;
        // A full counter refuses the write but still wakes the reactor.
        let ring_bell = Box::new(move || drop((&counter).write(&1_u64.to_le_bytes())));
        Ok(Self {
            clock: OsClock::new(),
            ring: RefCell::new(ring),
            requests: RefCell::default(),
            finished: RefCell::default(),
            untold: RefCell::default(),
            sockets: WatchedSockets::default(),
            lookouts: Lookouts::default(),
            attention: Cell::default(),
            copied: CopiedAtOnce::default(),
            helpers: Helpers::new(HELPER_THREADS, Some(ring_bell)),
            bell,
            bell_is_watched: Cell::new(false),
        })
    }

    /// Queues the call for the rest of the request in `slot`.
    fn queue(&self, slot: usize) {
        let entry = self.requests.borrow_mut().get(slot).entry();
        self.push(&entry.user_data(slot as u64));
    }

    fn push(&self, entry: &squeue::Entry) {
        let mut ring = self.ring.borrow_mut();
        loop {
            // SAFETY: the entry's pointer, if it has one, is into a buffer (see
            // `RingRequest::entry`) that does not move until the kernel completes the entry.
            if unsafe { ring.submission().push(entry) }.is_ok() {
                return;
            }
            // The queue is full; only a kernel short of memory can keep this waiting.
            self.date_untold();
            let _ = ring.submit();
        }
    }

    /// Submits the queued entries. An error here shows again, and is handled, at the next turn.
    fn hand_over(&self) {
        self.date_untold();
        let _ = self.ring.borrow_mut().submit();
    }

    /// Starts the clock of requests as they are submitted.
    fn date_untold(&self) {
        let mut untold = self.untold.borrow_mut();
        if untold.is_empty() {
            return;
        }
        let now = self.clock.now();
        let mut requests = self.requests.borrow_mut();
        for slot in untold.drain(..) {
            requests.get(slot).submitted = now;
        }
    }

    fn watch_bell(&self) {
        if self.helpers.busy() && !self.bell_is_watched.replace(true) {
            let poll = opcode::PollAdd::new(Fd(self.bell.as_raw_fd()), libc::POLLIN as u32);
            self.push(&poll.build().user_data(BELL));
        }
    }

    /// Submits queued entries; waits for a completion if `until` is in the future.
    fn enter(&self, until: Option<Nanos>) {
        self.date_untold();
        let wait = match until {
            _ if self.lookouts.have_news() => Nanos::ZERO,
            None => Nanos::ZERO,
            Some(Nanos::MAX) => Nanos::MAX,
            Some(until) => until.since(self.clock.now()),
        };
        if wait == Nanos::ZERO && self.is_idle() && self.sockets.may_stay_outside() {
            return; // Nothing to submit and nothing to reap.
        }
        for entry in self.sockets.enter_ring() {
            self.push(&entry);
        }
        let waits_for_a_client = wait > Nanos::ZERO && self.requests.borrow().count() == 0;
        if waits_for_a_client && !self.sockets.is_empty() {
            self.wait_for_a_client(wait);
        } else {
            self.sleep(wait);
        }
    }

    /// Submits queued entries and waits, unless a lookout has news.
    fn sleep(&self, wait: Nanos) {
        let has_news = wait > Nanos::ZERO && self.lookouts.before_sleep();
        self.submit(if has_news { Nanos::ZERO } else { wait });
    }

    /// Waits for a socket. If the last waits were short, it polls before it sleeps.
    fn wait_for_a_client(&self, wait: Nanos) {
        let (attention, begun) = (self.attention.get(), self.clock.now());
        let mut looked = match attention.span().min(wait) {
            Nanos::ZERO => ClientWait::default(),
            span => self.look_for_a_client(begun, span),
        };
        if !self.lookouts.have_news() {
            self.sleep(wait);
        }
        looked.waited = self.clock.now().since(begun);
        self.attention.set(attention.after(looked));
    }

    /// Polls for a socket until `span` has passed since `begun`.
    fn look_for_a_client(&self, begun: Nanos, span: Nanos) -> ClientWait {
        self.submit(Nanos::ZERO);
        let (mut looked, mut before) = (ClientWait::default(), self.clock.now());
        while !self.has_news() && before.since(begun) < span {
            // The client may have no other processor.
            thread::yield_now();
            let now = self.clock.now();
            looked.longest_step = looked.longest_step.max(looked.last_step);
            looked.last_step = now.since(before);
            before = now;
        }
        if !self.has_news() {
            looked.longest_step = looked.longest_step.max(looked.last_step);
        }
        looked
    }

    /// Whether the ring has something to reap, or a lookout has news.
    fn has_news(&self) -> bool {
        let mut ring = self.ring.borrow_mut();
        let has_completion = ring.submission().taskrun() || !ring.completion().is_empty();
        has_completion || self.lookouts.have_news()
    }

    /// Whether the ring has nothing to submit and nothing to reap.
    fn is_idle(&self) -> bool {
        let mut ring = self.ring.borrow_mut();
        let queue = ring.submission();
        !queue.taskrun() && !queue.cq_overflow() && queue.is_empty()
    }

    /// Submits queued entries and waits for a completion, for `wait` at most.
    fn submit(&self, wait: Nanos) {
        let ring = self.ring.borrow();
        let submitter = ring.submitter();
        let result = if wait == Nanos::ZERO {
            submitter.submit()
        } else if wait == Nanos::MAX {
            submitter.submit_and_wait(1)
        } else {
            let second = 1_000_000_000;
            let nanoseconds = u32::try_from(wait.0 % second).expect("invariant: below a second");
            let limit = Timespec::new().sec(wait.0 / second).nsec(nanoseconds);
            submitter.submit_with_args(1, &SubmitArgs::new().timespec(&limit))
        };
        let harmless = [libc::ETIME, libc::EINTR, libc::EAGAIN, libc::EBUSY];
        if let Err(error) = result {
            let code = error.raw_os_error().unwrap_or(0);
            // The timeout expired, a signal arrived, or the kernel is out of memory or wants
            // completions drained first: the next turn tries again.
            assert!(harmless.contains(&code), "io_uring_enter: {error}");
        }
    }

    /// Takes every completion off the ring; `true` if there were any.
    fn drain(&self) -> bool {
        let mut finished = self.finished.take();
        {
            let mut ring = self.ring.borrow_mut();
            finished.extend(ring.completion().map(|entry| (entry.user_data(), entry.result())));
        }
        let any = !finished.is_empty();
        if any {
            let now = self.clock.now();
            for (number, result) in finished.drain(..) {
                self.finish(number, result, now);
            }
        }
        self.finished.replace(finished);
        any
    }

    fn finish(&self, number: u64, result: i32, now: Nanos) {
        if number == BELL {
            self.bell_is_watched.set(false);
            // Empties the counter; an empty one does no harm.
            let _ = (&self.bell).read(&mut [0; 8]);
            return;
        }
        if number & WATCH != 0 {
            return self.sockets.fire(number & !WATCH);
        }
        let slot = usize::try_from(number).expect("invariant: numbers are slots");
        if result == -libc::ECANCELED {
            // Nothing here cancels a request, so the kernel did: it may be unable to start a thread
            // for a call that blocks. The storage is not at fault.
            let request = self.requests.borrow_mut().remove(slot);
            let RingRequest { op, file, completer, submitted, .. } = request;
            return pool::block(&self.helpers, &file, op, completer, submitted);
        }
        let verdict = self.requests.borrow_mut().get(slot).judge(result);
        match verdict {
            None => self.queue(slot),
            Some(result) => {
                let request = self.requests.borrow_mut().remove(slot);
                request.completer.complete(Completed {
                    buffer: request.op.into_buffer(),
                    result,
                    submitted: request.submitted,
                    completed: now,
                });
            }
        }
    }
}

fn build_ring() -> io::Result<IoUring> {
    let mut wanted = IoUring::builder();
    // Completions are only reaped when the executor turns, so the kernel need not interrupt it
    // (Linux 6.1); older kernels take the plain ring.
    wanted
        .setup_cqsize(COMPLETION_ENTRIES)
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag();
    let ring = wanted.build(SUBMISSION_ENTRIES).or_else(|_| {
        IoUring::builder().setup_cqsize(COMPLETION_ENTRIES).build(SUBMISSION_ENTRIES)
    })?;
    let mut probe = Probe::new();
    ring.submitter().register_probe(&mut probe)?;
    let needed =
        [opcode::Read::CODE, opcode::Write::CODE, opcode::Fsync::CODE, opcode::PollAdd::CODE];
    let parameters = ring.params();
    if !needed.iter().all(|&code| probe.is_supported(code))
        || !parameters.is_feature_ext_arg()
        || !parameters.is_feature_nodrop()
    {
        return Err(io::Error::from_raw_os_error(libc::ENOSYS));
    }
    Ok(ring)
}

fn flush(descriptor: Fd) -> squeue::Entry {
    opcode::Fsync::new(descriptor).flags(FsyncFlags::DATASYNC).build()
}

/// The longest transfer of one call.
fn transfer_length(left: usize) -> u32 {
    u32::try_from(left.min(LONGEST_TRANSFER)).expect("invariant: below 4 GiB")
}

impl RingRequest {
    /// The call for the rest of the transfer. The pointer in it is into the op's buffer, whose
    /// memory is on the heap: it does not move with this structure, and nothing touches it before
    /// the completion.
    fn entry(&mut self) -> squeue::Entry {
        let descriptor = Fd(self.file.file.as_raw_fd());
        if self.flushes {
            return flush(descriptor);
        }
        let moved = self.moved;
        match &mut self.op {
            Op::Read { offset, buffer } => {
                let rest = &mut buffer[moved..];
                opcode::Read::new(descriptor, rest.as_mut_ptr(), transfer_length(rest.len()))
                    .offset(*offset + moved as u64)
                    .build()
            }
            Op::Write { offset, buffer, durability } => {
                let flags = match durability {
                    Durability::Durable if self.file.durable_writes == DurableWrites::Flag => {
                        RWF_DSYNC
                    }
                    Durability::Durable | Durability::Volatile => 0,
                };
                let rest = &buffer[moved..];
                opcode::Write::new(descriptor, rest.as_ptr(), transfer_length(rest.len()))
                    .offset(*offset + moved as u64)
                    .rw_flags(flags)
                    .build()
            }
            Op::Flush => flush(descriptor),
            Op::SetLength { .. } => unreachable!("a change of length goes to the helpers"),
        }
    }

    /// Whether the write needs a flush to be durable; the flush is then part of the request.
    fn must_flush(&self) -> bool {
        let Op::Write { durability, .. } = self.op else {
            return false;
        };
        durability == Durability::Durable && self.file.durable_writes == DurableWrites::Flush
    }

    /// Interprets the kernel's result of the last call; `None` if another call must follow.
    fn judge(&mut self, result: i32) -> Option<Result<(), DeviceError>> {
        let (operation, offset) = match self.op {
            Op::Read { offset, .. } => ("read", offset),
            Op::Write { offset, .. } if !self.flushes => ("write", offset),
            Op::Write { .. } | Op::Flush | Op::SetLength { .. } => ("flush", 0),
        };
        let Ok(last) = usize::try_from(result) else {
            let again = result == -libc::EINTR || result == -libc::EAGAIN;
            return (!again).then(|| Err(self.file.error(-result, operation, offset)));
        };
        if self.flushes {
            return Some(Ok(()));
        }
        self.moved += last;
        let wanted = self.op.length();
        match progress(wanted, self.moved, last) {
            Progress::Whole if self.must_flush() => {
                self.flushes = true;
                None
            }
            Progress::Whole => Some(Ok(())),
            Progress::Again => None,
            Progress::End => Some(Err(self.file.short(offset, wanted, self.moved))),
        }
    }
}

impl Reactor for UringHost {
    fn clock(&self) -> Rc<dyn Clock> {
        Rc::new(self.clock)
    }

    fn turn(&self, until: Option<Nanos>) -> bool {
        let delivered = self.drain() | self.helpers.deliver() | self.copied.deliver();
        let in_flight =
            self.requests.borrow().count() > 0 || self.helpers.busy() || !self.sockets.is_empty();
        if !delivered && !in_flight && until == Some(Nanos::MAX) {
            return false;
        }
        self.watch_bell();
        self.enter(until.filter(|_| !delivered));
        self.drain();
        self.helpers.deliver();
        true
    }
}

impl Host for UringHost {
    fn reactor(self: Rc<Self>) -> Rc<dyn Reactor> {
        self
    }

    fn start(&self, file: &Rc<OpenFile>, op: Op, completer: Completer) {
        if file.lives_in_memory {
            return self.copied.start(file, op, completer, self.clock);
        }
        let slot = self.requests.borrow_mut().insert(RingRequest {
            op,
            moved: 0,
            flushes: false,
            file: Rc::clone(file),
            completer,
            submitted: Nanos::ZERO,
        });
        self.queue(slot);
        let untold = {
            let mut untold = self.untold.borrow_mut();
            untold.push(slot);
            untold.len()
        };
        if file.under_way.get() == 1 || untold == MOST_TOGETHER {
            self.hand_over();
        }
    }

    fn watch(&self, socket: &Arc<OwnedFd>, readiness: Readiness, then: Box<dyn FnOnce()>) {
        self.sockets.add(socket, readiness, then);
    }

    fn look_at(&self, lookout: Weak<dyn Lookout>) -> bool {
        self.lookouts.add(lookout);
        true
    }

    fn helpers(&self) -> &Helpers {
        &self.helpers
    }
}

impl Drop for UringHost {
    /// The kernel writes into buffers that this structure owns, so the requests must complete
    /// first.
    fn drop(&mut self) {
        while self.requests.borrow().count() > 0 {
            self.enter(Some(Nanos::MAX));
            self.drain();
        }
    }
}

#[cfg(test)]
mod tests;
