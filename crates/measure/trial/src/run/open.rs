//! Opening one database for a run: its owner, its contents, and the end of its load.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use device::{Boxed, DeviceError, OpenMode};
use engine::recovery::RecoverySummary;
use engine::{
    Database, DatabaseFiles, Mended, OpenError, Order, Table, TransactionError, Verification,
};
use ese::Lgpos;
use ese::header::DatabaseState;
use ese::key::long_long_key;
use ese::page::PageSize;
use plan::Plan;
use record::Event;
use units::{Bytes, Nanos, Seed, plural};
use workload::{Content, Ids};

use super::Group;
use super::backup_copy;
use super::copy::{copy, not_copied};
use super::undone::{DatabaseProgress, PassSoFar};
use crate::issue_recorder::IssueRecorder;
use crate::location::Location;
use crate::longest::Longest;
use crate::manifest::{self, Manifest, ManifestError};
use crate::messages::{Decoder, TABLE};
use crate::meter::Meter;
use crate::pace::LoadHold;
use crate::policy::{self, warm_bytes};
use crate::sampler::Sampled;
use crate::settings::engine_settings;
use crate::worker::Shared;

/// A database of the group, open or not. Clones share its state.
#[derive(Clone)]
pub(super) struct Opened {
    pub location: Location,
    pub meter: Rc<Meter>,
    pub issue_recorder: Rc<IssueRecorder>,
    pub(super) live: Rc<RefCell<Option<Live>>>,
    /// The position that a replay must reach, if the database was left to recovery.
    pub(super) abandoned: Rc<Cell<Option<Abandoned>>>,
    /// Whether a copy was made, either next to it before the load or by a backup.
    pub(super) has_copy: Rc<Cell<bool>>,
    /// Progress of the last pass over the file; `None` before the first.
    pub(super) pass: Rc<Cell<Option<PassSoFar>>>,
    is_closed: Rc<Cell<bool>>,
}

/// A database that is open.
#[derive(Clone)]
pub(super) struct Live {
    pub database: Database,
    pub table: Table,
    /// Number of the last message.
    pub last: i64,
    /// Repairs that recovery made before the database was open.
    pub mended: Mended,
}

/// The log of a database that was left to recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Abandoned {
    /// End of the log: it contains everything before this position.
    pub(super) end: Lgpos,
    /// How long the load took to generate the log.
    pub(super) generated: Nanos,
}

/// The database at `location`, not open yet; its requests are tracked.
pub(super) fn followed(group: &Group, location: &Location) -> Opened {
    let events = Rc::clone(&group.events);
    let issue_recorder = Rc::new(IssueRecorder::at(location, &group.runtime, group.origin, events));
    let clock = group.runtime.clock();
    let longest = Longest::new(group.host.clone());
    let meter = Rc::new(Meter::new(Rc::clone(&issue_recorder), clock, longest));
    Opened {
        location: location.clone().observed_by(Rc::<Meter>::clone(&meter)),
        meter,
        issue_recorder,
        live: Rc::default(),
        abandoned: Rc::default(),
        has_copy: Rc::default(),
        pass: Rc::default(),
        is_closed: Rc::default(),
    }
}

/// The manifest of the database at `location`, if the database was prepared for this plan.
async fn proved(group: &Group, location: &Location) -> Result<Manifest, ManifestError> {
    let found = manifest::read(location).await?;
    let manifest = found.ok_or_else(|| Manifest::absent(location))?;
    manifest.fits(&group.plan, location)?;
    manifest.prove(location).await?;
    Ok(manifest)
}

/// Refuses a database that is incomplete without its log. `because` is the reason why the log is
/// not replayed now.
async fn refuse_unclean(location: &Location, because: &str) -> Result<(), String> {
    let (volume, file) = (&location.database, &location.plan.file);
    let state = manifest::state_of(&**volume, file).await;
    match state.map_err(|error| error.to_string())? {
        Some(DatabaseState::CleanShutdown) => Ok(()),
        Some(_) => Err(unclean(location, because).await),
        None => Err(format!(
            "{}: neither copy of the header is readable; restore the database or prepare it anew",
            location.path()
        )),
    }
}

