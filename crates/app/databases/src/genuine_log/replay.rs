//! Replays the files of a log onto a database, from the first generation that it requires to the
//! first gap in the chain.

use std::path::{Path, PathBuf};

use ese::header::DatabaseHeader;
use ese::{Lgpos, LogTime};
use eselog::{LogChain, LogReplay, LostGenerations, PageStore, RecordFault, ReplaySummary};

use super::files::{self, LogFiles};
use console::error::CommandError;
use console::term::ProgressLine;
use units::PageNumber;

/// Memory for pages.
const CACHE_BYTES: usize = 64 << 20;

/// Tasks of a replay besides redo.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReplayExtras {
    /// Undo uncommitted changes.
    pub(super) undo: bool,
    /// Keep the rows that records delete.
    pub(super) deleted_rows: bool,
}

/// Result of a replay.
pub(super) struct Replayed<S> {
    pub(super) store: S,
    pub(super) summary: ReplaySummary,
    /// The first and last generations read.
    pub(super) generations: (u32, u32),
    /// Start time of the last segment read.
    pub(super) end_time: LogTime,
    /// Reasons why the log could not be read as far as the database needs it; empty if it could.
    pub(super) losses: Vec<String>,
    /// The generations that could not be replayed, if any.
    pub(super) lost: Option<LostGenerations>,
    /// Files that were replayed although the next file records a different checksum for them.
    pub(super) doubts: Vec<String>,
    /// Pages with changes of generations that were not replayed, and their database times.
    pub(super) ahead: Vec<(PageNumber, u64)>,
    /// The highest database time of the replay.
    pub(super) end_dbtime: u64,
}

impl<S> Replayed<S> {
    /// Whether the result lacks anything that the database had.
    pub(super) fn is_best_effort(&self) -> bool {
        !self.losses.is_empty() || !self.summary.behind.is_empty()
    }
}

/// The log of a database, as far as it can be replayed.
pub(super) struct GenerationChain {
    /// Files and their generations, in sequence.
    files: Vec<(u32, PathBuf)>,
    /// Missing, faulty and unreadable log files, in words.
    pub(super) losses: Vec<String>,
    lost: Option<LostGenerations>,
    doubts: Vec<String>,
}

impl GenerationChain {
    /// The files in `folder` that the database with this header needs.
    pub(super) fn find(folder: &Path, header: &DatabaseHeader) -> Result<Self, CommandError> {
        let paths = files::logs(&[folder.to_owned()])?;
        let files = LogFiles::examine(&paths, Some(header.log_signature))?;
        let LogChain { files: chain, mut losses, lost, doubts } = LogChain::of(&files.set, header);
        let paths =
            chain.iter().map(|(generation, name)| (*generation, files.path(name))).collect();
        losses.extend(files.unreadable);
        Ok(Self { files: paths, losses, lost, doubts })
    }

    /// Whether there is nothing to replay.
    pub(super) const fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Replays the files onto `store`.
    pub(super) fn replay<S: PageStore<Error = std::io::Error>>(
        self,
        store: S,
        header: &DatabaseHeader,
        wanted: ReplayExtras,
        progress: &mut ProgressLine,
    ) -> Result<Replayed<S>, CommandError> {
        let mut replay = LogReplay::new(store, header, CACHE_BYTES);
        if wanted.deleted_rows {
            replay = replay.keeping_deleted();
        }
        let (mut end_time, mut losses) = (LogTime::NEVER, self.losses);
        let (count, mut bytes) = (self.files.len(), Vec::new());
        'chain: for (index, (generation, path)) in self.files.iter().enumerate() {
            progress.text(&format!("{index} of {count} generations"));
            files::read_into(path, &mut bytes)?;
            let file = files::open(path, &bytes)?;
            replay.enter(file.facts());
            let survey = file.survey();
            let mut records = file.records(&survey);
            while let Some(record) = records.next() {
                end_time = records.time();
                replay.set_time(end_time);
                match record {
                    Ok(record) => replay.apply(&record)?,
                    Err(bad) if bad.fault == RecordFault::CutShort => {}
                    // Nothing after an unreadable record may be applied.
                    Err(bad) => {
                        losses.push(format!("generation {generation:#X}: {bad}"));
                        break 'chain;
                    }
                }
            }
        }
        if wanted.undo {
            replay.undo()?;
        }
        let (store, summary) = replay.finish()?;
        let first = self.files.first().map_or(0, |(generation, _)| *generation);
        let last = self.files.last().map_or(0, |(generation, _)| *generation);
        let generations = (first, last);
        let (lost, doubts, ahead) = (self.lost, self.doubts, Vec::new());
        let end_dbtime = summary.dbtime;
        Ok(Replayed {
            store,
            summary,
            generations,
            end_time,
            losses,
            lost,
            doubts,
            ahead,
            end_dbtime,
        })
    }
}

/// Formats a log position as in a dump.
pub(super) fn place(place: Lgpos) -> String {
    if place.is_some() { place.to_string() } else { "none".to_owned() }
}
