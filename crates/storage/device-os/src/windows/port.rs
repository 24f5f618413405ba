//! One completion port per executor thread.
//!
//! Completions are drained until the port is empty and timestamped once per drain. A request owns
//! its buffer, and the host owns the request, until the kernel is done with it: dropping the host
//! waits for that.
#![expect(unsafe_code, reason = "hands buffers to the kernel; each block has its argument")]

use std::cell::{Cell, RefCell};
use std::io;
use std::os::windows::io::AsRawHandle as _;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use device::{Clock, Completed, Completer, DeviceError, Durability, Op, Reactor};
use units::Nanos;
use windows_sys::Win32::Foundation::ERROR_HANDLE_EOF;
use windows_sys::Win32::Storage::FileSystem::{ReadFile, WriteFile};
use windows_sys::Win32::System::IO::OVERLAPPED;

use super::Host;
use super::file::OpenFile;
use super::sys::{self, Entries, Port};
use crate::OsClock;
use crate::helpers::Helpers;
use crate::transfer::{Progress, progress};

/// Maximum number of concurrent calls without an asynchronous form: most are flushes, of all
/// databases of the thread.
const HELPER_THREADS: usize = 64;

/// Longest wait while a helper works, in case the system does not deliver its wake-up.
const LONGEST_WAIT_FOR_HELPERS: Duration = Duration::from_millis(100);

/// Waits longer than a day are cut short: the executor waits again.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// Longest transfer of one call.
const LONGEST_TRANSFER: usize = 1 << 30;

/// Requests through one port.
pub(super) struct PortHost {
    clock: OsClock,
    port: Arc<Port>,
    slots: RefCell<Slots>,
    entries: Cell<Option<Entries>>,
    helpers: Helpers,
}

/// The kernel's handle for a request. It stays in place until the port is closed.
#[repr(C)]
struct Envelope {
    overlapped: OVERLAPPED,
    slot: usize,
}

/// A request that the kernel works on.
struct PortRequest {
    op: Op,
    moved: usize,
    file: Rc<OpenFile>,
    completer: Completer,
    submitted: Nanos,
}

/// Requests, each beside its envelope.
#[derive(Default)]
struct Slots {
    slots: Vec<(*mut Envelope, Option<PortRequest>)>,
    free: Vec<usize>,
    in_flight: usize,
}

impl Slots {
    fn insert(&mut self, request: PortRequest) -> usize {
        let slot = self.free.pop().unwrap_or_else(|| {
            let slot = self.slots.len();
            let envelope = Envelope { overlapped: sys::overlapped_at(0), slot };
            self.slots.push((Box::into_raw(Box::new(envelope)), None));
            slot
        });
        self.slots[slot].1 = Some(request);
        self.in_flight += 1;
        slot
    }

    fn get(&mut self, slot: usize) -> (*mut Envelope, &mut PortRequest) {
        let (envelope, request) = &mut self.slots[slot];
        (*envelope, request.as_mut().expect("invariant: the request is in flight"))
    }

    /// Takes a request out. Its slot is reused only if the kernel is `done_with` the envelope: the
    /// port might deliver the envelope after the system has refused the request.
    fn remove(&mut self, slot: usize, done_with: bool) -> PortRequest {
        if done_with {
            self.free.push(slot);
        }
        self.in_flight -= 1;
        let request = self.slots[slot].1.take();
        request.expect("invariant: a request ends once")
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        assert!(self.in_flight == 0, "the kernel has given every envelope back");
        for (envelope, _) in self.slots.drain(..) {
            // SAFETY: made by `Box::into_raw`, and no request is in flight.
            drop(unsafe { Box::from_raw(envelope) });
        }
    }
}

impl PortHost {
    /// Sets a port up.
    pub(super) fn new() -> io::Result<Self> {
        sys::sharpen_timers();
        let port = Arc::new(Port::new()?);
        let bell = Arc::clone(&port);
        // A lost wake-up only causes a delay: the wait for helpers is short.
        let ring_bell = move || drop(bell.wake());
        Ok(Self {
            clock: OsClock::new(),
            port,
            slots: RefCell::default(),
            entries: Cell::new(Some(Entries::new())),
            helpers: Helpers::new(HELPER_THREADS, Some(Box::new(ring_bell))),
        })
    }

