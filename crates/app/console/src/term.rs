//! Progress: a few redrawn lines on a terminal, one line per minute elsewhere, occasional events
//! for programs.

mod screen;

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use report::format::iso_time;
use units::Bytes;

use crate::output::{self, is_for_programs};
use crate::{events, system};

use screen::Screen;

/// Interval between redraws on a terminal.
const REDRAW: Duration = Duration::from_millis(200);
/// Interval between lines in a log.
const LINE: Duration = Duration::from_mins(1);
/// Time until the first of them, so that a log shows early that something happens.
const FIRST_LINE: Duration = Duration::from_secs(10);
/// Interval between events.
const EVENT: Duration = Duration::from_secs(10);

/// Answers the signal that asked to stop, below the terminal's display.
pub(crate) fn answer_stop(answer: &str) {
    if is_for_programs() {
        return output::say(&answer);
    }
    screen::keep_lines_whole();
    let erase = if redraws() { screen::erasing() } else { String::new() };
    let _ = writeln!(io::stderr(), "{erase}{answer}");
}

/// Enables prompts for secrets missing from the environment if a person is at the terminal.
pub fn prompt_for_secrets() {
    if io::stdin().is_terminal() {
        host::target::ask_for_secrets(|prompt| rpassword::prompt_password(prompt));
    }
}

/// Shows the progress of a piece of work.
pub struct ProgressLine {
    what: String,
    started: Instant,
    shown: Option<Instant>,
    screen: Option<Screen>,
    quiet: bool,
}

impl ProgressLine {
    /// Progress of `what`, such as `checking`; hidden if `quiet`.
    pub fn new(what: impl Into<String>, quiet: bool) -> Self {
        let screen = redraws().then(Screen::default);
        Self { what: what.into(), started: Instant::now(), shown: None, screen, quiet }
    }

    /// Reports that `done` of `total` bytes are done. May be called as often as needed.
    pub fn bytes(&mut self, done: u64, total: u64) {
        if is_for_programs() {
            return self.event(|what| events::progress(what, done, total));
        }
        let elapsed = self.started.elapsed();
        let what = self.what.clone();
        self.show(|_| vec![describe(&what, done, total, elapsed)]);
    }

    /// Shows any other state as `text`.
    pub fn text(&mut self, text: &str) {
        if is_for_programs() {
            return self.event(|what| events::state(what, text));
        }
        let line = format!("{}: {text}", self.what);
        self.show(|_| vec![line]);
    }

    /// Shows detailed lines made for a terminal of a given width, or one line made without a width
    /// for a log. Shows nothing to programs, which receive events.
    pub(crate) fn show(&mut self, lines: impl FnOnce(Option<usize>) -> Vec<String>) {
        let redraws = self.redraws();
        if is_for_programs() || !self.is_due(if redraws { REDRAW } else { LINE }, !redraws) {
            return;
        }
        if let Some(screen) = self.screen.as_mut().filter(|_| redraws) {
            return screen.draw(lines);
        }
        let now = iso_time(events::now_ns() / 1_000_000_000 * 1_000_000_000);
        let line = lines(None).join("; ");
        let _ = writeln!(io::stderr(), "{} {line}", now.unwrap_or_default());
    }

    /// Time since the work began.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Erases the progress lines before other output.
    pub fn clear(&mut self) {
        if self.redraws()
            && let Some(screen) = &mut self.screen
        {
            screen.clear();
        }
        self.shown = None;
    }

    fn event(&mut self, event: impl FnOnce(&str) -> serde_json::Value) {
        if self.is_due(EVENT, true) {
            output::tell(&event(&self.what));
        }
    }

    /// Whether the display is due again, `pause` after the last time. If `later`, the first line
    /// is due sooner than the others, and work that ends before shows none.
    fn is_due(&mut self, pause: Duration, later: bool) -> bool {
        let pause = if self.shown.is_none() { pause.min(FIRST_LINE) } else { pause };
        let last = self.shown.or(later.then_some(self.started));
        let is_due = !self.quiet && last.is_none_or(|last| last.elapsed() >= pause);
        if is_due {
            self.shown = Some(Instant::now());
        }
        is_due
    }

    /// Whether lines are redrawn in place.
    fn redraws(&self) -> bool {
        self.screen.is_some() && !screen::are_lines_whole()
    }
}

/// Whether a line of the error output can be overwritten.
fn redraws() -> bool {
    io::stderr().is_terminal() && system::redraws() && !is_for_programs()
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Describes progress, speed and remaining time.
pub(crate) fn describe(what: &str, done: u64, total: u64, elapsed: Duration) -> String {
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

/// Formats a duration for people.
pub fn duration(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{describe, duration};

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
