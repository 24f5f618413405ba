//! Requests that threads of others carry out, as those of a network connection: they end on the
//! thread that asked.

use crate::{Buffer, Completer, DeviceError};

/// How such a request ended.
#[derive(Debug)]
pub struct RemoteOutcome {
    /// The request's buffer; none for a flush.
    pub buffer: Option<Buffer>,
    /// Whether it succeeded.
    pub result: Result<(), DeviceError>,
}

/// Ends one request, from whichever thread. To be called once, or its task waits for ever.
pub type RemoteEnd = Box<dyn FnOnce(RemoteOutcome) + Send>;

/// The reactor's service for devices of other crates.
pub trait Remote {
    /// Begins a request now: it completes as the reactor next turns after its end was called.
    fn begin(&self, completer: Completer) -> RemoteEnd;
}
