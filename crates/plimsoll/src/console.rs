//! The only place that prints: answers to the standard output, everything else to the error
//! output, so that answers can be piped.

use std::fmt;
use std::io::{self, BufWriter, Write as _};

use crate::error::{CommandError, output_error};

/// Where a command's words go.
pub struct Console {
    out: BufWriter<io::Stdout>,
    quiet: bool,
}

impl Console {
    /// A console that, where `quiet`, keeps everything but answers and errors to itself.
    pub fn new(quiet: bool) -> Self {
        Self {
            out: BufWriter::new(io::stdout()),
            quiet,
        }
    }

    /// Whether only answers and errors are wanted.
    pub const fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// A line of the answer.
    pub fn answer(&mut self, line: impl fmt::Display) -> Result<(), CommandError> {
        writeln!(self.out, "{line}").map_err(|error| output_error(&error))
    }

    /// Bytes of the answer as they are.
    pub fn answer_bytes(&mut self, bytes: &[u8]) -> Result<(), CommandError> {
        self.out
            .write_all(bytes)
            .map_err(|error| output_error(&error))
    }

    /// An answer for programs.
    pub fn answer_json(&mut self, value: &serde_json::Value) -> Result<(), CommandError> {
        self.answer(value)
    }

    /// Something worth knowing that is no answer; not said where the user wants quiet.
    pub fn remark(&mut self, line: impl fmt::Display) -> Result<(), CommandError> {
        if self.quiet {
            return Ok(());
        }
        self.flush()?;
        say(&line);
        Ok(())
    }

    /// Hands everything to the reader.
    pub fn flush(&mut self) -> Result<(), CommandError> {
        self.out.flush().map_err(|error| output_error(&error))
    }
}

/// An error, on the error output.
pub fn complain(sentence: &str) {
    say(&format_args!("plimsoll: {sentence}"));
}

/// A line on the error output. Where even that has gone, the line is lost.
pub fn say(line: &dyn fmt::Display) {
    let _ = writeln!(io::stderr(), "{line}");
}
