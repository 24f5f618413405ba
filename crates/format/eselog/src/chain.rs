//! The log files that bring one database forward: in sequence from the first generation that its
//! header requires, up to the first gap or damage.

use ese::LogTime;
use ese::header::DatabaseHeader;

use crate::set::{Gap, LogMember, LogSet};

/// The files to replay, and the gaps in the log after them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogChain {
    /// Generations and names of the files, in sequence.
    pub files: Vec<(u32, String)>,
    /// The gap or damage that ends the chain, in words; empty if there is none.
    pub losses: Vec<String>,
    /// Generations lost after the chain; `None` if no loss is known.
    pub lost: Option<LostGenerations>,
    /// Files whose checksum the next one does not confirm, in words. They are replayed.
    pub doubts: Vec<String>,
}

/// Generations that cannot be replayed in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostGenerations {
    /// The first lost generation; its records before the damage may have been replayed.
    pub first: u32,
    /// The last one that is known to have existed.
    pub last: u32,
    /// Creation time of the last generation; `NEVER` if neither a file nor the database states it.
    pub last_begun: LogTime,
}

impl LogChain {
    /// Returns the files of `set` that the database with this header needs, and those after them.
    pub fn of(set: &LogSet, header: &DatabaseHeader) -> Self {
        let required = header.generation_max_committed.0.max(header.generation_max_required.0);
        let mut chain = Self::default();
        let begin = header.generation_min_required.0;
        let mut expected = begin;
        let mut first_lost = None;
        let members = set.members().iter();
        let members = members.filter(|member| member.facts.signature == header.log_signature);
        for member in members.skip_while(|member| member.facts.generation.0 < begin) {
            let generation = member.facts.generation.0;
            if generation > expected {
                chain.losses.push(missing(expected, generation - 1));
                first_lost = Some(expected);
                break;
            }
            if let Some(gap) = fault_before(set, member) {
                chain.losses.push(gap);
                first_lost = Some(generation);
                break;
            }
            chain.doubts.extend(doubt_about(set, member));
            chain.files.push((generation, member.name.clone()));
            if let Some(gap) = fault_within(set, member, generation < required) {
                chain.losses.push(gap);
                first_lost = Some(generation);
                break;
            }
            expected = generation.saturating_add(1);
        }
        if first_lost.is_none() && expected <= required {
            chain.losses.push(missing(expected, required));
            first_lost = Some(expected);
        }
        chain.lost = first_lost.map(|first| lost_from(set, header, first));
        chain
    }
}

/// The extent of a loss that begins in generation `first`.
fn lost_from(set: &LogSet, header: &DatabaseHeader, first: u32) -> LostGenerations {
    let required = header.generation_max_committed.0.max(header.generation_max_required.0);
    let of_stream = set.members().iter().rev();
    let newest = of_stream
        .filter(|member| member.facts.signature == header.log_signature)
        .find(|member| member.facts.generation.0 >= first.max(required));
    match newest {
        Some(member) => LostGenerations {
            first,
            last: member.facts.generation.0,
            last_begun: member.facts.created,
        },
        None => LostGenerations {
            first,
            last: required.max(first),
            last_begun: header.generation_max_time,
        },
    }
}

fn missing(first: u32, last: u32) -> String {
    Gap::Missing { first, last }.to_string()
}

/// Returns why `member` does not continue the file before it; such a file is not replayed.
fn fault_before(set: &LogSet, member: &LogMember) -> Option<String> {
    let mut gaps = set.gaps().iter();
    let found = gaps.find(
        |gap| matches!(gap, Gap::NotSuccessor { name, by_checksum: false } if *name == member.name),
    );
    found.map(ToString::to_string)
}

/// Returns a doubt if only the checksum contradicts a file's stated predecessor.
fn doubt_about(set: &LogSet, member: &LogMember) -> Option<String> {
    let mut gaps = set.gaps().iter();
    let found = gaps.find(
        |gap| matches!(gap, Gap::NotSuccessor { name, by_checksum: true } if *name == member.name),
    );
    found.map(ToString::to_string)
}

/// Returns the damage within a file; replay stops there.
fn fault_within(set: &LogSet, member: &LogMember, is_inside: bool) -> Option<String> {
    let mut gaps = set.gaps().iter();
    let found = gaps.find(|gap| match gap {
        Gap::Damaged { name, .. } | Gap::BadRecord { name, .. } | Gap::Short { name, .. } => {
            *name == member.name
        }
        _ => false,
    });
    let torn = member.survey.torn.filter(|_| is_inside && found.is_none());
    let torn = torn.map(|segment| format!("{} is cut short at segment {segment}", member.name));
    found.map(ToString::to_string).or(torn)
}
