//! The error of a command that cannot do its work: one sentence that names the object at fault and
//! the remedy.

use std::io;
use std::path::Path;

use host::HostError;
use plan::PlanError;

/// Exit status of a command that could not work with its input.
pub const BAD_INPUT: u8 = 2;

/// Exit status of a command that was called wrongly: `EX_USAGE` of sysexits(3).
pub const WRONG_USAGE: u8 = 64;

/// Why a command ended without an answer.
#[derive(Debug)]
pub enum CommandError {
    /// Printed unchanged.
    Sentence(String),
    /// The command line was wrong.
    Usage(String),
    /// A file is at fault and not the request: the command fails.
    Damage(String),
    /// A simulated design is at fault: other designs of a sweep are still simulated.
    Design(String),
    /// The reader of the output exited, as `head` does; not an error.
    BrokenPipe,
}

impl CommandError {
    /// An error with this text.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self::Sentence(sentence.into())
    }

    /// Creates a usage error, the caller's fault, with this text.
    pub fn usage(sentence: impl Into<String>) -> Self {
        Self::Usage(sentence.into())
    }

    /// Returns the message and exit status; `None` if the reader closed the pipe.
    pub fn told(&self) -> Option<(&str, u8)> {
        match self {
            Self::Sentence(sentence) | Self::Design(sentence) => Some((sentence, BAD_INPUT)),
            Self::Usage(sentence) => Some((sentence, WRONG_USAGE)),
            Self::Damage(sentence) => Some((sentence, 1)),
            Self::BrokenPipe => None,
        }
    }

    /// Returns [`Self::file`] as a function of the error, for operations that fail in several ways.
    pub fn of_file(path: &Path, doing: &str) -> impl Fn(io::Error) -> Self + Copy {
        move |error| Self::file(path, doing, &error)
    }

    /// Describes a failed standard library operation on `path`, with the remedy if there is one.
    pub fn file(path: &Path, doing: &str, error: &io::Error) -> Self {
        HostError::file(path, doing, error).into()
    }
}

/// Errors of the product's crates are already sentences that name the cause and the remedy.
impl<E: std::error::Error + 'static> From<E> for CommandError {
    fn from(error: E) -> Self {
        let kind = &error as &dyn std::error::Error;
        if let Some(of_plan) = kind.downcast_ref::<PlanError>() {
            return HostError::from(of_plan.clone()).into();
        }
        match kind.downcast_ref::<HostError>() {
            Some(HostError::Damage(sentence)) => Self::Damage(sentence.clone()),
            Some(HostError::Usage(sentence)) => Self::Usage(sentence.clone()),
            Some(HostError::Design(sentence)) => Self::Design(sentence.clone()),
            _ => Self::new(error.to_string()),
        }
    }
}

/// Converts a failed write to standard output; a closed pipe is no failure.
pub(crate) fn output_error(error: &io::Error) -> CommandError {
    match error.kind() {
        io::ErrorKind::BrokenPipe => CommandError::BrokenPipe,
        _ => CommandError::new(format!("cannot write the output: {error}; check where it goes")),
    }
}
