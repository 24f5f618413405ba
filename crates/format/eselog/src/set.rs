//! The files of one log as a set: which generations there are, whether each follows the one
//! before, and how the log ends.

use std::fmt;

use ese::Signature;
use ese::log_file::LogFacts;

use crate::file::{LogFile, LogSurvey, SegmentFault};
use crate::layout::types;
use crate::records::{BadRecord, RecordFault};

/// One file of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogMember {
    /// Display name of the file.
    pub name: String,
    /// Fields of its header.
    pub facts: LogFacts,
    /// Survey of its segments.
    pub survey: LogSurvey,
    /// `true` if its last record reports an engine shutdown.
    pub is_shut_down: bool,
    /// The first bytes that are not a record, in words, if any.
    pub bad_record: Option<String>,
    /// Whether the file ends within a record, as a crash may leave the newest file.
    pub ends_within_record: bool,
}

impl LogMember {
    /// The file in `bytes`, examined to its last record.
    pub fn of(name: String, file: &LogFile<'_>) -> Self {
        let survey = file.survey();
        let (mut is_shut_down, mut ends_within_record) = (false, false);
        let mut bad_record = None;
        for record in file.records(&survey) {
            ends_within_record = false;
            match record {
                Ok(record) => match record.kind() {
                    types::TERM | types::TERM2 | types::RECOVERY_QUIT | types::RECOVERY_QUIT2 => {
                        is_shut_down = true;
                    }
                    types::NOP | types::NOP2 => {}
                    _ => is_shut_down = false,
                },
                Err(BadRecord { fault: RecordFault::CutShort, .. }) => ends_within_record = true,
                Err(bad) => bad_record = bad_record.or_else(|| Some(bad.to_string())),
            }
        }
        let facts = file.facts().clone();
        Self { name, facts, survey, is_shut_down, bad_record, ends_within_record }
    }

    /// Returns the first segment after its records.
    const fn end(&self) -> u16 {
        self.facts.segments[2] + self.survey.readable_segments
    }

    /// Whether all segments except the header and the last one hold records.
    const fn is_full(&self) -> bool {
        self.end() + 1 >= self.facts.segments[1]
    }
}

/// Something wrong with a set, by the file that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gap {
    /// Missing generations.
    Missing {
        /// The first one.
        first: u32,
        /// The last one.
        last: u32,
    },
    /// A file of another log stream.
    OtherStream {
        /// The file.
        name: String,
    },
    /// A file of a generation that another file has as well.
    Twice {
        /// The file that is left out.
        name: String,
    },
    /// A file that does not continue the previous one, according to its time or to the checksum of
    /// all segments of that file.
    NotSuccessor {
        /// The file.
        name: String,
        /// Whether only the checksum disagrees.
        by_checksum: bool,
    },
    /// A closed file that ends early.
    Short {
        /// The file.
        name: String,
        /// The first missing segment.
        segment: u16,
    },
    /// An unreadable segment followed by sound ones.
    Damaged {
        /// The file.
        name: String,
        /// The segment.
        fault: SegmentFault,
    },
    /// Bytes in a sound segment that are not a record.
    BadRecord {
        /// The file.
        name: String,
        /// Their position and the fault, in words.
        what: String,
    },
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { first, last } if first == last => {
                write!(f, "generation {first:#X} is missing")
            }
            Self::Missing { first, last } => {
                write!(f, "generations {first:#X}-{last:#X} are missing")
            }
            Self::OtherStream { name } => write!(f, "{name} belongs to another log stream"),
            Self::Twice { name } => write!(f, "{name} is of a generation that another file has"),
            Self::NotSuccessor { name, by_checksum: false } => {
                write!(f, "{name} was not begun after the generation before it")
            }
            Self::NotSuccessor { name, by_checksum: true } => write!(
                f,
                "{name} states another checksum of the generation before it, which has been \
                 changed or exchanged since"
            ),
            Self::Short { name, segment } => {
                write!(f, "{name} is closed and ends before segment {segment}")
            }
            Self::Damaged { name, fault } => {
                write!(f, "{name} is damaged in segment {}: {}", fault.segment, fault.damage)
            }
            Self::BadRecord { name, what } => write!(f, "{name}: {what}"),
        }
    }
}

/// Log files in the order of their generations, and the gaps and faults among them.
#[derive(Clone, Debug, Default)]
pub struct LogSet {
    members: Vec<LogMember>,
    gaps: Vec<Gap>,
}

impl LogSet {
    /// The set of these files. The stream is that of the newest one.
    pub fn of(files: Vec<LogMember>) -> Self {
        let newest = files.iter().max_by_key(|member| member.facts.generation);
        let stream = newest.map(|newest| newest.facts.signature);
        Self::of_stream(files, stream)
    }

