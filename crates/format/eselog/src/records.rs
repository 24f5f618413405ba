//! The records of one file in order, reassembled if they span segments.

use std::borrow::Cow;
use std::fmt;

use ese::{Lgpos, LogTime};

use crate::bytes::{array, u16_at, u32_at};
use crate::file::{LogFile, LogSurvey};
use crate::layout::{layout_of, record_bytes, types};
use crate::record::LogRecord;
use crate::segment::SEGMENT_HEADER_BYTES;

/// Bytes in front of the first piece of a divided record: type, whole length, length of the piece.
const BEGIN_BYTES: usize = 7;
/// Bytes in front of its later pieces: type, length of the piece.
const PIECE_BYTES: usize = 3;
/// Offset in a segment of the time it was started.
const STARTED: usize = 16;
/// Limit on the length of a record; the longest hold a page of 32 KiB with keys and header.
const MOST_RECORD_BYTES: usize = 1 << 18;

/// Types with which a recovery continues a log that a crash ended, at the beginning of a segment.
const RESUMING: [u8; 3] = [types::RECOVERY_UNDO, types::RECOVERY_UNDO2, types::UNDO_INFORMATION];

/// Bytes that are not a record. The rest of their segment cannot be split into records either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadRecord {
    /// Position of the first of these bytes.
    pub place: Lgpos,
    /// The type that the first byte states.
    pub kind: u8,
    /// Why they are not a record.
    pub fault: RecordFault,
}

/// Why bytes are not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordFault {
    /// Its lengths point out of its segment, or contradict each other.
    Length,
    /// A piece of a record whose beginning is missing.
    NoBeginning,
    /// A record whose end is missing.
    NoEnd,
    /// As `NoEnd`, but where a crash ended the log or a recovery resumed it: not damage, and the
    /// record never took effect.
    CutShort,
}

impl fmt::Display for BadRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, kind, fault } = self;
        match fault {
            RecordFault::Length => {
                write!(f, "{place}: the lengths of a record of type {kind} are impossible")
            }
            RecordFault::NoBeginning => write!(f, "{place}: the beginning of a record is missing"),
            RecordFault::NoEnd => write!(f, "{place}: the end of a record is missing"),
            RecordFault::CutShort => write!(f, "{place}: a crash cut a record short"),
        }
    }
}

/// A walk over records; a bad one ends its segment, not the walk.
pub struct Records<'s, 'a> {
    file: &'s LogFile<'a>,
    survey: &'s LogSurvey,
    segment: u16,
    bytes: Cow<'a, [u8]>,
    /// The next byte of `bytes`; at its end, the next segment is read.
    at: usize,
    partial: Option<Partial>,
}

/// A record seen only in part so far.
struct Partial {
    place: Lgpos,
    bytes: Vec<u8>,
    wanted: usize,
}

/// Result of one step of the walk.
enum RecordStep<'a> {
    Record(LogRecord<'a>),
    Bad(BadRecord),
    Nothing,
}

impl<'a> LogFile<'a> {
    /// The records of the segments that `survey` calls readable.
    pub const fn records<'s>(&'s self, survey: &'s LogSurvey) -> Records<'s, 'a> {
        Records::new(self, survey)
    }
}

impl<'s, 'a> Records<'s, 'a> {
    const fn new(file: &'s LogFile<'a>, survey: &'s LogSurvey) -> Self {
        let segment = file.first_segment();
        Self { file, survey, segment, bytes: Cow::Borrowed(&[]), at: 0, partial: None }
    }

    /// Returns the creation time of the segment in which the last record ends.
    pub fn time(&self) -> LogTime {
        array(&self.bytes, STARTED).map_or(LogTime::NEVER, LogTime::decode)
    }

    /// Reads the next segment; `false` after the last one.
    fn next_segment(&mut self) -> bool {
        let first = self.file.first_segment();
        if self.segment - first >= self.survey.readable_segments {
            return false;
        }
        let Some(bytes) = self.file.segment(self.segment, self.survey) else {
            return false;
        };
        self.bytes = bytes;
        self.at = SEGMENT_HEADER_BYTES;
        self.segment += 1;
        true
    }

    /// The place of the next byte. A record that begins a segment is at the segment's header.
    fn place(&self) -> Lgpos {
        let at = u16::try_from(self.at).unwrap_or(u16::MAX);
        let byte = if self.at == SEGMENT_HEADER_BYTES { 0 } else { at };
        Lgpos { generation: self.file.generation(), segment: self.segment - 1, byte }
    }

