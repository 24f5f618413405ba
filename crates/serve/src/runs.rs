//! The runs and plans of the folder, kept in memory and looked for anew when a request asks: the
//! folders are the truth, and what has not changed since it was read is not read again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use record::{JOURNAL, RunRecord};
use verdict::Verdict;

use crate::RunControl;
use crate::live::JournalTail;
use crate::summary::{self, RunLine};

/// Runs lie in the folder, in one of its folders, or in one of theirs, as `list` looks for them.
const DEEPEST: u32 = 3;

/// What was found so shortly ago is not looked for again.
const FRESH: Duration = Duration::from_millis(500);

/// So long does a list wait for journals that have changed; it shows the others meanwhile.
const PATIENCE: Duration = Duration::from_millis(100);

/// Length and time of the last change of a journal.
type Stamp = (u64, Option<SystemTime>);

/// A run as far as it is known.
#[derive(Clone)]
pub(crate) struct Listed {
    /// Its folder below the served one, with `/` between the parts; requests name it so.
    pub id: String,
    /// Where it is.
    pub folder: PathBuf,
    /// Whether it goes on.
    pub is_live: bool,
    /// What is known of it.
    pub known: Known,
    stamp: Stamp,
}

/// What is known of a run.
#[derive(Clone)]
pub(crate) enum Known {
    /// Its journal is still to be read.
    Unread,
    /// Its journal says so.
    Summary(Arc<RunLine>),
    /// Its journal cannot be read, and why.
    Unreadable(String),
}

#[derive(Default)]
struct RunIndex {
    runs: BTreeMap<String, Listed>,
    plans: BTreeSet<String>,
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

/// The runs and plans of a folder.
#[derive(Clone)]
pub(crate) struct ServedRuns(Arc<SharedRuns>);

struct SharedRuns {
    root: PathBuf,
    machine: Box<dyn RunControl>,
    kept: Mutex<RunIndex>,
    has_read: Condvar,
}

/// What a walk through the folder has found.
#[derive(Default)]
struct WalkedFolder {
    runs: Vec<(String, PathBuf, Stamp)>,
    plans: BTreeSet<String>,
}

impl ServedRuns {
    /// Of `root`, which is an absolute path without links.
    pub(crate) fn new(root: PathBuf, machine: Box<dyn RunControl>) -> Self {
        let (kept, has_read) = (Mutex::default(), Condvar::new());
        Self(Arc::new(SharedRuns { root, machine, kept, has_read }))
    }

    /// The served folder.
    pub(crate) fn root(&self) -> &Path {
        &self.0.root
    }

    /// What the program can do with runs.
    pub(crate) fn machine(&self) -> &dyn RunControl {
        &*self.0.machine
    }

    /// All runs, the newest first; those that are not read yet stand in front.
    pub(crate) fn all(&self) -> Vec<Listed> {
        self.look();
        let mut runs: Vec<Listed> = self.read_unread().runs.values().cloned().collect();
        runs.sort_by_key(|run| std::cmp::Reverse(run.started_ns()));
        runs
    }

    /// The run of this name, if the folder has one.
    pub(crate) fn find(&self, id: &str) -> Option<Listed> {
        self.look();
        self.kept().runs.get(id).cloned()
    }

    /// The plans that lie in the folder.
    pub(crate) fn plans(&self) -> Vec<String> {
        self.look();
        self.kept().plans.iter().cloned().collect()
    }

    /// The path of the plan of this name, if the folder has one.
    pub(crate) fn plan(&self, id: &str) -> Option<PathBuf> {
        self.look();
        let is_there = self.kept().plans.contains(id);
        is_there.then(|| self.0.root.join(id)).filter(|path| self.is_inside(path))
    }

    /// Looks for what has been made since, however shortly ago the last look was.
    pub(crate) fn look_anew(&self) {
        self.kept().looked = None;
        self.look();
    }

    /// The whole record of a run, and its verdict; why not, where it cannot be read.
    pub(crate) fn load(&self, run: &Listed) -> Result<(RunRecord, Verdict), String> {
        let journal = run.folder.join(JOURNAL);
        if !self.is_inside(&journal) {
            return Err(format!("{}: leads out of the served folder", run.id));
        }
        let bytes = fs::read(&journal).map_err(|error| format!("{}: {error}", run.id))?;
        let record = RunRecord::load(&bytes).map_err(|error| format!("{}: {error}", run.id))?;
        let verdict = verdict::judge(&record);
        Ok((record, verdict))
    }

