//! The runs and documents of the folder, kept in memory and refreshed on requests: the folders are
//! authoritative, and unchanged files are not read again.

pub(crate) mod known;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use record::{JOURNAL, RunRecord};
use report::{RunEntry, RunState};
use serde_json::Value;
use verdict::Verdict;

use crate::history::{History, PastRuns};
use crate::labels::apply_labels;
use crate::live::JournalTail;
use crate::summary::{self, RunLine};
use crate::{DocumentKind, RunControl};

pub(crate) use known::Known;

use known::JournalStamp;
use walk::walked;

/// Results of a walk are reused for this long.
const FRESH: Duration = Duration::from_millis(500);

/// Maximum time that a list waits for changed journals; meanwhile it shows the others.
const PATIENCE: Duration = Duration::from_millis(100);

/// Interval of background refreshes, so that metrics need not wait for one.
const BETWEEN_LOOKS: Duration = Duration::from_secs(5);

/// Number of journals read before their summaries are stored.
const STORED_AT_ONCE: usize = 100;

/// The known facts about a run.
#[derive(Clone)]
pub(crate) struct Listed {
    /// Its folder relative to the served one, with `/` between the parts; requests use this name.
    pub id: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Whether it is live.
    pub is_live: bool,
    /// Its summary, if known.
    pub known: Known,
    stamp: JournalStamp,
}

#[derive(Default)]
struct RunIndex {
    runs: BTreeMap<String, Listed>,
    fleets: BTreeMap<String, PathBuf>,
    documents: BTreeSet<String>,
    looked: Option<Instant>,
    is_reading: bool,
    tails: BTreeMap<String, Arc<Mutex<JournalTail>>>,
}

impl RunIndex {
    /// A run whose journal was not read yet.
    fn unread(&self) -> Option<&Listed> {
        self.runs.values().find(|run| matches!(run.known, Known::Unread))
    }
}

/// The runs of a folder, and its user-written documents.
#[derive(Clone)]
pub(crate) struct ServedRuns(Arc<SharedRuns>);

struct SharedRuns {
    root: PathBuf,
    machine: Box<dyn RunControl>,
    kept: Mutex<RunIndex>,
    has_read: Condvar,
    /// `None` if it could not be opened, or after a failed write.
    history: Mutex<Option<History>>,
}

impl ServedRuns {
    /// The runs of `root`, an absolute path without links, starting with the stored summaries.
    pub(crate) fn new(
        root: PathBuf,
        machine: Box<dyn RunControl>,
        history: Option<(History, PastRuns)>,
    ) -> Self {
        let mut index = RunIndex::default();
        let (history, past) =
            history.map_or((None, PastRuns::new()), |(history, past)| (Some(history), past));
        for (id, run) in past {
            let folder = root.join(&id);
            let run = Listed { id, folder, is_live: false, known: run.known, stamp: run.stamp };
            index.runs.insert(run.id.clone(), run);
        }
        let (kept, has_read) = (Mutex::new(index), Condvar::new());
        Self(Arc::new(SharedRuns { root, machine, kept, has_read, history: Mutex::new(history) }))
    }

    /// Refreshes periodically, for as long as another reference to this exists.
    pub(crate) fn look_now_and_then(&self) -> std::io::Result<()> {
        self.look();
        drop(self.read_unread(Duration::ZERO));
        let shared = Arc::downgrade(&self.0);
        let named = thread::Builder::new().name("looks".to_owned());
        let thread = named.spawn(move || {
            while let Some(shared) = shared.upgrade() {
                let runs = Self(shared);
                runs.look();
                drop(runs.read_unread(Duration::ZERO));
                drop(runs);
                thread::sleep(BETWEEN_LOOKS);
            }
        });
        thread.map(drop)
    }

    /// The served folder.
    pub(crate) fn root(&self) -> &Path {
        &self.0.root
    }

