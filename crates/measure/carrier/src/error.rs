//! Errors between this program and the server.

use std::fmt;

/// A message, a journal or a lease could not be carried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CarrierError {
    /// The address or a file of the credentials cannot be used.
    Access {
        /// Reason and remedy, in one sentence.
        why: String,
    },
    /// No connection to the server.
    Unreachable {
        /// Its address.
        server: String,
        /// The client's error.
        why: String,
    },
    /// The server answered with an error.
    Refused {
        /// The request.
        what: &'static str,
        /// The server's message.
        why: String,
    },
    /// No answer came in time.
    Silence {
        /// Seconds waited, as text to keep errors comparable.
        seconds: String,
    },
    /// Another controller holds the lease.
    Held {
        /// That controller's description of itself.
        by: String,
    },
    /// The lease was lost, so that another controller may hold it.
    LeaseLost,
    /// The runtime of the client could not be started.
    Runtime {
        /// The system's error.
        why: String,
    },
}

impl CarrierError {
    pub(crate) fn refused(what: &'static str, error: &dyn fmt::Display) -> Self {
        Self::Refused { what, why: error.to_string() }
    }
}

impl fmt::Display for CarrierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Access { why } => f.write_str(why),
            Self::Unreachable { server, why } => write!(
                f,
                "cannot reach the NATS server at {server}: {why}; check that it runs \
                 (`plimsoll fleet up`), the address and the credentials"
            ),
            Self::Refused { what, why } => write!(f, "the NATS server refused to {what}: {why}"),
            Self::Silence { seconds } => write!(f, "no answer came within {seconds} s"),
            Self::Held { by } => write!(
                f,
                "another controller holds this fleet: {by}; wait for its end, or stop it with \
                 `plimsoll fleet stop`"
            ),
            Self::LeaseLost => {
                f.write_str("the lease of this controller ran out; another may hold the fleet")
            }
            Self::Runtime { why } => write!(f, "cannot start the threads of the client: {why}"),
        }
    }
}

impl std::error::Error for CarrierError {}
