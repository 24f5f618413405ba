//! Repeats history: every record from the checkpoint on, each page change exactly once.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use device::{Buffer, Device, OpenMode, Purpose, Request, Runtime};
use ese::Lgpos;
use ese::header::{DatabaseHeader, DatabaseState, HeaderError, PROBE_BYTES, read_copies};
use ese::log_file::SegmentSize;
use ese::page::{PageMut, PageSize};
use units::{Bytes, Generation, PageNumber};
use wal::edit::{self, ApplyRecord, PageEdits};
use wal::{
    LogChain, LogEnd, LogError, LogFolder, LogIdentity, LogReader, LogRecord, Span, read_checkpoint,
};

use crate::files::DatabaseFiles;
use crate::recovery::ahead::Ahead;
use crate::recovery::analysis::Analysis;
use crate::recovery::pages::{Page, Pages};
use crate::recovery::{RecoveryError, RecoveryProgress, RecoverySettings, RecoverySummary, Redone};

/// Maximum number of records before the reactor and other tasks get a turn: only then are reads
/// handed to the device, and their completions noticed.
const RECORDS_BETWEEN_YIELDS: u64 = 16;

/// Brings a database file to the state at the end of its log. `None` if it was closed properly and
/// needs no recovery. No other program may have the files open.
///
/// The file stays marked dirty: losers must first be undone by the live engine. Redo may be
/// repeated after a crash at any moment.
pub async fn redo(
    runtime: &Runtime,
    files: &DatabaseFiles,
    settings: &RecoverySettings,
    progress: &dyn Fn(RecoveryProgress),
) -> Result<Option<Redone>, RecoveryError> {
    let device = files.database.open(&files.file, OpenMode::ReadWrite).await?;
    let (header, page_size) = read_header(&*device).await?;
    match header.state {
        DatabaseState::DirtyShutdown => {}
        DatabaseState::CleanShutdown | DatabaseState::JustCreated => return Ok(None),
        state => {
            let file = device.name().to_owned();
            return Err(RecoveryError::State { file, state });
        }
    }
    let started = runtime.now();
    let folder = LogFolder::new(Rc::clone(&files.log), &files.log_base);
    let (chain, checkpoint) = find_log(&folder, &header, page_size).await?;
    let identity = *chain.identity();
    let (_, last) = chain.found();
    let first = checkpoint.generation;
    // The header's database time may date from the start of the checkpoint's generation.
    let generation_start = Lgpos { generation: first, segment: 1, byte: 0 };
    let reader = LogReader::open(chain, generation_start).await?;
    let mut redo = Redo {
        start: checkpoint,
        pages: Pages::new(device, page_size, settings),
        ahead: VecDeque::new(),
        announced: (0, 0),
        turns: 0,
        analysis: Analysis::since(header.dbtime),
        damaged: BTreeMap::new(),
        unwritten: VecDeque::new(),
        depth: (settings.checkpoint_depth, reader.segment_size()),
        newest: (PageNumber::NONE, 0),
        summary: RecoverySummary { first, last, ..RecoverySummary::default() },
    };
    let end = redo
        .run(runtime, reader, settings, &|current| {
            progress(RecoveryProgress { first, current, last });
        })
        .await?;
    if checkpoint > end.place() {
        return Err(RecoveryError::Log(LogError::TooShort {
            folder: folder.name().to_owned(),
            wanted: checkpoint,
            end: end.place(),
        }));
    }
    redo.summary.end = end.place();
    let mut redone = redo.finish(identity, end).await?;
    redone.summary.redo_time = runtime.now().since(started);
    Ok(Some(redone))
}

pub(super) async fn read_header(
    device: &dyn Device,
) -> Result<(DatabaseHeader, PageSize), RecoveryError> {
    let present = usize::try_from(device.length()).unwrap_or(usize::MAX);
    let length = PROBE_BYTES.min(present / device::ALIGNMENT * device::ALIGNMENT);
    if length == 0 {
        return Err(damaged(device, HeaderError::NoGoodCopy));
    }
    let request = Request::read(Purpose::Header, 0, length);
    let bytes: Buffer = device.submit(request).await.into_buffer()?;
    let copies = read_copies(&bytes).map_err(|problem| damaged(device, problem))?;
    Ok((copies.header, copies.page_size))
}

fn damaged(device: &dyn Device, problem: HeaderError) -> RecoveryError {
    RecoveryError::Header { file: device.name().to_owned(), problem }
}

