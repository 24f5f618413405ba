//! Why an export cannot be used, in words an operator can act on.

use std::fmt;
use std::io;

/// Why an export was not opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum NbdError {
    /// The server cannot be reached, or closed the connection.
    Connection {
        /// The export, as named by the caller.
        name: String,
        /// The system's error.
        error: io::Error,
    },
    /// The peer does not speak NBD, or only a form of it from before 2013.
    NotNbd {
        /// The export, as named by the caller.
        name: String,
    },
    /// The server refuses; its reason.
    Refused {
        /// The export, as named by the caller.
        name: String,
        /// The reason and the remedy.
        why: &'static str,
    },
    /// The export does not accept writes.
    ReadOnly {
        /// The export, as named by the caller.
        name: String,
    },
    /// The export has no way to make writes durable.
    NoFlush {
        /// The export, as named by the caller.
        name: String,
    },
}

impl NbdError {
    pub(super) fn broken(name: &str, error: io::Error) -> Self {
        Self::Connection { name: name.to_owned(), error }
    }
}

impl fmt::Display for NbdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection { name, error } if is_silence(error) => write!(
                f,
                "{name}: the server does not answer; look whether it hangs, or serves one client \
                 at a time (`qemu-nbd` without `--shared`) and has one already"
            ),
            Self::Connection { name, error } if error.kind() == io::ErrorKind::UnexpectedEof => {
                write!(
                    f,
                    "{name}: the server closes the connection before it is agreed on; look at its \
                     log, and whether it allows this client"
                )
            }
            Self::Connection { name, error } => write!(
                f,
                "{name}: no connection: {error}; check address and port, and that the server runs"
            ),
            Self::NotNbd { name } => write!(
                f,
                "{name}: what answers there is no NBD server of the fixed newstyle; check the port"
            ),
            Self::Refused { name, why } => write!(f, "{name}: the server refuses: {why}"),
            Self::ReadOnly { name } => write!(
                f,
                "{name}: the export takes no writes; have the server offer it for writing, or name \
                 another one"
            ),
            Self::NoFlush { name } => write!(
                f,
                "{name}: the export offers no flush, so that nothing on it can be made to survive \
                 a power failure and no result would mean anything; have the server offer flush"
            ),
        }
    }
}

/// Whether the error is a timeout, for which both kinds are used.
fn is_silence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

impl std::error::Error for NbdError {}
