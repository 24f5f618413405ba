//! Progress: one line that is redrawn on a terminal, a plain line now and then elsewhere.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use units::Bytes;

use crate::system;

/// Between two redraws on a terminal.
const REDRAW: Duration = Duration::from_millis(200);
/// Between two lines in a log, at first.
const LINE: Duration = Duration::from_secs(10);
/// Between two lines in a log, at last.
const RARE_LINE: Duration = Duration::from_mins(10);
/// In between, a line comes when the work is by this part of its age older.
const LINES_OF_AN_AGE: u32 = 20;
/// What a terminal of unknown width shows in one line.
const USUAL_COLUMNS: usize = 80;

/// Set once the work was asked to stop: a second signal ends the program at any moment, so every
/// line is whole from then on.
static WHOLE_LINES: AtomicBool = AtomicBool::new(false);

/// Answers the signal that asked to stop, below what the terminal shows.
pub(crate) fn answer_stop(answer: &str) {
    WHOLE_LINES.store(true, Ordering::Relaxed);
    let erase = if redraws() { "\r\x1b[K" } else { "" };
    let _ = writeln!(io::stderr(), "{erase}{answer}");
}

/// Shows how far a piece of work is.
pub(crate) struct Progress {
    what: String,
    started: Instant,
    shown: Option<Instant>,
    terminal: bool,
    quiet: bool,
}

impl Progress {
    /// Progress of `what`, such as `checking`; none is shown where `quiet`.
    pub(crate) fn new(what: impl Into<String>, quiet: bool) -> Self {
        Self { what: what.into(), started: Instant::now(), shown: None, terminal: redraws(), quiet }
    }

    /// `done` of `total` bytes are done. Call it as often as you like.
    pub(crate) fn bytes(&mut self, done: u64, total: u64) {
        let elapsed = self.started.elapsed();
        self.show(|what| describe(what, done, total, elapsed));
    }

    /// Any other state of the work, already in words.
    pub(crate) fn text(&mut self, text: &str) {
        self.show(|what| format!("{what}: {text}"));
    }

    /// Since the work began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Removes the line, so that what comes next stands alone.
    pub(crate) fn clear(&mut self) {
        if self.redraws() && self.shown.is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
        self.shown = None;
    }

    /// Whether one line is drawn over and over.
    fn redraws(&self) -> bool {
        self.terminal && !WHOLE_LINES.load(Ordering::Relaxed)
    }

    fn show(&mut self, line: impl FnOnce(&str) -> String) {
        let redraws = self.redraws();
        let pause = if redraws { REDRAW } else { between_lines(self.started.elapsed()) };
        // In a log, work that is over before the first line is due needs none.
        let last = self.shown.or((!redraws).then_some(self.started));
        if self.quiet || last.is_some_and(|last| last.elapsed() < pause) {
            return;
        }
        self.shown = Some(Instant::now());
        let line = line(&self.what);
        let _ = if redraws {
            write!(io::stderr(), "\r\x1b[K{}", cropped(&line, columns()))
        } else {
            writeln!(io::stderr(), "{line}")
        };
    }
}

/// Whether a line of the error output can be written again.
fn redraws() -> bool {
    io::stderr().is_terminal() && system::redraws()
}

/// How many characters a line of the terminal takes.
fn columns() -> usize {
    terminal_size::terminal_size_of(io::stderr())
        .map_or(USUAL_COLUMNS, |(width, _)| usize::from(width.0))
}

/// As much of a line as `columns` take without a wrap, which redrawing would leave behind.
fn cropped(line: &str, columns: usize) -> &str {
    let end = line.char_indices().nth(columns.saturating_sub(1));
    end.map_or(line, |(end, _)| &line[..end])
}

/// Between two lines in a log about work so old: a day of it makes some 200 lines.
fn between_lines(age: Duration) -> Duration {
    (age / LINES_OF_AN_AGE).clamp(LINE, RARE_LINE)
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// How far, how fast and how long still.
fn describe(what: &str, done: u64, total: u64, elapsed: Duration) -> String {
    let percent = (done.min(total) * 100).checked_div(total).unwrap_or(100);
    let seconds = elapsed.as_secs_f64();
    let speed = if seconds > 0.0 { done as f64 / seconds } else { 0.0 };
    let left = (speed > 0.0 && total > done)
        .then(|| Duration::from_secs_f64((total - done) as f64 / speed))
        .map_or_else(String::new, |left| format!(", {} left", duration(left)));
    format!(
        "{what}: {percent:>3} %, {} of {}, {:.0} MiB/s{left}",
        Bytes(done),
        Bytes(total),
        speed / f64::from(1 << 20),
    )
}

/// A duration as people say it.
pub(crate) fn duration(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{between_lines, cropped, describe, duration};

    #[test]
    fn a_line_never_wraps() {
        assert_eq!(cropped("reads at 0.25 ms", 80), "reads at 0.25 ms");
        assert_eq!(cropped("reads at 0.25 ms", 6), "reads");
        assert_eq!(cropped("\u{b5}s \u{b5}s", 3), "\u{b5}s");
        assert_eq!(cropped("reads", 0), "");
    }

    #[test]
    fn a_day_floods_no_log() {
        let mut age = Duration::ZERO;
        let mut lines = 0;
        while age < Duration::from_hours(24) {
            age += between_lines(age);
            lines += 1;
        }
        assert!((100..=250).contains(&lines), "{lines}");
        assert_eq!(between_lines(Duration::ZERO), Duration::from_secs(10));
    }

    #[test]
    fn progress_says_how_far_how_fast_and_how_long_still() {
        let line = describe("checking", 1 << 30, 4 << 30, Duration::from_secs(1));
        assert_eq!(line, "checking:  25 %, 1.00 GiB of 4.00 GiB, 1024 MiB/s, 3 s left");
        let empty = describe("checking", 0, 0, Duration::ZERO);
        assert_eq!(empty, "checking: 100 %, 0 B of 0 B, 0 MiB/s");
    }

    #[test]
    fn durations_have_two_units_at_most() {
        assert_eq!(duration(Duration::from_secs(59)), "59 s");
        assert_eq!(duration(Duration::from_secs(61)), "1 min 01 s");
        assert_eq!(duration(Duration::from_secs(7_261)), "2 h 01 min");
    }
}
