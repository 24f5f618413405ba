//! The fallback if `io_uring` is refused: a thread per request in flight, up to a maximum.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use device::{Clock, Completed, Completer, DeviceError, Durability, Lookout, Op, Reactor};
use units::Nanos;

use super::file::OpenFile;
use super::{Host, Readiness, sys};
use crate::OsClock;
use crate::helpers::Helpers;
use crate::transfer::{Progress, progress};

/// Requests beyond this number wait for a thread. Disks gain little beyond 32 in flight.
const MOST_THREADS: usize = 64;

/// Waits longer than a day are cut short: the executor waits again.
const LONGEST_WAIT: Nanos = Nanos::from_secs(86_400);

/// Requests as blocking calls on threads.
pub(super) struct PoolHost {
    clock: OsClock,
    helpers: Helpers,
}

impl PoolHost {
    /// No threads until there are requests.
    pub(super) fn new() -> Self {
        Self { clock: OsClock::new(), helpers: Helpers::new(MOST_THREADS, None) }
    }
}

impl Reactor for PoolHost {
    fn clock(&self) -> Rc<dyn Clock> {
        Rc::new(self.clock)
    }

    fn turn(&self, until: Option<Nanos>) -> bool {
        if self.helpers.deliver() {
            return true;
        }
        if until == Some(Nanos::MAX) && !self.helpers.busy() {
            return false;
        }
        if let Some(until) = until {
            let wait = until.since(self.clock.now()).min(LONGEST_WAIT);
            self.helpers.wait(Duration::from_nanos(wait.0));
            self.helpers.deliver();
        }
        true
    }
}

impl Host for PoolHost {
    fn reactor(self: Rc<Self>) -> Rc<dyn Reactor> {
        self
    }

    fn start(&self, handle: &Rc<OpenFile>, op: Op, completer: Completer) {
        block(&self.helpers, handle, op, completer, self.clock.now());
    }

    /// Waits on a separate thread: a socket may stay silent for longer than requests can wait for
    /// helpers. If none can be started, the caller tries again at once.
    fn watch(&self, socket: &Arc<OwnedFd>, readiness: Readiness, then: Box<dyn FnOnce()>) {
        let end = Arc::new(Mutex::new(Some(
            Box::new(self.helpers.expect(move |()| then())) as Box<dyn FnOnce(()) + Send>
        )));
        let call = move |end: &Mutex<Option<_>>| {
            let end = end.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(end) = end {
                let end: Box<dyn FnOnce(()) + Send> = end;
                end(());
            }
        };
        let (socket, twin) = (Arc::clone(socket), Arc::clone(&end));
        let waiting = move || {
            sys::wait_for(&socket, readiness.events());
            call(&twin);
        };
        if std::thread::Builder::new().name("socket".to_owned()).spawn(waiting).is_err() {
            call(&end);
        }
    }

    fn look_at(&self, _: Weak<dyn Lookout>) -> bool {
        false
    }

    fn helpers(&self) -> &Helpers {
        &self.helpers
    }
}

/// Runs a request as a blocking call on one of `helpers`.
pub(super) fn block(
    helpers: &Helpers,
    handle: &Rc<OpenFile>,
    mut op: Op,
    completer: Completer,
    submitted: Nanos,
) {
    let (file, handle) = (Arc::clone(&handle.file), Rc::clone(handle));
    helpers.run(
        move || {
            let result = perform(&file, &mut op);
            (op, result)
        },
        move |(op, result)| {
            completer.complete(Completed {
                result: result.map_err(|failure| failure.on(&handle, &op)),
                buffer: op.into_buffer(),
                submitted,
                completed: OsClock::new().now(),
            });
        },
    );
}

/// Runs a request as a blocking call on this thread.
pub(super) fn call(handle: &OpenFile, mut op: Op, clock: OsClock) -> Completed {
    let submitted = clock.now();
    let result = perform(&handle.file, &mut op).map_err(|failure| failure.on(handle, &op));
    Completed { buffer: op.into_buffer(), result, submitted, completed: clock.now() }
}

/// How a transfer failed, before its file is known.
enum PoolFailure {
    Short(usize),
    System(io::Error),
}

impl PoolFailure {
    fn on(self, file: &OpenFile, op: &Op) -> DeviceError {
        let (operation, offset) = match op {
            Op::Read { offset, .. } => ("read", *offset),
            Op::Write { offset, .. } => ("write", *offset),
            Op::Flush | Op::SetLength { .. } => ("flush", 0),
        };
        match self {
            Self::Short(moved) => file.short(offset, op.length(), moved),
            Self::System(error) => file.error(error.raw_os_error().unwrap_or(0), operation, offset),
        }
    }
}

fn perform(file: &File, op: &mut Op) -> Result<(), PoolFailure> {
    match op {
        Op::Read { offset, buffer } => transfer(buffer.len(), |moved| {
            file.read_at(&mut buffer[moved..], *offset + moved as u64)
        }),
        Op::Write { offset, buffer, durability } => {
            transfer(buffer.len(), |moved| {
                file.write_at(&buffer[moved..], *offset + moved as u64)
            })?;
            match durability {
                Durability::Durable => file.sync_data().map_err(PoolFailure::System),
                Durability::Volatile => Ok(()),
            }
        }
        Op::Flush => file.sync_data().map_err(PoolFailure::System),
        Op::SetLength { .. } => unreachable!("a change of length goes to the helpers itself"),
    }
}

/// Repeats `step`, which moves bytes from `moved` on, until `wanted` bytes have been moved.
fn transfer(
    wanted: usize,
    mut step: impl FnMut(usize) -> io::Result<usize>,
) -> Result<(), PoolFailure> {
    let mut moved = 0;
    loop {
        let last = match step(moved) {
            Ok(last) => last,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(PoolFailure::System(error)),
        };
        moved += last;
        match progress(wanted, moved, last) {
            Progress::Whole => return Ok(()),
            Progress::Again => {}
            Progress::End => return Err(PoolFailure::Short(moved)),
        }
    }
}