    /// What follows the journal of a live run, shared by all who watch it.
    pub(crate) fn tail(&self, run: &Listed) -> Arc<Mutex<JournalTail>> {
        let mut kept = self.kept();
        let tail = kept.tails.entry(run.id.clone());
        Arc::clone(
            tail.or_insert_with(|| {
                Arc::new(Mutex::new(JournalTail::new(run.folder.join(JOURNAL))))
            }),
        )
    }

    /// Links are not followed when runs are looked for; this sees those that came later.
    fn is_inside(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|real| real == path && real.starts_with(&self.0.root))
    }

    fn kept(&self) -> MutexGuard<'_, RunIndex> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Walks through the folder where that was not done just now.
    fn look(&self) {
        if self.kept().looked.is_some_and(|looked| looked.elapsed() < FRESH) {
            return;
        }
        let mut found = WalkedFolder::default();
        // What cannot be looked into holds no run for this user.
        let _ = walk(&self.0.root, "", DEEPEST, &mut found);
        let mut kept = self.kept();
        let mut before = std::mem::take(&mut kept.runs);
        for (id, folder, stamp) in found.runs {
            let old = before.remove(&id).filter(|old| old.stamp == stamp && !old.is_live);
            let run = old.unwrap_or_else(|| self.changed(id, folder, stamp));
            kept.runs.insert(run.id.clone(), run);
        }
        kept.plans = found.plans;
        kept.looked = Some(Instant::now());
        let RunIndex { runs, tails, .. } = &mut *kept;
        tails.retain(|id, _| runs.get(id).is_some_and(|run| run.is_live));
    }

    /// A run whose journal is new or has grown.
    fn changed(&self, id: String, folder: PathBuf, stamp: Stamp) -> Listed {
        let is_live = self.0.machine.is_live(&folder.join(JOURNAL));
        Listed { id, folder, is_live, known: Known::Unread, stamp }
    }

    /// Has what is unread read on a thread of its own, and waits for a while.
    fn read_unread(&self) -> MutexGuard<'_, RunIndex> {
        let mut kept = self.kept();
        if kept.unread().is_some() && !kept.is_reading {
            let all = self.clone();
            let named = thread::Builder::new().name("journals".to_owned());
            kept.is_reading = named.spawn(move || all.read_all()).is_ok();
        }
        let waited = self
            .0
            .has_read
            .wait_timeout_while(kept, PATIENCE, |kept| kept.is_reading && kept.unread().is_some());
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn read_all(&self) {
        loop {
            let mut kept = self.kept();
            let Some(run) = kept.unread().cloned() else {
                kept.is_reading = false;
                self.0.has_read.notify_all();
                return;
            };
            drop(kept);
            let known = self.read(&run);
            let mut kept = self.kept();
            let place = kept.runs.get_mut(&run.id).filter(|now| now.stamp == run.stamp);
            if let Some(place) = place {
                place.known = known;
            }
        }
    }

    fn read(&self, run: &Listed) -> Known {
        if run.is_live {
            let tail = self.tail(run);
            let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
            // What a journal says so far; the whole of it may be long.
            tail.follow();
            return match tail.record() {
                Some(record) => Known::Summary(Arc::new(summary::of_live(record))),
                None => Known::Unreadable("its journal has not begun".to_owned()),
            };
        }
        match self.load(run) {
            Ok((record, verdict)) => Known::Summary(Arc::new(summary::of(&record, &verdict))),
            Err(why) => Known::Unreadable(why),
        }
    }
}

impl Listed {
    fn started_ns(&self) -> u64 {
        match &self.known {
            Known::Summary(summary) => summary.started_ns.unwrap_or(0),
            _ => u64::MAX,
        }
    }
}

/// Finds journals and plans below `folder`, which is `name` below the served one. Links are neither
/// followed nor taken for files.
fn walk(folder: &Path, name: &str, depth: u32, found: &mut WalkedFolder) -> io::Result<()> {
    let journal = folder.join(JOURNAL);
    if let Some(stamp) = file_stamp(&journal) {
        let id = if name.is_empty() { last_part(folder) } else { name.to_owned() };
        found.runs.push((id, folder.to_path_buf(), stamp));
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let own = entry.file_name();
        // A name that is no text cannot be asked for.
        let Some(own) = own.to_str() else {
            continue;
        };
        let id = if name.is_empty() { own.to_owned() } else { format!("{name}/{own}") };
        if kind.is_file() && Path::new(own).extension().is_some_and(|kind| kind == "toml") {
            found.plans.insert(id);
        } else if kind.is_dir() && depth > 0 {
            let _ = walk(&entry.path(), &id, depth - 1, found);
        }
    }
    Ok(())
}

/// What the served folder is called, where it is a run itself.
fn last_part(folder: &Path) -> String {
    folder.file_name().map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn file_stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.len(), metadata.modified().ok()))
}
