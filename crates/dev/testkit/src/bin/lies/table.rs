//! Runs and judges rows, prints each as it finishes, and counts the wrong ones.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::outcome::Observed;

/// Longest text of a row's last column.
const NAMED_CHARS: usize = 600;

/// A row of the table.
pub(crate) trait TableRow: fmt::Display + Sync {
    /// The expected outcome of the run, in a few words.
    fn wanted(&self) -> &'static str;
    /// `true` if the condition under test never occurred, so that the outcome proves nothing.
    fn is_empty(&self, outcome: &Observed) -> bool;
    /// Whether the outcome was the expected one.
    fn is_right(&self, outcome: &Observed) -> bool;
}

/// Counts over all rows, and the wrong rows.
#[derive(Default)]
pub(crate) struct LiesTable {
    runs: AtomicUsize,
    passes: AtomicUsize,
    empty: AtomicUsize,
    wrong: Mutex<Vec<String>>,
}

impl LiesTable {
    /// Runs all `rows`, at most `at_a_time` at the same time.
    pub(crate) fn fill<R: TableRow + Send>(
        &self,
        rows: Vec<R>,
        at_a_time: usize,
        run: impl Fn(usize, &R) -> io::Result<Observed> + Sync,
    ) {
        let rows = Mutex::new(rows.into_iter().enumerate().collect::<VecDeque<_>>());
        let next = || rows.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        thread::scope(|scope| {
            for _ in 0..at_a_time {
                scope.spawn(|| {
                    while let Some((number, row)) = next() {
                        self.take(&row, run(number, &row));
                    }
                });
            }
        });
    }

    fn take(&self, row: &impl TableRow, outcome: io::Result<Observed>) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let (is_right, mark, text) = match outcome {
            Ok(outcome) => {
                let is_empty = row.is_empty(&outcome);
                self.empty.fetch_add(usize::from(is_empty), Ordering::Relaxed);
                let passes = usize::from(outcome.code == Some(0));
                self.passes.fetch_add(passes, Ordering::Relaxed);
                let is_right = row.is_right(&outcome);
                (is_right, mark(is_right, is_empty), told(&outcome))
            }
            Err(error) => (false, mark(false, true), format!("no run: {error}")),
        };
        let line = format!("{:<38} {:<16} {mark} {text}", row.to_string(), row.wanted());
        say(&line);
        if !is_right {
            let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
            wrong.push(line);
        }
    }

    /// Prints the wrong rows once more; returns their number.
    pub(crate) fn close(self) -> usize {
        let wrong = self.wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (runs, passes) = (self.runs.into_inner(), self.passes.into_inner());
        let (empty, wrong_rows) = (self.empty.into_inner(), wrong.len());
        say(&format!(
            "{runs} runs, {passes} passed; {wrong_rows} rows wrong, {empty} empty: no fault came"
        ));
        for line in &wrong {
            say(line);
        }
        wrong.len()
    }
}

fn mark(is_right: bool, is_empty: bool) -> &'static str {
    match (is_right, is_empty) {
        (false, _) => "WRONG",
        (true, true) => "empty",
        (true, false) => "right",
    }
}

fn told(outcome: &Observed) -> String {
    let code = outcome.code.map_or("-".to_owned(), |code| code.to_string());
    let named: String = outcome.named().replace('\n', " ").chars().take(NAMED_CHARS).collect();
    let (verdict, injected) = (outcome.verdict(), outcome.injected);
    let kept = if outcome.was_kept { "kept by Linux, then " } else { "" };
    format!("{verdict:<12} {kept}exit {code}  {injected:>5} faults  {named}")
}

pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}