    /// Name of the served folder.
    pub(crate) fn root_name(&self) -> String {
        let name = self.0.root.file_name();
        name.map_or_else(|| "set".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// The program's operations on runs.
    pub(crate) fn machine(&self) -> &dyn RunControl {
        &*self.0.machine
    }

    /// All runs, newest first; unread ones come before them.
    pub(crate) fn all(&self) -> Vec<Listed> {
        self.look();
        let mut runs: Vec<Listed> = self.read_unread(PATIENCE).runs.values().cloned().collect();
        runs.sort_by_key(|run| std::cmp::Reverse(run.order()));
        runs
    }

    /// The runs as of the last walk, sorted by name; does not wait.
    pub(crate) fn known(&self) -> Vec<Listed> {
        self.kept().runs.values().cloned().collect()
    }

    /// The folders of the fleet runs, by name.
    pub(crate) fn fleets(&self) -> BTreeMap<String, PathBuf> {
        self.look();
        self.kept().fleets.clone()
    }

    /// The run of this name, if the folder has one.
    pub(crate) fn find(&self, id: &str) -> Option<Listed> {
        self.look();
        self.kept().runs.get(id).cloned()
    }

    /// The current state of the run of this name, if the last walk found it live. A watcher polls
    /// every second, so this does not walk the whole folder.
    pub(crate) fn find_live(&self, id: &str) -> Option<Listed> {
        let run = self.kept().runs.get(id).filter(|run| run.is_live).cloned()?;
        self.0.machine.is_live(&run.folder.join(JOURNAL)).then_some(run)
    }

    /// The documents of a kind in the folder.
    pub(crate) fn documents(&self, kind: DocumentKind) -> Vec<String> {
        self.look();
        let mut documents: Vec<String> = self.kept().documents.iter().cloned().collect();
        documents.retain(|id| {
            let path = self.0.root.join(id);
            self.is_inside(&path) && self.0.machine.kind(&path) == Some(kind)
        });
        documents
    }

    /// The path of the document of this name, if the folder has one.
    pub(crate) fn document(&self, id: &str) -> Option<PathBuf> {
        self.look();
        if !self.kept().documents.contains(id) {
            // It may have been put there since the last walk.
            self.look_anew();
        }
        let is_there = self.kept().documents.contains(id);
        is_there.then(|| self.0.root.join(id)).filter(|path| self.is_inside(path))
    }

    /// Refreshes now, however recent the last walk.
    pub(crate) fn look_anew(&self) {
        self.kept().looked = None;
        self.look();
    }

    /// The whole record of a run, and its verdict; or why it cannot be read.
    pub(crate) fn load(&self, run: &Listed) -> Result<(RunRecord, Verdict), String> {
        let journal = run.folder.join(JOURNAL);
        if !self.is_inside(&journal) {
            return Err(format!("{}: leads out of the served folder", run.id));
        }
        let bytes = fs::read(&journal).map_err(|error| format!("{}: {error}", run.id))?;
        let mut record = RunRecord::load(&bytes).map_err(|error| format!("{}: {error}", run.id))?;
        record.sequel = self.machine().sequel(&run.folder, &record);
        let verdict = verdict::judge(&record);
        Ok((record, verdict))
    }

    /// Loads a run with the labels that it was given afterwards, for lists and comparisons.
    pub(crate) fn load_labelled(&self, run: &Listed) -> Result<(RunRecord, Verdict), String> {
        let (mut record, verdict) = self.load(run)?;
        apply_labels(&run.folder, &mut record.start);
        Ok((record, verdict))
    }

    /// The follower of a live run's journal, shared by all watchers.
    pub(crate) fn tail(&self, run: &Listed) -> Arc<Mutex<JournalTail>> {
        let mut kept = self.kept();
        let tail = kept.tails.entry(run.id.clone());
        Arc::clone(
            tail.or_insert_with(|| {
                Arc::new(Mutex::new(JournalTail::new(run.folder.join(JOURNAL))))
            }),
        )
    }

    /// Applies `look` to the present state of a live run.
    pub(crate) fn followed<T>(&self, run: &Listed, look: impl Fn(&RunRecord) -> T) -> Option<T> {
        let tail = self.tail(run);
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.follow();
        tail.record().map(look)
    }

    /// The search for runs follows no links; this check catches links created since.
    pub(crate) fn is_inside(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|real| real == path && real.starts_with(&self.0.root))
    }

    fn kept(&self) -> MutexGuard<'_, RunIndex> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Walks the folder, unless it was walked very recently.
    fn look(&self) {
        if self.kept().looked.is_some_and(|looked| looked.elapsed() < FRESH) {
            return;
        }
        let found = walked(&self.0.root);
        let mut kept = self.kept();
        let mut before = std::mem::take(&mut kept.runs);
        for (id, folder, stamp) in found.runs {
            let old = before.remove(&id).filter(|old| old.stamp == stamp && !old.is_live);
            let old = old.map(|old| Listed { folder: folder.clone(), ..old });
            let run = old.unwrap_or_else(|| self.changed(id, folder, stamp));
            kept.runs.insert(run.id.clone(), run);
        }
        kept.documents = found.documents;
        kept.fleets = found.fleets;
        kept.looked = Some(Instant::now());
        let RunIndex { runs, tails, .. } = &mut *kept;
        tails.retain(|id, _| runs.get(id).is_some_and(|run| run.is_live));
    }

    /// A run whose journal is new or has grown.
    fn changed(&self, id: String, folder: PathBuf, stamp: JournalStamp) -> Listed {
        let is_live = self.0.machine.is_live(&folder.join(JOURNAL));
        Listed { id, folder, is_live, known: Known::Unread, stamp }
    }

    /// Reads unread journals on a separate thread, and waits for up to `patience`.
    fn read_unread(&self, patience: Duration) -> MutexGuard<'_, RunIndex> {
        let mut kept = self.kept();
        if kept.unread().is_some() && !kept.is_reading {
            let all = self.clone();
            let named = thread::Builder::new().name("journals".to_owned());
            kept.is_reading = named.spawn(move || all.read_all()).is_ok();
        }
        let waited = self
            .0
            .has_read
            .wait_timeout_while(kept, patience, |kept| kept.is_reading && kept.unread().is_some());
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn read_all(&self) {
        let mut unstored = 0;
        while let Some(run) = self.next_unread() {
            let known = self.read(&run);
            let mut kept = self.kept();
            let place = kept.runs.get_mut(&run.id).filter(|now| now.stamp == run.stamp);
            if let Some(place) = place {
                place.known = known;
            }
            drop(kept);
            unstored += 1;
            if unstored >= STORED_AT_ONCE {
                self.store();
                unstored = 0;
            }
        }
        self.store();
    }

    /// The next run whose journal must be read; if there is none, notifies waiters.
    fn next_unread(&self) -> Option<Listed> {
        let mut kept = self.kept();
        let next = kept.unread().cloned();
        if next.is_none() {
            kept.is_reading = false;
            self.0.has_read.notify_all();
        }
        next
    }

    /// Stores the summaries of runs that have ended. If that fails, the next start reads the
    /// journals again.
    fn store(&self) {
        let known = self
            .kept()
            .runs
            .values()
            .filter(|run| !run.is_live && !matches!(run.known, Known::Unread))
            .map(|run| (run.id.clone(), (run.stamp, run.known.clone())))
            .collect();
        let mut history = self.0.history.lock().unwrap_or_else(PoisonError::into_inner);
        if history.as_mut().is_some_and(|history| history.keep(&known).is_err()) {
            *history = None;
        }
    }

    fn read(&self, run: &Listed) -> Known {
        if run.is_live {
            let tail = self.tail(run);
            let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
            // Reads the journal so far, which may be long.
            tail.follow();
            return match tail.record() {
                Some(record) => Known::Summary(Arc::new(summary::of_live(record))),
                None => Known::Unreadable("its journal has not begun".to_owned()),
            };
        }
        match self.load_labelled(run) {
            Ok((record, verdict)) => Known::Summary(Arc::new(summary::of(&record, &verdict))),
            Err(why) => Known::Unreadable(why),
        }
    }
}

impl Listed {
    /// A run of a test.
    #[cfg(test)]
    pub(crate) fn made_up(id: &str, is_live: bool, known: Known) -> Self {
        Self {
            id: id.to_owned(),
            folder: PathBuf::new(),
            is_live,
            known,
            stamp: JournalStamp::default(),
        }
    }

