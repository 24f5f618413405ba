//! One log file: its header, its valid segments, its end and its damage.

use std::borrow::Cow;
use std::fmt;

use ese::Lgpos;
use ese::log_file::{LOG_HEADER_BYTES, LogFacts, LogFileError};
use units::Generation;

use crate::segment::{
    Leftover, SEGMENT_BYTES, SegmentState, corrected, is_shadow, judge, stated_place,
    stored_checksum,
};

/// Major version of the format that is read here: Windows 8 and later, Exchange 2013 and later.
const MAJOR_VERSION: u32 = 8;

/// How a segment is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentDamage {
    /// Its checksum is wrong.
    Checksum,
    /// It was never written, though a later one was.
    NeverWritten,
    /// It states a different position: a misdirected write.
    Misplaced(Lgpos),
    /// The file ends before it.
    CutOff,
}

impl fmt::Display for SegmentDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checksum => f.write_str("its checksum is wrong"),
            Self::NeverWritten => f.write_str("it was never written, though a later one was"),
            Self::Misplaced(place) => write!(f, "it belongs at {place}"),
            Self::CutOff => f.write_str("the file ends before it"),
        }
    }
}

/// A damaged segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentFault {
    /// The segment within its file.
    pub segment: u16,
    /// How it is damaged.
    pub damage: SegmentDamage,
}

/// Result of a walk over all segments of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSurvey {
    /// Number of leading segments with readable records, without a gap.
    pub readable_segments: u16,
    /// XOR of the checksums of all sound segments, as the next generation's header states it.
    pub checksum: u64,
    /// The segment that the last write tore: nothing sound follows it.
    pub torn: Option<u16>,
    /// A torn segment whose shadow was read instead.
    pub from_shadow: Option<u16>,
    /// Segments with one flipped bit, and which bit, including segments after the records; they
    /// were read as originally written.
    pub flipped_bits: Vec<(u16, u32)>,
    /// Damage followed by sound segments, in file order.
    pub faults: Vec<SegmentFault>,
}

/// A log file of the real engine.
pub struct LogFile<'a> {
    bytes: &'a [u8],
    facts: LogFacts,
}

impl<'a> LogFile<'a> {
    /// The file in `bytes`. Fails if its header is damaged, of another kind or of another format.
    pub fn open(bytes: &'a [u8]) -> Result<Self, LogFileError> {
        let header: &[u8; LOG_HEADER_BYTES] = bytes.first_chunk().ok_or(LogFileError::Checksum)?;
        let facts = LogFacts::decode(header)?;
        if facts.version[0] != MAJOR_VERSION {
            return Err(LogFileError::Version(facts.version[0]));
        }
        let [segment_bytes, segments, header_segments] = facts.segments;
        let is_known = usize::from(segment_bytes) == SEGMENT_BYTES;
        if !is_known || header_segments == 0 || segments <= header_segments {
            return Err(LogFileError::Geometry);
        }
        Ok(Self { bytes, facts })
    }

    /// Whether a header is that of a log of the real engine, in the format that is read here or in
    /// an earlier one.
    pub const fn is_genuine(facts: &LogFacts) -> bool {
        facts.version[0] <= MAJOR_VERSION
    }

    /// The header's fields.
    pub const fn facts(&self) -> &LogFacts {
        &self.facts
    }

    /// The generation that the header states.
    pub const fn generation(&self) -> Generation {
        self.facts.generation
    }

    /// The first segment that holds records.
    pub(crate) const fn first_segment(&self) -> u16 {
        self.facts.segments[2]
    }

    /// Returns the end (exclusive) of the segments that may hold records: engines leave the last
    /// one empty.
    const fn end_segment(&self) -> u16 {
        self.facts.segments[1] - 1
    }

    /// Walks all segments.
    pub fn survey(&self) -> LogSurvey {
        let mut survey = LogSurvey::default();
        let mut walk = SegmentWalk::default();
        for index in self.first_segment()..self.end_segment() {
            self.visit(index, &mut walk, &mut survey);
        }
        // The last segment never holds records, but may hold a shadow.
        if let Some(SegmentState::Behind(Leftover { flipped: Some(bit) })) = self.last_state() {
            survey.flipped_bits.push((self.end_segment(), bit));
        }
        survey.torn = walk.end.filter(|_| walk.is_bad_end);
        survey
    }

