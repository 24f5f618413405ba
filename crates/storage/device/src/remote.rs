//! Requests carried out by threads of other crates, such as those of a network connection. They
//! complete on the thread that made them.

use crate::{Buffer, Completer, DeviceError};

/// Outcome of a remote request.
#[derive(Debug)]
pub struct RemoteOutcome {
    /// The request's buffer; `None` for a flush.
    pub buffer: Option<Buffer>,
    /// Whether it succeeded.
    pub result: Result<(), DeviceError>,
}

/// Ends one request, from any thread. Must be called once, or its task waits forever.
pub type RemoteEnd = Box<dyn FnOnce(RemoteOutcome) + Send>;

/// The reactor's service for devices of other crates.
pub trait Remote {
    /// Begins a request now; it completes in the reactor's first turn after its [`RemoteEnd`] was
    /// called.
    fn begin(&self, completer: Completer) -> RemoteEnd;
}
