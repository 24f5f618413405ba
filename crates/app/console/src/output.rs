//! The only place that prints: answers go to standard output, everything else to standard error, so
//! that answers can be piped. Names and texts may come from untrusted plans and files, so terminal
//! control sequences are shown, not executed.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{CommandError, output_error};
use crate::events;

/// Name of threads whose panics are results that another thread reports, not defects.
pub const TRIAL_THREAD: &str = "trial";

/// Widest report on a terminal: longer lines are hard to follow.
const WIDEST_TEXT: usize = 140;
/// Column at which lines are folded without a terminal.
const COLUMNS: usize = 80;

/// Narrowest width used, whatever the terminal reports: below it nothing is readable.
const FEWEST_COLUMNS: usize = 20;

/// Indent of continuation rows, on top of the line's own.
const HANGING_INDENT: usize = 2;

/// Output of a command.
pub struct Console {
    out: BufWriter<io::Stdout>,
    quiet: bool,
    /// Width of the terminal that shows the answer; `None` without a terminal.
    columns: Option<usize>,
    concluded: Option<Concluded>,
}

/// Result of a measurement, for its notification.
pub struct Concluded {
    /// The folder of the run, or of its set.
    pub folder: PathBuf,
    /// The run's name; empty if it has none.
    pub name: String,
    /// The verdict in a word for programs.
    pub verdict: &'static str,
    /// The verdict as a sentence, for people.
    pub headline: String,
}

impl Console {
    /// Creates a console that prints only answers and errors if `quiet`.
    pub fn new(quiet: bool) -> Self {
        let columns = terminal_columns();
        Self { out: BufWriter::new(io::stdout()), quiet, columns, concluded: None }
    }

    /// Width of the terminal that shows the answer, in columns; `None` without a terminal.
    pub const fn columns(&self) -> Option<usize> {
        self.columns
    }

    /// Whether only answers and errors are wanted.
    pub const fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Records the result of a measurement.
    pub fn conclude(&mut self, concluded: Concluded) {
        self.concluded = Some(concluded);
    }

    /// The result of the measurement, if there was one.
    pub const fn concluded(&self) -> Option<&Concluded> {
        self.concluded.as_ref()
    }

    /// Prints one or more lines of the answer; a narrower terminal breaks them between words.
    pub fn answer(&mut self, line: impl fmt::Display) -> Result<(), CommandError> {
        let lines = line.to_string();
        let Some(columns) = self.columns else {
            return self.answer_whole(&lines);
        };
        for line in lines.split('\n') {
            let begins = line.len() - line.trim_start().len();
            self.answer_within(line, columns, begins + HANGING_INDENT)?;
        }
        Ok(())
    }

    /// Width of reports in columns: the terminal's, or without one the width used in files.
    pub fn text_width(&self) -> usize {
        self.columns.map_or(report::TEXT_WIDTH, |columns| columns.min(WIDEST_TEXT))
    }

    /// Prints a line of the answer, broken between words if it is wider than the terminal, or than
    /// the usual width without one. Continuation lines are indented by `indent` spaces.
    pub fn answer_folded(
        &mut self,
        line: impl fmt::Display,
        indent: usize,
    ) -> Result<(), CommandError> {
        self.answer_within(&line.to_string(), self.columns.unwrap_or(COLUMNS), indent)
    }

    fn answer_within(
        &mut self,
        line: &str,
        columns: usize,
        indent: usize,
    ) -> Result<(), CommandError> {
        let indent = indent.min(columns / 2);
        let (mut rest, mut margin) = (line, "");
        let spaces = " ".repeat(indent);
        loop {
            let (fitting, left) = split(rest, columns - margin.len(), !margin.is_empty());
            self.answer_whole(&format!("{margin}{fitting}"))?;
            if left.is_empty() {
                return Ok(());
            }
            (rest, margin) = (left, &spaces);
        }
    }

    fn answer_whole(&mut self, line: &str) -> Result<(), CommandError> {
        self.write(&units::plain(line))?;
        self.write("\n")
    }

    /// Prints prose and tables of the answer; a narrower terminal breaks lines between words.
    pub fn answer_prose(&mut self, text: &str) -> Result<(), CommandError> {
        self.answer(text.strip_suffix('\n').unwrap_or(text))
    }

    /// Prints a document of the answer unchanged, including its line feeds.
    pub fn answer_text(&mut self, text: &str) -> Result<(), CommandError> {
        self.write(&units::plain(text))
    }

    /// Prints a line of data for other programs, unchanged; on a terminal it is escaped like any
    /// other.
    pub fn answer_data(&mut self, line: &str) -> Result<(), CommandError> {
        if io::stdout().is_terminal() {
            return self.answer_whole(line);
        }
        self.write(line)?;
        self.write("\n")
    }

    /// Prints the JSON answer `kind` with these members.
    pub fn answer_json(
        &mut self,
        kind: &str,
        members: serde_json::Value,
    ) -> Result<(), CommandError> {
        self.answer_json_line(&report::answer(kind, members).to_string())
    }