/// Why a database that is not marked as closed is refused: its header says the same while a process
/// uses it and after a crash.
async fn unclean(location: &Location, because: &str) -> String {
    match location.database.open(&location.plan.file, OpenMode::ReadWrite).await {
        Err(error @ DeviceError::Locked { .. }) => error.to_string(),
        _ => format!(
            "{0}: was not closed properly, and {because}; recover it first: plimsoll recover {0}",
            location.path()
        ),
    }
}

/// The files of the database at `location`.
pub(super) fn files_of(location: &Location) -> DatabaseFiles {
    DatabaseFiles {
        database: Rc::clone(&location.database),
        file: location.plan.file.clone(),
        log: Rc::clone(&location.log),
        log_base: location.plan.log_base.clone(),
    }
}

/// The lengths to which the log of the database at `location` extends its file: a crash can only
/// leave a file without these.
pub fn growth(location: &Location) -> Boxed<'_, Result<Vec<Bytes>, String>> {
    Box::pin(async move {
        let files = files_of(location);
        engine::recovery::growth(&files).await.map_err(|error| error.to_string())
    })
}

/// Seed of log file signatures: they must differ from run to run, except in virtual time.
pub(super) fn signature_seed(group: &Group, location: &Location) -> Seed {
    let clock = group.runtime.clock();
    let seed = group.plan.seed.derive(u64::from(location.plan.index));
    seed.derive((clock.epoch() + clock.now()).0)
}

/// Why a database is not open.
enum NotOpen {
    /// It is unsuitable for this run, or preparing it failed.
    Refused(String),
    /// Its file is shorter than the fill left it.
    LostEnd(String),
    /// It cannot be recovered from its log.
    NotRecovered(OpenError),
    /// It stopped while it was cleaned up after its recovery.
    Stopped(TransactionError),
}

impl From<ManifestError> for NotOpen {
    fn from(error: ManifestError) -> Self {
        match error {
            ManifestError::LostEnd { .. } => Self::LostEnd(error.to_string()),
            _ => Self::Refused(error.to_string()),
        }
    }
}

impl From<String> for NotOpen {
    fn from(text: String) -> Self {
        Self::Refused(text)
    }
}

async fn open_live(
    group: &Group,
    location: &Location,
    issue_recorder: &IssueRecorder,
) -> Result<Live, NotOpen> {
    let manifest = proved(group, location).await?;
    group.refuse_used_since(location).await?;
    if group.plan.test.replayed_copy().is_some() {
        refuse_unclean(location, "a copy of it would lack what its log holds").await?;
    }
    let (files, seed) = (files_of(location), signature_seed(group, location));
    let mut settings = engine_settings(&group.plan);
    if group.is_storage_trusted {
        settings.verification = Verification::Trusted;
    }
    let is_scanned = settings.maintenance_pause.is_some();
    let opening = Database::recover(&group.runtime, files, settings, seed, &|_| ());
    let (database, recovered) = opening.await.map_err(NotOpen::NotRecovered)?;
    let mended = recovered.map_or_else(Mended::default, |summary| summary.mended);
    if let Some(summary) = recovered {
        group.log(told(location, &summary));
        // Requests of its clean-up would count as the load's.
        database.finish_recovery().await.map_err(NotOpen::Stopped)?;
    }
    if let Some(text) = group.lost_log(location, recovered.map(|summary| summary.end)) {
        issue_recorder.lost_flush(group.runtime.now(), location.newest_log(), text);
    }
    group.tell_attached(location, &database);
    if let Some(page) = database.scanned_to().filter(|_| is_scanned) {
        let path = location.path();
        group.log(format!("{path}: background maintenance goes on after page {page}"));
    }
    let table = database
        .table(TABLE)
        .ok_or_else(|| format!("{}: has no table {TABLE}; prepare it anew", location.path()))?;
    let last =
        last_message(&database, &table, manifest.rows).await.map_err(|error| error.to_string())?;
    Ok(Live { database, table, last, mended })
}