/// The complete log required by the header, and where to begin in it.
pub(super) async fn find_log(
    folder: &LogFolder,
    header: &DatabaseHeader,
    page_size: PageSize,
) -> Result<(LogChain, Lgpos), RecoveryError> {
    let identity =
        LogIdentity { page_size, signature: header.log_signature, database: header.signature };
    let required = (header.generation_min_required, header.generation_max_required);
    let Some(chain) = LogChain::find(folder).await? else {
        return Err(RecoveryError::Log(LogError::Missing {
            folder: folder.name().to_owned(),
            needed: required,
            found: None,
            missing: required.0,
        }));
    };
    chain.require_identity(&identity)?;
    let start = match read_checkpoint(folder, &identity).await? {
        Some(checkpoint) if checkpoint.place.is_some() => checkpoint.place,
        _ => Lgpos { generation: required.0, segment: 1, byte: 0 },
    };
    let (_, last) = chain.found();
    chain.require(start.generation.min(last), required.1.max(last))?;
    Ok((chain, start))
}

struct Redo {
    /// Position before which everything is in the file.
    start: Lgpos,
    pages: Pages,
    /// Records read and not yet redone.
    ahead: VecDeque<(Span, LogRecord)>,
    /// Number of those records with all pages announced, and number of pages announced for the next
    /// one.
    announced: (usize, usize),
    turns: u64,
    analysis: Analysis,
    /// Pages that are unusable unless the log rebuilds them, with the reason.
    damaged: BTreeMap<PageNumber, RecoveryError>,
    /// Pages with changes that may be missing from the file, with the position of the first change,
    /// oldest first.
    unwritten: VecDeque<(Lgpos, PageNumber)>,
    /// Maximum distance of those changes behind redo, and the log's segment size.
    depth: (Bytes, SegmentSize),
    /// The page with the latest database time that was found in the file.
    newest: (PageNumber, u64),
    summary: RecoverySummary,
}

/// What redo does with one page of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedoStep {
    /// Make the change.
    Apply,
    /// The file has it already.
    Skip,
    /// The page cannot be judged until the log rebuilds it.
    Wait,
    /// The page lacks an earlier change that was once written.
    Lost,
}

/// Decides by database times; `found` is `None` if the page cannot be read.
///
/// A page that can be rebuilt is rebuilt, whatever its header says: a page torn by a power failure
/// may look whole, because its checksum is blind to some exchanges of words.
pub(super) const fn step(found: Option<u64>, before: u64, dbtime: u64, rebuilds: bool) -> RedoStep {
    match found {
        _ if rebuilds => RedoStep::Apply,
        None => RedoStep::Wait,
        Some(found) if found >= dbtime => RedoStep::Skip,
        Some(found) if found == before => RedoStep::Apply,
        Some(_) => RedoStep::Lost,
    }
}

impl Redo {
    async fn run(
        &mut self,
        runtime: &Runtime,
        reader: LogReader,
        settings: &RecoverySettings,
        report: &dyn Fn(Generation),
    ) -> Result<LogEnd, RecoveryError> {
        let log = Ahead::start(runtime, reader, self.start, settings.read_ahead);
        let mut reported = None;
        let mut end = None;
        loop {
            let more = log.more();
            if end.is_none() {
                end = log.take_into(&mut self.ahead).transpose()?;
            }
            self.look_ahead()?;
            let Some((span, record)) = self.next_record() else {
                match end {
                    Some(end) => return Ok(end),
                    None => more.await,
                }
                continue;
            };
            if reported != Some(span.start.generation) {
                reported = Some(span.start.generation);
                report(span.start.generation);
            }
            if span.start < self.start {
                self.analysis.observe_time(&record);
            } else {
                self.analysis.observe(span, &record);
                self.redo_record(span, &record).await?;
                self.keep_depth(span.start);
                self.summary.records += 1;
            }
            log.done_to(span.end);
            self.turns += 1;
            if self.turns.is_multiple_of(RECORDS_BETWEEN_YIELDS) {
                runtime.yield_now().await;
            }
        }
    }

    /// The next record, with its pages in memory or being read.
    fn next_record(&mut self) -> Option<(Span, LogRecord)> {
        let (span, record) = self.ahead.pop_front()?;
        if let Some(records) = self.announced.0.checked_sub(1) {
            self.announced.0 = records;
        } else {
            for edits in &edits_of(span, &record, self.start)[self.announced.1..] {
                self.pages.announce_now(edits.page, edits.rebuilds());
            }
            self.announced.1 = 0;
        }
        Some((span, record))
    }

    /// Waits for an announced page. Other reads continue meanwhile: the device is never idle.
    async fn arrive(&mut self, page: PageNumber) -> Result<(), RecoveryError> {
        let ended = self.pages.ended();
        loop {
            let change = ended.notified();
            self.look_ahead()?;
            if !self.pages.is_awaited(page) {
                return Ok(());
            }
            change.await;
        }
    }