    /// The files of the log stream with this signature; all others are gaps.
    pub fn of_stream(mut files: Vec<LogMember>, stream: Option<Signature>) -> Self {
        files.sort_by_key(|member| member.facts.generation);
        let mut set = Self::default();
        for file in files {
            let name = file.name.clone();
            if Some(file.facts.signature) != stream {
                set.gaps.push(Gap::OtherStream { name });
            } else if set.newest().is_some_and(|one| one.facts.generation == file.facts.generation)
            {
                set.gaps.push(Gap::Twice { name });
            } else {
                set.members.push(file);
            }
        }
        set.judge_members();
        set
    }

    /// Splits these files into one set per log stream, the newest file's first.
    pub fn streams(mut files: Vec<LogMember>) -> Vec<Self> {
        let mut sets = Vec::new();
        while let Some(newest) = files.iter().max_by_key(|member| member.facts.generation) {
            let stream = newest.facts.signature;
            let (members, others) =
                files.into_iter().partition(|member| member.facts.signature == stream);
            sets.push(Self::of_stream(members, Some(stream)));
            files = others;
        }
        sets
    }

    /// The files of the stream.
    pub fn members(&self) -> &[LogMember] {
        &self.members
    }

    /// Gaps and faults among the files.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    fn newest(&self) -> Option<&LogMember> {
        self.members.last()
    }

    fn judge_members(&mut self) {
        for pair in self.members.windows(2) {
            if let [before, member] = pair {
                judge_closed(before, &mut self.gaps);
                judge_succession(before, member, &mut self.gaps);
            }
        }
        if let Some(newest) = self.members.last() {
            self.gaps.extend(damage_of(newest));
        }
    }

    /// The set in one sentence.
    pub fn sentence(&self) -> String {
        let (Some(first), Some(newest)) = (self.members.first(), self.newest()) else {
            return "no log files".to_owned();
        };
        let (from, to) = (first.facts.generation.0, newest.facts.generation.0);
        let range = if from == to {
            format!("generation {to:#X}")
        } else {
            format!("generations {from:#X}-{to:#X}")
        };
        let is_whole = self.gaps.iter().all(|gap| matches!(gap, Gap::OtherStream { .. }));
        let state = if is_whole { "complete" } else { "incomplete or damaged" };
        format!("{range} {state}, {}", ending(newest))
    }
}

/// How the newest file ends.
fn ending(newest: &LogMember) -> String {
    let (name, end) = (&newest.name, newest.end());
    match newest.survey {
        _ if newest.is_shut_down => format!("{name} ends at segment {end} with a shutdown"),
        LogSurvey { torn: Some(segment), .. } => {
            format!("{name} torn at segment {segment}, as a crash leaves it")
        }
        LogSurvey { from_shadow: Some(segment), .. } => format!(
            "{name} torn at segment {segment}, which its shadow copy replaces, as a crash leaves it"
        ),
        _ => format!("{name} ends at segment {end} without a shutdown, as a crash leaves it"),
    }
}

fn damage_of(member: &LogMember) -> Vec<Gap> {
    let name = &member.name;
    let mut gaps: Vec<Gap> = member
        .survey
        .faults
        .iter()
        .map(|fault| Gap::Damaged { name: name.clone(), fault: *fault })
        .collect();
    let bad = member.bad_record.iter();
    gaps.extend(bad.map(|what| Gap::BadRecord { name: name.clone(), what: what.clone() }));
    gaps
}

/// Reports damage in a file with a successor, or an end that is torn, within a record, or before
/// the first one.
fn judge_closed(member: &LogMember, gaps: &mut Vec<Gap>) {
    let damage = damage_of(member);
    let is_sound = damage.is_empty();
    gaps.extend(damage);
    if is_sound && let Some(segment) = member.survey.torn {
        gaps.push(Gap::Short { name: member.name.clone(), segment });
    } else if is_sound
        && (member.ends_within_record
            || (!member.is_full() && member.survey.readable_segments == 0))
    {
        gaps.push(Gap::Short { name: member.name.clone(), segment: member.end() });
    }
}

fn judge_succession(before: &LogMember, member: &LogMember, gaps: &mut Vec<Gap>) {
    let (old, new) = (before.facts.generation.0, member.facts.generation.0);
    if old.checked_add(1) != Some(new) {
        gaps.push(Gap::Missing { first: old.saturating_add(1), last: new.saturating_sub(1) });
        return;
    }
    let name = member.name.clone();
    if member.facts.previous_created != before.facts.created {
        gaps.push(Gap::NotSuccessor { name, by_checksum: false });
        return;
    }
    let stated = member.facts.previous_checksum;
    if stated != 0 && stated != before.survey.checksum {
        gaps.push(Gap::NotSuccessor { name, by_checksum: true });
    }
}
