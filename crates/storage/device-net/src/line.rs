//! State shared by the two threads of a connection and its device: the requests in flight, and
//! whether the connection is usable.
//!
//! Once it breaks, every request in flight and every later one fails: the server's progress on them
//! is unknown, and reconnecting would hide that.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use device::{Buffer, DeviceError};

/// A request in progress at the server, with its protocol's state.
pub(crate) struct UnderWay<T> {
    /// The sender holds the lock until the request has been sent.
    pub buffer: Arc<Mutex<Option<Buffer>>>,
    pub task: T,
}

/// A protocol's handling of a failed request.
pub(crate) trait Abandon {
    /// Fails the request with `error` and returns its buffer.
    fn abandon(self, buffer: Option<Buffer>, error: DeviceError);
}

/// See the module.
pub(crate) struct SharedLine<T> {
    name: String,
    under_way: Mutex<HashMap<u64, UnderWay<T>>>,
    /// Why the connection is no longer usable.
    broken: Mutex<Option<String>>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Abandon> SharedLine<T> {
    /// The line of the device `name`.
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), under_way: Mutex::default(), broken: Mutex::default() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Error for every request once the connection is unusable.
    pub(crate) fn error(&self) -> DeviceError {
        let why = lock(&self.broken).clone();
        DeviceError::Disconnected {
            file: self.name.clone(),
            why: why.unwrap_or_else(|| "the connection is closed".to_owned()),
        }
    }

    pub(crate) fn is_broken(&self) -> bool {
        lock(&self.broken).is_some()
    }

    /// Records that the connection is unusable; the first reason is kept.
    pub(crate) fn note(&self, why: String) {
        lock(&self.broken).get_or_insert(why);
    }

    /// Fails every request in flight and every later one.
    pub(crate) fn fail(&self, why: String) {
        self.note(why);
        let under_way = std::mem::take(&mut *lock(&self.under_way));
        for request in under_way.into_values() {
            let buffer = lock(&request.buffer).take();
            request.task.abandon(buffer, self.error());
        }
    }

    pub(crate) fn begin(&self, number: u64, request: UnderWay<T>) {
        lock(&self.under_way).insert(number, request);
    }

    /// Removes and returns the request with this number, which has ended.
    pub(crate) fn take(&self, number: u64) -> Option<UnderWay<T>> {
        lock(&self.under_way).remove(&number)
    }

    /// Accesses or changes the state of a request in flight.
    pub(crate) fn with<R>(
        &self,
        number: u64,
        look: impl FnOnce(&mut UnderWay<T>) -> R,
    ) -> Option<R> {
        lock(&self.under_way).get_mut(&number).map(look)
    }
}

/// Starts both threads of a connection.
pub(crate) fn start_threads(
    protocol: &str,
    send: impl FnOnce() + Send + 'static,
    receive: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    thread::Builder::new().name(format!("{protocol} sender")).spawn(send)?;
    thread::Builder::new().name(format!("{protocol} receiver")).spawn(receive)?;
    Ok(())
}

/// Human-readable reason why a connection ended.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
        _ => format!("the connection broke: {error}"),
    }
}
