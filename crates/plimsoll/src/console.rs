//! The only place that prints: answers to the standard output, everything else to the error
//! output, so that answers can be piped. Names and texts come from plans and files of others, so
//! whatever would steer a terminal is shown and not done.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};

use crate::error::{CommandError, output_error};

/// Where a command's words go.
pub(crate) struct Console {
    out: BufWriter<io::Stdout>,
    quiet: bool,
}

impl Console {
    /// A console that, where `quiet`, keeps everything but answers and errors to itself.
    pub(crate) fn new(quiet: bool) -> Self {
        Self {
            out: BufWriter::new(io::stdout()),
            quiet,
        }
    }

    /// Whether only answers and errors are wanted.
    pub(crate) const fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// A line of the answer.
    pub(crate) fn answer(&mut self, line: impl fmt::Display) -> Result<(), CommandError> {
        let line = line.to_string();
        self.write(&units::plain(&line))?;
        self.write("\n")
    }

    /// Text of the answer, its line feeds included.
    pub(crate) fn answer_text(&mut self, text: &str) -> Result<(), CommandError> {
        self.write(&units::plain(text))
    }

    /// A line of data for other programs, as it is; on a terminal as harmless as any other.
    pub(crate) fn answer_data(&mut self, line: &str) -> Result<(), CommandError> {
        if io::stdout().is_terminal() {
            return self.answer(line);
        }
        self.write(line)?;
        self.write("\n")
    }

    /// An answer for programs.
    pub(crate) fn answer_json(&mut self, value: &serde_json::Value) -> Result<(), CommandError> {
        self.answer_json_line(&value.to_string())
    }

    /// The same, where it is JSON already.
    pub(crate) fn answer_json_line(&mut self, json: &str) -> Result<(), CommandError> {
        self.write(&units::plain_json(json))?;
        self.write("\n")
    }

    fn write(&mut self, text: &str) -> Result<(), CommandError> {
        let written = self.out.write_all(text.as_bytes());
        written.map_err(|error| output_error(&error))
    }

    /// Something worth knowing that is no answer; not said where the user wants quiet.
    pub(crate) fn remark(&mut self, line: impl fmt::Display) -> Result<(), CommandError> {
        if self.quiet {
            return Ok(());
        }
        self.flush()?;
        say(&line);
        Ok(())
    }

    /// Hands everything to the reader.
    pub(crate) fn flush(&mut self) -> Result<(), CommandError> {
        self.out.flush().map_err(|error| output_error(&error))
    }
}

/// An error, on the error output.
pub(crate) fn complain(sentence: &str) {
    say(&format_args!("plimsoll: {sentence}"));
}

/// A line on the error output. Where even that has gone, the line is lost.
pub(crate) fn say(line: &dyn fmt::Display) {
    let line = line.to_string();
    let _ = writeln!(io::stderr(), "{}", units::plain(&line));
}

/// Makes a panic say that it is our fault and what to do with it.
pub(crate) fn explain_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic
            .location()
            .map_or_else(String::new, ToString::to_string);
        let what = panic_text(panic.payload());
        complain(&format!(
            "this is a bug in plimsoll {} ({place}): {what}\n\
             Please report it with this message and what you typed; files that were being written \
             are recovered when they are next opened.",
            env!("CARGO_PKG_VERSION"),
        ));
    }));
}

fn panic_text(payload: &dyn std::any::Any) -> &dyn fmt::Display {
    if let Some(text) = payload.downcast_ref::<&str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        &"no message"
    }
}