    /// Gives up the rest of the segment.
    fn bad(&mut self, kind: u8, fault: RecordFault) -> RecordStep<'a> {
        let place = self.place();
        self.at = self.bytes.len();
        self.partial = None;
        RecordStep::Bad(BadRecord { place, kind, fault })
    }

    fn step(&mut self, kind: u8) -> RecordStep<'a> {
        match kind {
            types::NOP => {
                self.at = self.bytes.len();
                RecordStep::Nothing
            }
            types::FRAGMENT_BEGIN => self.begin(kind),
            types::FRAGMENT => self.piece(kind),
            _ => self.whole(kind),
        }
    }

    fn begin(&mut self, kind: u8) -> RecordStep<'a> {
        let rest = &self.bytes[self.at..];
        let lengths = u32_at(rest, 1).zip(u16_at(rest, 5));
        let Some((wanted, length)) = lengths else {
            return self.bad(kind, RecordFault::Length);
        };
        let (wanted, length) = (wanted as usize, usize::from(length));
        let Some(piece) = rest.get(BEGIN_BYTES..BEGIN_BYTES + length) else {
            return self.bad(kind, RecordFault::Length);
        };
        if length == 0 || length >= wanted || wanted > MOST_RECORD_BYTES {
            return self.bad(kind, RecordFault::Length);
        }
        let place = self.place();
        let partial = Partial { place, bytes: piece.to_vec(), wanted };
        self.at += BEGIN_BYTES + length;
        self.unfinished(Some(partial), RecordFault::NoEnd)
    }

    /// Replaces the previous partial record, if any, which has no end.
    fn unfinished(&mut self, partial: Option<Partial>, fault: RecordFault) -> RecordStep<'a> {
        match std::mem::replace(&mut self.partial, partial) {
            Some(old) => {
                let kind = old.bytes.first().copied().unwrap_or_default();
                RecordStep::Bad(BadRecord { place: old.place, kind, fault })
            }
            None => RecordStep::Nothing,
        }
    }

    fn piece(&mut self, kind: u8) -> RecordStep<'a> {
        let rest = &self.bytes[self.at..];
        let piece = u16_at(rest, 1).and_then(|length| {
            rest.get(PIECE_BYTES..PIECE_BYTES + usize::from(length))
                .filter(|bytes| !bytes.is_empty())
        });
        let Some(piece) = piece else {
            return self.bad(kind, RecordFault::Length);
        };
        let Some(mut partial) = self.partial.take() else {
            return self.bad(kind, RecordFault::NoBeginning);
        };
        partial.bytes.extend_from_slice(piece);
        self.at += PIECE_BYTES + piece.len();
        match partial.bytes.len().cmp(&partial.wanted) {
            std::cmp::Ordering::Less => {
                self.partial = Some(partial);
                RecordStep::Nothing
            }
            std::cmp::Ordering::Equal => assembled(partial),
            std::cmp::Ordering::Greater => self.bad(kind, RecordFault::Length),
        }
    }

    fn whole(&mut self, kind: u8) -> RecordStep<'a> {
        if self.partial.is_some() {
            let is_resumed = self.at == SEGMENT_HEADER_BYTES && RESUMING.contains(&kind);
            let fault = if is_resumed { RecordFault::CutShort } else { RecordFault::NoEnd };
            return self.unfinished(None, fault);
        }
        let place = self.place();
        let length = match layout_of(kind) {
            Some(layout) => record_bytes(layout, &self.bytes[self.at..]),
            // The length of an unknown record is unknown: it takes the rest of the segment.
            None => Some(self.bytes.len() - self.at),
        };
        let end = length.map(|length| self.at + length).filter(|end| *end <= self.bytes.len());
        let Some(end) = end else {
            return self.bad(kind, RecordFault::Length);
        };
        let bytes = match &self.bytes {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[self.at..end]),
            Cow::Owned(bytes) => Cow::Owned(bytes[self.at..end].to_vec()),
        };
        self.at = end;
        RecordStep::Record(LogRecord::new(place, bytes))
    }
}

/// Assembles a record from its pieces, if their lengths match its own.
fn assembled<'a>(partial: Partial) -> RecordStep<'a> {
    let Partial { place, bytes, .. } = partial;
    let kind = bytes.first().copied().unwrap_or_default();
    if layout_of(kind).is_none_or(|layout| record_bytes(layout, &bytes) == Some(bytes.len())) {
        RecordStep::Record(LogRecord::new(place, Cow::Owned(bytes)))
    } else {
        RecordStep::Bad(BadRecord { place, kind, fault: RecordFault::Length })
    }
}

impl<'a> Iterator for Records<'_, 'a> {
    type Item = Result<LogRecord<'a>, BadRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(kind) = self.bytes.get(self.at).copied() else {
                if self.next_segment() {
                    continue;
                }
                return match self.unfinished(None, RecordFault::CutShort) {
                    RecordStep::Bad(bad) => Some(Err(bad)),
                    _ => None,
                };
            };
            match self.step(kind) {
                RecordStep::Record(record) => return Some(Ok(record)),
                RecordStep::Bad(bad) => return Some(Err(bad)),
                RecordStep::Nothing => {}
            }
        }
    }
}