/// The work of recovery, and the part of it that is done before the load.
fn told(location: &Location, summary: &RecoverySummary) -> String {
    format!(
        "{}: was not closed properly; recovered from log generations {:#x} to {:#x}, {} \
         transactions undone; up to {} are cleaned up before the first request of the load",
        location.path(),
        summary.first.0,
        summary.last.0,
        summary.losers,
        plural(summary.cleanups, "delete"),
    )
}

/// The number of the last message: gallops from `hint`, then bisects.
async fn last_message(
    database: &Database,
    table: &Table,
    hint: u64,
) -> Result<i64, TransactionError> {
    let hint = i64::try_from(hint).unwrap_or(i64::MAX / 4).max(1);
    let (mut low, mut step) = (0, 1);
    // Doubles the step until no message has the number `high` or a larger one.
    let mut high = hint;
    while exists_from(database, table, high).await? {
        low = high;
        high = high.saturating_add(step);
        step *= 2;
    }
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if exists_from(database, table, middle).await? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

async fn exists_from(
    database: &Database,
    table: &Table,
    message_id: i64,
) -> Result<bool, TransactionError> {
    let transaction = database.begin();
    let found = {
        let mut scan = transaction.scan(table, Order::Primary, &long_long_key(message_id));
        scan.next().await
    };
    transaction.rollback().await?;
    Ok(found?.is_some())
}

impl Opened {
    /// Opens the database. On failure, the issues give the reason.
    pub(super) async fn open(&self, group: &Group) {
        let opened = if group.plan.test.kind.is_load() {
            open_live(group, &self.location, &self.issue_recorder).await.map(Some)
        } else {
            self.look_at(group).await.map(|()| None)
        };
        let done = match opened {
            Ok(live) => {
                *self.live.borrow_mut() = live;
                self.make_copy(group).await.map_err(NotOpen::Refused)
            }
            Err(why) => Err(why),
        };
        let now = group.runtime.now();
        match done {
            Ok(()) => {}
            // The run left it to this storage, and no other program has opened it since.
            Err(NotOpen::NotRecovered(error)) if group.resumed.is_some() && error.is_damage() => {
                self.issue_recorder.not_replayed(now, &error);
            }
            Err(NotOpen::LostEnd(text)) if group.resumed.is_some() => {
                self.issue_recorder.lost(now, text);
            }
            Err(NotOpen::NotRecovered(error)) => {
                self.issue_recorder.not_open(now, error.to_string());
            }
            Err(NotOpen::Stopped(error)) => self.issue_recorder.stopped(now, &error),
            Err(NotOpen::Refused(text) | NotOpen::LostEnd(text)) => {
                self.issue_recorder.not_open(now, text);
            }
        }
    }

    /// Copies the database before the load if a replay will go into the copy.
    async fn make_copy(&self, group: &Group) -> Result<(), String> {
        if group.plan.test.replayed_copy().is_some() {
            let (volume, file) = (&self.location.database, &self.location.plan.file);
            let copied = copy(volume, file, group.coordinator()).await;
            copied.map_err(|error| not_copied(&error))?;
            self.has_copy.set(true);
        }
        Ok(())
    }

    /// Checks that there is a complete database to read, and a place for any copy to be made.
    /// Nothing is written.
    async fn look_at(&self, group: &Group) -> Result<(), NotOpen> {
        proved(group, &self.location).await?;
        refuse_unclean(&self.location, "this test writes nothing into it").await?;
        if let Some(copies) = &self.location.copies {
            backup_copy::prove(&self.location, copies).await?;
        }
        self.is_closed.set(true);
        Ok(())
    }

    /// Input of the sampler while the database is not open.
    pub(super) fn unopened(&self) -> Sampled {
        Sampled { index: self.location.plan.index, database: None, meter: Rc::clone(&self.meter) }
    }

    /// State shared by the sessions of this database; `None` if it is not open.
    pub(super) fn share(&self, group: &Group) -> Option<Rc<Shared>> {
        let Live { database, table, last, .. } = self.live.borrow().clone()?;
        let page_size = PageSize::from_bytes(usize::try_from(group.plan.page_size.0).ok()?)?;
        let index = self.location.plan.index;
        Some(Rc::new(Shared {
            runtime: group.runtime.clone(),
            database,
            table,
            content: Content::new(group.plan.seed, index, &group.plan.workload),
            ids: Ids::new(1, last),
            decoder: Decoder::new(page_size),
            meter: Rc::clone(&self.meter),
            issue_recorder: Rc::clone(&self.issue_recorder),
            commits: group.commits.clone(),
            asked: Cell::new(0),
            hold: Cell::new(LoadHold::Free),
            under_way: Cell::new(0),
            rest_percent: group.rest_percent,
            processors: group.processors.clone(),
        }))
    }

    /// Whether the cache is filled; true if there is none to fill.
    pub(super) fn is_warm(&self, plan: &Plan) -> bool {
        let live = self.live.borrow();
        let Some(live) = live.as_ref() else {
            return true;
        };
        let counters = live.database.counters();
        let file = match counters.file_bytes {
            Bytes(0) => plan.size,
            bytes => bytes,
        };
        counters.cache_bytes >= warm_bytes(plan.cache.maximum, file)
    }

    /// Reports the longest request of the ending phase, if it was long, and the number of errors
    /// without an issue.
    pub(super) fn tell_what_came(&self, group: &Group) {
        self.issue_recorder.tell_further(group.runtime.now());
        let index = self.location.plan.index;
        if let Some(found) = self.meter.longest().take(index, group.origin) {
            (group.events)(Event::LongRequest(found));
        }
    }

    /// `true` if the database was closed cleanly after the load.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// Its progress.
    pub(super) fn standing(&self) -> DatabaseProgress {
        DatabaseProgress {
            is_open: self.live.borrow().is_some(),
            is_closed: self.is_closed(),
            pass: self.pass.get(),
        }
    }

    /// Reports files whose contents differ from the data written.
    pub(super) fn look_after_files(&self, group: &Group) {
        if let Some(live) = &*self.live.borrow() {
            self.tell_not_as_written(&live.database, group);
        }
    }

    fn tell_not_as_written(&self, database: &Database, group: &Group) {
        for found in database.take_not_as_written() {
            self.issue_recorder.not_as_written(group.runtime.now(), &found);
        }
    }

    /// Closes the database cleanly, if possible, and reports the repairs made while it was open.
    pub(super) async fn close(&self, group: &Group) {
        let live = self.live.borrow_mut().take();
        let Some(live) = live else {
            return;
        };
        let closed = live.database.clone().shut_down().await;
        self.is_closed.set(closed.is_ok());
        self.tell_what_was_wrong(group, &live);
        if let Err(error) = closed {
            self.issue_recorder.stopped(group.runtime.now(), &error);
        }
    }

    /// Reports the repairs a closed database needed.
    pub(super) fn tell_what_was_wrong(&self, group: &Group, live: &Live) {
        self.tell_not_as_written(&live.database, group);
        let now = group.runtime.now();
        let counters = live.database.counters();
        let (path, mended) = (self.location.path(), counters.mended.plus(live.mended));
        for text in policy::damage_in_passing(mended, counters.maintenance_bad_pages) {
            let (path, text) = (path.clone(), format!("{path}: {text}"));
            self.issue_recorder.wrong_content(now, path, text);
        }
    }
}