    /// Announces the pages of the records ahead, as far as there is room for them.
    fn look_ahead(&mut self) -> Result<(), RecoveryError> {
        self.pages.make_room()?;
        while let Some((span, record)) = self.ahead.get(self.announced.0) {
            while let Some(edits) = edits_of(*span, record, self.start).get(self.announced.1) {
                if !self.pages.announce(edits.page, edits.rebuilds()) {
                    return Ok(());
                }
                self.announced.1 += 1;
            }
            self.announced = (self.announced.0 + 1, 0);
        }
        Ok(())
    }

    async fn redo_record(&mut self, span: Span, record: &LogRecord) -> Result<(), RecoveryError> {
        match record {
            LogRecord::Extend { length } => self.pages.extend_to(length.0).await,
            LogRecord::Apply(apply) => {
                for edits in &apply.pages {
                    self.redo_page(span.start, apply, edits).await?;
                    self.pages.release(edits.page);
                }
                Ok(())
            }
            LogRecord::Begin { .. }
            | LogRecord::Commit { .. }
            | LogRecord::Rollback { .. }
            | LogRecord::Attach { .. }
            | LogRecord::Detach { .. } => Ok(()),
        }
    }

    /// Schedules writes of pages with changes older than the checkpoint depth.
    fn keep_depth(&mut self, place: Lgpos) {
        let (depth, size) = self.depth;
        while let Some((since, page)) = self.unwritten.front().copied()
            && place.bytes_since(since, size) > depth.0
        {
            self.unwritten.pop_front();
            self.pages.write_soon(page);
        }
    }

    async fn redo_page(
        &mut self,
        place: Lgpos,
        apply: &ApplyRecord,
        edits: &PageEdits,
    ) -> Result<(), RecoveryError> {
        let file = self.pages.file();
        let number = edits.page;
        self.arrive(number).await?;
        let page = self.pages.get(number).await?;
        let found = page.damage.is_none().then(|| page.dbtime());
        if let Some(found) = found
            && found > self.newest.1
        {
            self.newest = (number, found);
        }
        let was_dirty = page.dirty;
        match step(found, edits.dbtime_before, apply.dbtime, edits.rebuilds()) {
            RedoStep::Skip => self.summary.pages_skipped += 1,
            RedoStep::Wait => {
                let problem = page.damage.clone().unwrap_or_default();
                let damage = RecoveryError::DamagedPage { file, page: number, problem, place };
                self.damaged.entry(number).or_insert(damage);
            }
            RedoStep::Lost => {
                let lost = RecoveryError::LostWrite {
                    file,
                    page: number,
                    found: page.dbtime(),
                    expected: edits.dbtime_before,
                    place,
                };
                page.damage = Some(lost.to_string());
                self.damaged.insert(number, lost);
            }
            RedoStep::Apply => match change(page, edits, apply.dbtime) {
                Ok(made_anew) => {
                    if !was_dirty {
                        self.unwritten.push_back((place, number));
                    }
                    self.summary.pages_redone += 1;
                    self.summary.pages_made_anew += u64::from(made_anew);
                    if made_anew {
                        self.damaged.remove(&number);
                    }
                }
                Err(problem) => {
                    let mismatch = RecoveryError::Mismatch { file, page: number, problem, place };
                    page.damage = Some(mismatch.to_string());
                    self.damaged.insert(number, mismatch);
                }
            },
        }
        Ok(())
    }

    async fn finish(mut self, identity: LogIdentity, end: LogEnd) -> Result<Redone, RecoveryError> {
        let file = self.pages.file();
        if let Some((_, damage)) = self.damaged.pop_first() {
            return Err(damage);
        }
        let (page, found) = self.newest;
        let latest = self.analysis.dbtime;
        if found > latest {
            return Err(RecoveryError::LogTooOld { file, page, found, latest, end: end.place() });
        }
        let losers = self.analysis.take_losers();
        let cleanups = self.analysis.take_cleanups();
        let done = self.pages.finish().await?;
        Ok(Redone {
            identity,
            end,
            checkpoint: self.start,
            last_transaction: self.analysis.last_transaction,
            dbtime: latest,
            flush_map: done.flush_map,
            summary: RecoverySummary {
                pages_read: done.read,
                mended: done.mended,
                pages_written: done.written,
                losers: losers.len() as u64,
                cleanups: cleanups.len() as u64,
                ..self.summary
            },
            losers,
            cleanups,
        })
    }
}

/// The page edits of a record; empty if it lies before `start`, so that the file has them all.
fn edits_of(span: Span, record: &LogRecord, start: Lgpos) -> &[PageEdits] {
    match record {
        LogRecord::Apply(apply) if span.start >= start => &apply.pages,
        _ => &[],
    }
}

/// Applies a change; true if it rebuilt a damaged page.
fn change(page: &mut Page, edits: &PageEdits, dbtime: u64) -> Result<bool, ese::page::PageError> {
    let mut image = PageMut::new(&mut page.image);
    edit::apply_all(&mut image, &edits.edits, dbtime)?;
    page.dirty = true;
    Ok(page.damage.take().is_some())
}
