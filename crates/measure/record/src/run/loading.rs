//! Loads a journal as a run: decodes lines, which takes most of the time; folds them in order.

use std::fmt;
use std::ops::RangeInclusive;

use super::RunRecord;
use super::lines::{decode, lines, outline};
use crate::codec::{DecodeError, SealCheck};
use crate::{Event, Phase};

/// A line of a journal, decoded.
#[derive(Debug)]
pub struct JournalLine<'a> {
    /// Counted from 1.
    number: usize,
    text: &'a [u8],
    /// `None` if it is left out of the record.
    event: Option<Result<Event, DecodeError>>,
}

/// Why a journal could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// There is nothing in it.
    Empty,
    /// The first line is not the start of a run.
    NoStart,
    /// A second start after the first line.
    SecondStart {
        /// Line, counted from 1.
        line: usize,
    },
    /// A line before the last cannot be read.
    Line {
        /// Line, counted from 1.
        line: usize,
        /// The decoder's error.
        error: DecodeError,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "the journal is empty: the run never began"),
            Self::NoStart => write!(
                f,
                "the first line is not the start of a run: this is not a run's record.jsonl"
            ),
            Self::SecondStart { line } => {
                write!(f, "line {line} starts a second run: split the file there, one run each")
            }
            Self::Line { line, error } => write!(f, "line {line}: {error}"),
        }
    }
}

impl std::error::Error for LoadError {}

/// The lines of a journal, decoded lazily; empty ones are skipped.
pub fn journal_lines(journal: &[u8]) -> impl Iterator<Item = JournalLine<'_>> {
    lines(journal).map(|(text, number)| JournalLine { number, text, event: Some(decode(text)) })
}

impl RunRecord {
    /// Folds the bytes of a journal. An unreadable last line is attributed to a crash and skipped.
    pub fn load(journal: &[u8]) -> Result<Self, LoadError> {
        Self::of_lines(journal_lines(journal))
    }

    /// Folds the bytes of a journal without the intervals of the measurement outside `kept_ns`: a
    /// part of the measurement as a run. The seal is that of the whole journal.
    pub fn load_part(journal: &[u8], kept_ns: RangeInclusive<u64>) -> Result<Self, LoadError> {
        Self::of_lines(lines(journal).map(|(text, number)| {
            let event = (!is_beyond(text, &kept_ns)).then(|| decode(text));
            JournalLine { number, text, event }
        }))
    }

    /// Folds lines of a journal like [`RunRecord::load`], for callers that decode them elsewhere.
    pub fn of_lines<'a>(
        lines: impl IntoIterator<Item = JournalLine<'a>>,
    ) -> Result<Self, LoadError> {
        let mut lines = lines.into_iter().peekable();
        let Some(JournalLine { number, text, event }) = lines.next() else {
            return Err(LoadError::Empty);
        };
        let mut check = SealCheck::default();
        check.pass(text, number);
        let mut run = match event {
            Some(Ok(Event::Start(start))) => Self::begin(*start),
            None | Some(Ok(_) | Err(DecodeError::NotAnEvent(_))) => return Err(LoadError::NoStart),
            Some(Err(error)) => return Err(LoadError::Line { line: number, error }),
        };
        while let Some(JournalLine { number: line, text, event }) = lines.next() {
            match event {
                None => check.pass(text, line),
                Some(Ok(Event::Start(_))) => return Err(LoadError::SecondStart { line }),
                Some(Ok(event)) => {
                    check.pass(text, line);
                    run.push(event);
                }
                Some(Err(_)) if lines.peek().is_none() => run.torn_tail = true,
                Some(Err(error)) => return Err(LoadError::Line { line, error }),
            }
        }
        run.seal = check.seal();
        Ok(run)
    }
}

/// Whether a line is an interval of the measurement outside `kept_ns`.
fn is_beyond(line: &[u8], kept_ns: &RangeInclusive<u64>) -> bool {
    outline(line).is_some_and(|of| {
        let is_within = kept_ns.contains(&of.from_ns) && of.to_ns <= *kept_ns.end();
        of.phase == Phase::Measure && !is_within
    })
}