    /// The state of the segment that holds no records.
    fn last_state(&self) -> Option<SegmentState> {
        let index = self.end_segment();
        Some(judge(self.raw_segment(index)?, self.generation(), index))
    }

    fn visit(&self, index: u16, walk: &mut SegmentWalk, survey: &mut LogSurvey) {
        let Some(raw) = self.raw_segment(index) else {
            walk.miss(index, SegmentDamage::CutOff);
            return;
        };
        match judge(raw, self.generation(), index) {
            SegmentState::Behind(Leftover { flipped }) => {
                survey.flipped_bits.extend(flipped.map(|bit| (index, bit)));
                walk.end_at(index);
            }
            SegmentState::Bad if self.has_shadow(index) => {
                survey.from_shadow = Some(index);
                let shadow = self.raw_segment(index + 1).unwrap_or(raw);
                walk.count(index, stored_checksum(shadow), survey);
            }
            SegmentState::Bad => walk.miss(index, SegmentDamage::Checksum),
            SegmentState::Misplaced(place) => walk.miss(index, SegmentDamage::Misplaced(place)),
            SegmentState::Flipped { bit } => {
                survey.flipped_bits.push((index, bit));
                walk.count(index, stored_checksum(&corrected(raw, index)), survey);
            }
            SegmentState::Good => walk.count(index, stored_checksum(raw), survey),
        }
    }

    /// Whether the segment after `index` is a sound copy of it.
    fn has_shadow(&self, index: u16) -> bool {
        let Some(next) = index.checked_add(1) else {
            return false;
        };
        self.raw_segment(next).is_some_and(|bytes| {
            is_shadow(bytes, next) && stated_place(bytes).generation == self.generation()
        })
    }

    fn raw_segment(&self, index: u16) -> Option<&'a [u8]> {
        let start = usize::from(index) * SEGMENT_BYTES;
        self.bytes.get(start..start + SEGMENT_BYTES)
    }

    /// The bytes of a readable segment, as they were written.
    pub(crate) fn segment(&self, index: u16, survey: &LogSurvey) -> Option<Cow<'a, [u8]>> {
        if survey.from_shadow == Some(index) {
            return self.raw_segment(index + 1).map(Cow::Borrowed);
        }
        let raw = self.raw_segment(index)?;
        let is_flipped = survey.flipped_bits.iter().any(|(segment, _)| *segment == index);
        Some(if is_flipped { Cow::Owned(corrected(raw, index)) } else { Cow::Borrowed(raw) })
    }
}

/// Progress of a walk over segments.
#[derive(Default)]
struct SegmentWalk {
    /// The first segment without sound contents.
    end: Option<u16>,
    /// Whether the segment at `end` is damaged and no sound one follows it.
    is_bad_end: bool,
    /// Faults that count only if a sound segment follows them.
    pending: Vec<SegmentFault>,
}

impl SegmentWalk {
    /// Counts a sound segment.
    fn count(&mut self, index: u16, checksum: u64, survey: &mut LogSurvey) {
        survey.checksum ^= checksum;
        if self.end.is_none() {
            survey.readable_segments += 1;
        } else if self.pending.is_empty() && survey.faults.is_empty() {
            let segment = self.end.unwrap_or(index);
            survey.faults.push(SegmentFault { segment, damage: SegmentDamage::NeverWritten });
        }
        survey.faults.append(&mut self.pending);
        self.is_bad_end = false;
    }

    /// Notes a segment that was not written in this generation.
    const fn end_at(&mut self, index: u16) {
        if self.end.is_none() {
            self.end = Some(index);
        }
    }

    /// Notes a segment that cannot be used.
    fn miss(&mut self, segment: u16, damage: SegmentDamage) {
        if self.end.is_none() {
            self.end = Some(segment);
            self.is_bad_end = true;
        }
        self.pending.push(SegmentFault { segment, damage });
    }
}
