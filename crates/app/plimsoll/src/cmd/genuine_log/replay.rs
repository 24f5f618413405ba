//! Replaying the files of a log onto a database, from the first generation that it requires as far
//! as the chain is whole.

use std::path::{Path, PathBuf};

use ese::header::DatabaseHeader;
use ese::{Lgpos, LogTime};
use eselog::{Gap, LogMember, LogReplay, PageStore, ReplaySummary};

use super::files::{self, LogFiles};
use crate::error::CommandError;
use crate::term::Progress;

/// Memory for pages.
const CACHE_BYTES: usize = 64 << 20;

/// What a replay has come to.
pub(super) struct Replayed<S> {
    pub(super) store: S,
    pub(super) summary: ReplaySummary,
    /// The first and last generation that were read.
    pub(super) generations: (u32, u32),
    /// When the last segment was begun that was read.
    pub(super) end_time: LogTime,
    /// Why the log could not be read to where the database needs it; empty if it could.
    pub(super) losses: Vec<String>,
}

/// The log of a database, as far as it can be replayed.
pub(super) struct GenerationChain {
    /// Files and their generations, in sequence.
    files: Vec<(u32, PathBuf)>,
    /// Missing, faulty and unreadable log files, in words.
    pub(super) losses: Vec<String>,
}

impl GenerationChain {
    /// The files in `folder` that the database with this header needs.
    pub(super) fn find(folder: &Path, header: &DatabaseHeader) -> Result<Self, CommandError> {
        let files = LogFiles::examine(&files::logs(&[folder.to_owned()])?)?;
        let first = header.generation_min_required.0;
        let last = header.generation_max_committed.0.max(header.generation_max_required.0);
        let (mut chain, mut losses) = (Vec::new(), Vec::new());
        let mut expected = first;
        for member in files.set.members() {
            let generation = member.facts.generation.0;
            if generation < expected || member.facts.signature != header.log_signature {
                continue;
            }
            if generation > expected {
                break;
            }
            if let Some(gap) = fault_before(&files, member) {
                losses.push(gap);
                break;
            }
            chain.push((generation, files.path(member)));
            expected = generation.saturating_add(1);
            if let Some(gap) = fault_within(&files, member, generation < last) {
                losses.push(gap);
                break;
            }
        }
        if expected <= last {
            losses.push(missing(expected, last));
        }
        losses.extend(files.unreadable);
        Ok(Self { files: chain, losses })
    }

    /// Replays the files onto `store`, and undoes what had not committed if that is wanted.
    pub(super) fn replay<S: PageStore<Error = std::io::Error>>(
        self,
        store: S,
        header: &DatabaseHeader,
        undo: bool,
        progress: &mut Progress,
    ) -> Result<Replayed<S>, CommandError> {
        let mut replay = LogReplay::new(store, header, CACHE_BYTES);
        let (mut end_time, mut losses) = (LogTime::NEVER, self.losses);
        let count = self.files.len();
        for (index, (generation, path)) in self.files.iter().enumerate() {
            progress.text(&format!("{index} of {count} generations"));
            let bytes = files::read(path)?;
            let file = files::open(path, &bytes)?;
            let survey = file.survey();
            let mut records = file.records(&survey);
            while let Some(record) = records.next() {
                end_time = records.time();
                match record {
                    Ok(record) => replay.apply(&record)?,
                    Err(bad) => losses.push(format!("generation {generation:#X}: {bad}")),
                }
            }
        }
        if undo {
            replay.undo()?;
        }
        let (store, summary) = replay.finish()?;
        let first = self.files.first().map_or(0, |(generation, _)| *generation);
        let last = self.files.last().map_or(0, |(generation, _)| *generation);
        Ok(Replayed { store, summary, generations: (first, last), end_time, losses })
    }
}

fn missing(first: u32, last: u32) -> String {
    Gap::Missing { first, last }.to_string()
}

/// A file that does not continue the one before is not replayed.
fn fault_before(files: &LogFiles, member: &LogMember) -> Option<String> {
    let mut gaps = files.set.gaps().iter();
    let found = gaps.find(
        |gap| matches!(gap, Gap::NotSuccessor { name, by_checksum: false } if *name == member.name),
    );
    found.map(ToString::to_string)
}

/// A file with damage is replayed up to there, and nothing behind it.
fn fault_within(files: &LogFiles, member: &LogMember, is_inside: bool) -> Option<String> {
    let mut gaps = files.set.gaps().iter();
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

/// A place as people look for it in a dump.
pub(super) fn place(place: Lgpos) -> String {
    if place.is_some() { place.to_string() } else { "none".to_owned() }
}