    /// Starts the rest of the request in `slot`, or ends it with the system's refusal.
    fn issue(&self, slot: usize) {
        let started = {
            let mut slots = self.slots.borrow_mut();
            let (envelope, request) = slots.get(slot);
            request.start(envelope)
        };
        if let Err(error) = started {
            let request = self.slots.borrow_mut().remove(slot, false);
            let result = request.refused(&error);
            self.end(request, result, self.clock.now());
        }
    }

    fn end(&self, request: PortRequest, result: Result<(), DeviceError>, now: Nanos) {
        if result.is_ok() && request.must_flush() {
            return self.flush(request);
        }
        request.completer.complete(Completed {
            buffer: request.op.into_buffer(),
            result,
            submitted: request.submitted,
            completed: now,
        });
    }

    /// Flushes the file and only then ends `request`, which promises that its bytes are durable.
    fn flush(&self, request: PortRequest) {
        let (file, clock) = (Arc::clone(&request.file.file), self.clock);
        self.helpers.run(
            move || file.sync_all(),
            move |result| {
                let PortRequest { op, file, completer, submitted, .. } = request;
                completer.complete(Completed {
                    buffer: op.into_buffer(),
                    result: result.map_err(|error| file.error(&error, "flush", 0)),
                    submitted,
                    completed: clock.now(),
                });
            },
        );
    }

    /// Takes every completion off the port, and waits for the first one up to `limit`; `true` if
    /// there were any.
    fn drain(&self, mut limit: Option<Duration>) -> bool {
        let mut entries = self.entries.take().unwrap_or_else(Entries::new);
        let mut any = false;
        loop {
            let taken = self.port.take(&mut entries, limit);
            // This structure owns the port, so only a bug in this program can cause a failure.
            taken.unwrap_or_else(|error| panic!("completion port: {error}"));
            let now = self.clock.now();
            for overlapped in entries.taken().filter(|overlapped| !overlapped.is_null()) {
                any |= self.finish(overlapped.cast(), now);
            }
            if !entries.is_full() {
                break;
            }
            limit = Some(Duration::ZERO);
        }
        self.entries.set(Some(entries));
        any
    }

    /// Processes the kernel's answer to a call; returns whether a request was waiting for it.
    fn finish(&self, envelope: *mut Envelope, now: Nanos) -> bool {
        let (slot, verdict) = {
            let mut slots = self.slots.borrow_mut();
            // SAFETY: the port gives out only envelopes of `slots`, which live as long as it.
            let slot = unsafe { (*envelope).slot };
            if slots.slots[slot].1.is_none() {
                return false; // It was refused when it was started, and ended then.
            }
            let (envelope, request) = slots.get(slot);
            // SAFETY: the envelope is that of this request, and the port returned it as completed.
            let result = unsafe { sys::result_of(&request.file.file, envelope.cast()) };
            (slot, request.judge(result))
        };
        match verdict {
            None => self.issue(slot),
            Some(result) => {
                let request = self.slots.borrow_mut().remove(slot, true);
                self.end(request, result, now);
            }
        }
        true
    }

    /// Time to wait for a completion: whole milliseconds; the rest of the last one is polled away,
    /// since a timer that fires late distorts the measurement.
    fn wait(&self, until: Nanos) -> Option<Duration> {
        let limit = match until {
            Nanos::MAX => None,
            until => Some(Duration::from_nanos(until.since(self.clock.now()).0).min(LONGEST_WAIT)),
        };
        if self.helpers.busy() {
            return Some(limit.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT_FOR_HELPERS));
        }
        limit
    }
}