    /// Prints an answer that is already JSON.
    pub fn answer_json_line(&mut self, json: &str) -> Result<(), CommandError> {
        self.write(&units::plain_json(json))?;
        self.write("\n")
    }

    fn write(&mut self, text: &str) -> Result<(), CommandError> {
        let written = self.out.write_all(text.as_bytes());
        written.map_err(|error| output_error(&error))
    }

    /// Prints a remark that is not part of the answer, unless the user asked for quiet.
    pub fn remark(&mut self, line: impl fmt::Display) -> Result<(), CommandError> {
        if self.quiet {
            return Ok(());
        }
        self.flush()?;
        say(&line);
        Ok(())
    }

    /// Flushes all pending output to the reader.
    pub fn flush(&mut self) -> Result<(), CommandError> {
        self.out.flush().map_err(|error| output_error(&error))
    }
}

/// Width in columns of the terminal on standard output; `None` if a program reads it or there is no
/// terminal.
fn terminal_columns() -> Option<usize> {
    if is_for_programs() {
        return None;
    }
    let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
    Some(usize::from(width.0).max(FEWEST_COLUMNS))
}

/// Splits `line` into the words that fit in `columns` and the rest. A word that is too long is cut
/// only if the line is a continuation (`on`); at the start of an answer it is a file path.
fn split(line: &str, columns: usize, on: bool) -> (&str, &str) {
    let Some((end, _)) = line.char_indices().nth(columns) else {
        return (line, "");
    };
    let words = line.len() - line.trim_start().len();
    let mut spaces = line.match_indices(' ').map(|(at, _)| at);
    let at = match spaces.rfind(|at| (words..=end).contains(at)) {
        Some(at) => at,
        None if on => return line.split_at(end),
        None => line[words..].find(' ').map_or(line.len(), |at| words + at),
    };
    (line[..at].trim_end(), line[at..].trim_start())
}

/// Set if a program reads the output: standard error is then one JSON object per line.
static FOR_PROGRAMS: AtomicBool = AtomicBool::new(false);

/// Whether a program reads the output.
pub fn is_for_programs() -> bool {
    FOR_PROGRAMS.load(Ordering::Relaxed)
}

/// Declares that a program reads the output from now on.
pub fn speak_to_programs() {
    FOR_PROGRAMS.store(true, Ordering::Relaxed);
}

/// Prints to standard error the error that ends the program with this status.
pub fn fail(sentence: &str, exit_status: u8) {
    if is_for_programs() {
        return tell(&events::error(sentence, exit_status));
    }
    complain(sentence);
}

/// Prints a problem on standard error.
pub fn complain(sentence: &str) {
    say(&format_args!("plimsoll: {sentence}"));
}

/// Prints a line to standard error. If even that is closed, the line is lost.
pub fn say(line: &dyn fmt::Display) {
    let line = line.to_string();
    if is_for_programs() {
        return tell(&events::message(&line));
    }
    let _ = writeln!(io::stderr(), "{}", units::plain(&line));
}

/// Prints an event or an error for programs to standard error.
pub(crate) fn tell(event: &serde_json::Value) {
    let line = event.to_string();
    let _ = writeln!(io::stderr(), "{}", units::plain_json(&line));
}

/// Makes a panic message admit the defect and explain how to report it.
pub fn explain_panics() {
    std::panic::set_hook(Box::new(|panic| {
        if std::thread::current().name() == Some(TRIAL_THREAD) {
            return;
        }
        let place = panic.location().map_or_else(String::new, ToString::to_string);
        let what = panic_text(panic.payload());
        complain(&format!(
            "this is a bug in plimsoll {} ({place}): {what}\n\
             Please report it with this message and what you typed; files that were being written \
             are recovered when they are next opened.",
            host::version::VERSION,
        ));
    }));
}

/// The message of a panic.
pub fn panic_text(payload: &dyn std::any::Any) -> &dyn fmt::Display {
    if let Some(text) = payload.downcast_ref::<&str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        &"no message"
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn lines_break_between_words_and_keep_their_columns() {
        let first = |line, columns| split(line, columns, false);
        assert_eq!(first("  1  two  three", 15), ("  1  two  three", ""));
        assert_eq!(first("  1  two  three", 14), ("  1  two", "three"));
        assert_eq!(first("  1  two  three", 8), ("  1  two", "three"));
        assert_eq!(first("  1  two  three", 7), ("  1", "two  three"));
        assert_eq!(first("gr\u{f6}\u{df}er als", 6), ("gr\u{f6}\u{df}er", "als"));
    }

    #[test]
    fn a_word_without_room_is_cut_unless_it_begins_the_answer() {
        assert_eq!(split("/long/path: word", 4, false), ("/long/path:", "word"));
        assert_eq!(split("longest", 4, false), ("longest", ""));
        assert_eq!(split("\u{e4}\u{f6}123 word", 4, true), ("\u{e4}\u{f6}12", "3 word"));
    }
}
