//! A journal as a run: its lines decoded, which takes most of the time, and folded in their order.

use std::fmt;

use super::RunRecord;
use super::digest::outline;
use crate::codec::{self, DecodeError, SealCheck};
use crate::{Event, Phase};

/// A line of a journal, decoded.
#[derive(Debug)]
pub struct JournalLine<'a> {
    /// Counted from 1.
    number: usize,
    text: &'a [u8],
    /// None if it is left out of the record.
    event: Option<Result<Event, DecodeError>>,
}

/// Why a journal could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// There is nothing in it.
    Empty,
    /// The first line is not the start of a run.
    NoStart,
    /// A second start in the middle.
    SecondStart {
        /// Line, counted from 1.
        line: usize,
    },
    /// A line before the last cannot be read.
    Line {
        /// Line, counted from 1.
        line: usize,
        /// Why.
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

/// The lines that are not empty, each with its number from 1.
pub(super) fn lines(journal: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    let lines = journal.split(|&byte| byte == b'\n').zip(1..);
    lines.filter(|(text, _)| !text.trim_ascii().is_empty())
}

impl RunRecord {
    /// Folds the bytes of a journal.
    ///
    /// A last line that cannot be read is attributed to a crash and skipped.
    pub fn load(journal: &[u8]) -> Result<Self, LoadError> {
        Self::of_lines(journal_lines(journal))
    }

    /// Folds the bytes of a journal without the intervals of the measurement that `is_kept`
    /// refuses by their begin and end: a part of the measurement as a run. The seal is that of the
    /// whole journal.
    pub fn load_part(
        journal: &[u8],
        is_kept: impl Fn(u64, u64) -> bool,
    ) -> Result<Self, LoadError> {
        let is_left_out = |text: &[u8]| {
            outline(text).is_some_and(|interval| {
                interval.phase == Phase::Measure && !is_kept(interval.from_ns, interval.to_ns)
            })
        };
        Self::of_lines(lines(journal).map(|(text, number)| {
            let event = (!is_left_out(text)).then(|| decode(text));
            JournalLine { number, text, event }
        }))
    }

    /// Folds lines of a journal, as [`RunRecord::load`] does, for who decodes them elsewhere.
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

pub(super) fn decode(line: &[u8]) -> Result<Event, DecodeError> {
    let text = str::from_utf8(line).map_err(|error| DecodeError::NotAnEvent(error.to_string()))?;
    codec::decode(text)
}