impl PortRequest {
    /// Submits the rest of the transfer to the kernel. Nothing else touches buffer and envelope
    /// before the completion.
    fn start(&mut self, envelope: *mut Envelope) -> io::Result<()> {
        let (handle, moved) = (self.file.file.as_raw_handle(), self.moved);
        let overlapped = envelope.cast::<OVERLAPPED>();
        match &mut self.op {
            Op::Read { offset, buffer } => {
                let rest = &mut buffer[moved..];
                let (bytes, length) = (rest.as_mut_ptr(), transfer_length(rest.len()));
                // SAFETY: the envelope is live and not in flight. The buffer is on the heap, so it
                // does not move with this structure, which lives until the completion.
                sys::started(unsafe {
                    overlapped.write(sys::overlapped_at(*offset + moved as u64));
                    ReadFile(handle, bytes, length, ptr::null_mut(), overlapped)
                })
            }
            Op::Write { offset, buffer, .. } => {
                let rest = &buffer[moved..];
                let (bytes, length) = (rest.as_ptr(), transfer_length(rest.len()));
                // SAFETY: as above.
                sys::started(unsafe {
                    overlapped.write(sys::overlapped_at(*offset + moved as u64));
                    WriteFile(handle, bytes, length, ptr::null_mut(), overlapped)
                })
            }
            Op::Flush | Op::SetLength { .. } => unreachable!("these go to the helpers"),
        }
    }

    /// Whether the bytes, all moved, are durable only after a flush.
    const fn must_flush(&self) -> bool {
        matches!(self.op, Op::Flush | Op::Write { durability: Durability::Durable, .. })
    }

    fn place(&self) -> (&'static str, u64) {
        match self.op {
            Op::Read { offset, .. } => ("read", offset),
            Op::Write { offset, .. } => ("write", offset),
            Op::Flush | Op::SetLength { .. } => ("flush", 0),
        }
    }

    /// Interprets the kernel's result of the last call; `None` if another call must follow.
    fn judge(&mut self, result: io::Result<usize>) -> Option<Result<(), DeviceError>> {
        let last = match result {
            Ok(last) => last,
            Err(error) => return Some(self.refused(&error)),
        };
        self.moved += last;
        match progress(self.op.length(), self.moved, last) {
            Progress::Whole => Some(Ok(())),
            Progress::Again => None,
            Progress::End => Some(self.short()),
        }
    }

    fn refused(&self, error: &io::Error) -> Result<(), DeviceError> {
        if error.raw_os_error() == Some(ERROR_HANDLE_EOF.cast_signed()) {
            return self.short();
        }
        let (operation, offset) = self.place();
        Err(self.file.error(error, operation, offset))
    }

    fn short(&self) -> Result<(), DeviceError> {
        Err(self.file.short(self.place().1, self.op.length(), self.moved))
    }
}

/// The longest transfer of one call.
fn transfer_length(left: usize) -> u32 {
    u32::try_from(left.min(LONGEST_TRANSFER)).expect("invariant: below 4 GiB")
}

impl Reactor for PortHost {
    fn clock(&self) -> Rc<dyn Clock> {
        Rc::new(self.clock)
    }

    fn turn(&self, until: Option<Nanos>) -> bool {
        let delivered = self.drain(Some(Duration::ZERO)) | self.helpers.deliver();
        let in_flight = self.slots.borrow().in_flight > 0 || self.helpers.busy();
        if !delivered && !in_flight && until == Some(Nanos::MAX) {
            return false;
        }
        if let Some(until) = until.filter(|_| !delivered) {
            self.drain(self.wait(until));
            self.helpers.deliver();
        }
        true
    }
}

impl Host for PortHost {
    fn reactor(self: Rc<Self>) -> Rc<dyn Reactor> {
        self
    }

    fn attach(&self, file: &OpenFile) -> io::Result<()> {
        self.port.attach(&file.file)
    }

    fn start(&self, file: &Rc<OpenFile>, op: Op, completer: Completer) {
        let request = PortRequest {
            op,
            moved: 0,
            file: Rc::clone(file),
            completer,
            submitted: self.clock.now(),
        };
        if matches!(request.op, Op::Flush) {
            return self.flush(request);
        }
        let slot = self.slots.borrow_mut().insert(request);
        self.issue(slot);
    }

    fn helpers(&self) -> &Helpers {
        &self.helpers
    }
}

impl Drop for PortHost {
    /// The kernel writes into buffers that this structure owns, so the requests must complete
    /// first.
    fn drop(&mut self) {
        while self.slots.borrow().in_flight > 0 {
            self.drain(None);
        }
    }
}