    /// Its summary, once its journal has been read.
    pub(crate) fn line(&self) -> Option<&RunLine> {
        match &self.known {
            Known::Summary(line) => Some(line),
            Known::Unread | Known::Unreadable(_) => None,
        }
    }

    /// Whether the run matches a search; an unread or unreadable run is matched only by its folder.
    pub(crate) fn matches(&self, query: &str) -> bool {
        self.line().map_or_else(|| self.id.contains(query), |line| line.matches(&self.id, query))
    }

    /// The run as JSON for programs.
    pub(crate) fn json(&self) -> Value {
        let (written_ns, bare) = (self.written_ns(), RunEntry::default());
        match &self.known {
            Known::Summary(line) => line.json(&self.id, self.is_live, written_ns),
            Known::Unread => bare.json(&self.id, RunState::Unread, written_ns),
            Known::Unreadable(why) => {
                let mut entry = bare.json(&self.id, RunState::Unreadable, written_ns);
                entry["error"] = why.as_str().into();
                entry
            }
        }
    }

    /// When its journal was last written, since 1970.
    pub(crate) fn written_ns(&self) -> Option<u64> {
        self.stamp.changed_ns.and_then(|at| u64::try_from(at).ok())
    }

    /// Start of the run; for a simulation, the time when it was made, since its own clock always
    /// starts at the same time.
    pub(crate) fn began_ns(&self) -> Option<u64> {
        let line = self.line()?;
        let made_ns = self.written_ns().filter(|_| line.simulated.is_some());
        line.started_ns.or(made_ns)
    }

    fn order(&self) -> u64 {
        match &self.known {
            Known::Summary(_) => self.began_ns().unwrap_or(0),
            _ => u64::MAX,
        }
    }
}
