//! The server's operations on this machine: check whether a run is live, start one, stop one, and
//! answer requests that need none.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use host::simulate::arrays;
use host::{STOP_REQUEST, is_live, system};
use plan::{Overrides, TestKind};
use record::JOURNAL;
use serve::{
    CacheAnswer, DocumentKind, FillProgress, FleetState, GuideQuestion, RunQuestion,
    SimulationQuestion, SizingQuestion,
};

use super::filling::Fillings;
use super::{guide, questions};
use crate::cmd::fleet::show::state as fleet_state;
use crate::console;
use crate::documents::read_plan;
use crate::error::CommandError;

/// A run has its journal sooner, or says why not.
const BEGINS_WITHIN: Duration = Duration::from_secs(20);

const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// The runs of this machine.
#[derive(Default)]
pub(super) struct LocalRuns {
    /// Held while one is being started: two loads at a time would disturb each other.
    starting: Mutex<()>,
    fillings: Fillings,
    /// Flash of the caches to show.
    caches: Vec<PathBuf>,
}

impl LocalRuns {
    /// With the caches on this flash.
    pub(super) fn with_caches(caches: &[PathBuf]) -> Self {
        Self { caches: caches.to_vec(), ..Self::default() }
    }
}

impl serve::RunControl for LocalRuns {
    fn is_live(&self, journal: &Path) -> bool {
        is_live(journal)
    }

    fn start(&self, question: &RunQuestion, root: &Path) -> Result<PathBuf, String> {
        let Ok(_starting) = self.starting.try_lock() else {
            return Err("Another run is just being started; wait for it.".to_owned());
        };
        let run = questions::run(question, root).map_err(sentence)?;
        begin(&run.words, &run.journal)?;
        Ok(run.folder)
    }

    fn resume(&self, folder: &Path) -> Result<(), String> {
        let Ok(_starting) = self.starting.try_lock() else {
            return Err("Another run is just being started; wait for it.".to_owned());
        };
        let words: [&OsStr; 3] = ["run".as_ref(), "--resume".as_ref(), folder.as_os_str()];
        let journal = folder.join(JOURNAL);
        let before = state_of(&journal);
        let child = spawn(&words).map_err(|error| not_started(&error))?;
        wait_until_resumed(&journal, before, &ended(child)?)
    }

    fn tests(&self) -> Vec<&'static str> {
        TestKind::NAMES.to_vec()
    }

    fn guide(&self, question: &GuideQuestion, root: &Path) -> Result<(), String> {
        let plan = guide::write_plan(question, root).map_err(sentence)?;
        self.prepare(&plan)
    }

    fn prepare(&self, plan: &Path) -> Result<(), String> {
        read_plan(plan, &Overrides::default()).map_err(|error| error.to_string())?;
        self.fillings.begin(plan, || {
            let words: [&OsStr; 2] = ["prepare".as_ref(), plan.as_os_str()];
            spawn(&words).map_err(|error| not_started(&error))
        })
    }

    fn preparation(&self) -> Option<FillProgress> {
        self.fillings.latest()
    }

    fn stop(&self, folder: &Path) -> Result<(), String> {
        let request = folder.join(STOP_REQUEST);
        match File::create_new(&request) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(sentence(CommandError::file(&request, "create", &error)))
            }
            _ => Ok(()),
        }
    }

    fn fleet(&self, folder: &Path) -> Option<FleetState> {
        fleet_state(folder)
    }

    fn kind(&self, document: &Path) -> Option<DocumentKind> {
        questions::kind(document)
    }

    fn size(&self, question: &SizingQuestion) -> Result<String, String> {
        questions::size(question).map_err(sentence)
    }

    fn arrays(&self) -> Vec<&'static str> {
        arrays::names()
    }

    fn simulate(&self, question: &SimulationQuestion, root: &Path) -> Result<PathBuf, String> {
        let Ok(_starting) = self.starting.try_lock() else {
            return Err("Something else is just being started; wait for it.".to_owned());
        };
        let simulation = questions::simulation(question, root).map_err(sentence)?;
        begin(&simulation.words, &simulation.journal)?;
        Ok(simulation.folder)
    }

    fn caches(&self) -> Vec<CacheAnswer> {
        self.caches
            .iter()
            .map(|flash| CacheAnswer {
                flash: flash.display().to_string(),
                status: crate::cmd::cache::state_of(flash).map_err(sentence),
            })
            .collect()
    }

    fn remark(&self, text: &str) {
        console::complain(text);
    }
}

/// The message of an error.
fn sentence(error: CommandError) -> String {
    match error {
        CommandError::Sentence(text)
        | CommandError::Usage(text)
        | CommandError::Damage(text)
        | CommandError::Design(text) => text,
        CommandError::BrokenPipe => "its output was closed".to_owned(),
    }
}

/// Starts this program with these words, and waits until it has begun the journal.
fn begin(words: &[OsString], journal: &Path) -> Result<(), String> {
    let child = spawn(words).map_err(|error| not_started(&error))?;
    wait_for(journal, &ended(child)?)
}

fn not_started(error: &io::Error) -> String {
    format!("plimsoll cannot start itself: {error}; end other programs and try again")
}

/// This program once more, which neither Ctrl-C here nor the end of this one ends.
fn spawn(words: &[impl AsRef<OsStr>]) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--quiet").args(words);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    system::set_apart(&mut command);
    command.spawn()
}

/// Reports the run's message once it has ended.
fn ended(child: Child) -> Result<Receiver<String>, String> {
    let (sender, ends) = mpsc::channel();
    let spawned = thread::Builder::new().name("run".to_owned()).spawn(move || {
        let said = child.wait_with_output().map(|output| output.stderr).unwrap_or_default();
        // After the wait has ended, the journal has begun and contains the rest.
        let _ = sender.send(String::from_utf8_lossy(&said).into_owned());
    });
    spawned.map(|_| ends).map_err(|error| format!("cannot start a thread: {error}"))
}

/// Length of a journal and when it was last written; `None` if it cannot be known.
fn state_of(journal: &Path) -> Option<(u64, Option<SystemTime>)> {
    fs::metadata(journal).ok().map(|metadata| (metadata.len(), metadata.modified().ok()))
}

/// Waits until a resumed run has written to its journal, which was in the state `before`. Holding
/// the journal is not enough: until it writes, the run may still refuse to go on, and the list
/// takes an unchanged journal for that of a run that has ended.
fn wait_until_resumed(
    journal: &Path,
    before: Option<(u64, Option<SystemTime>)>,
    ends: &Receiver<String>,
) -> Result<(), String> {
    let began = Instant::now();
    while began.elapsed() < BEGINS_WITHIN {
        if state_of(journal) != before {
            return Ok(());
        }
        match ends.recv_timeout(BETWEEN_LOOKS) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(said) if said.trim().is_empty() => return Ok(()),
            Ok(said) => return Err(said.trim().trim_start_matches("plimsoll: ").to_owned()),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Err("The run has not gone on within 20 s; look at the list later.".to_owned())
}

/// Waits until the run has begun its journal.
fn wait_for(journal: &Path, ends: &Receiver<String>) -> Result<(), String> {
    let began = Instant::now();
    while began.elapsed() < BEGINS_WITHIN {
        if fs::metadata(journal).is_ok_and(|metadata| metadata.len() > 0) {
            return Ok(());
        }
        match ends.recv_timeout(BETWEEN_LOOKS) {
            Err(RecvTimeoutError::Timeout) => {}
            // It may have begun and ended between two looks.
            Ok(_) if journal.exists() => return Ok(()),
            Ok(said) => return Err(said.trim().trim_start_matches("plimsoll: ").to_owned()),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Err("The run has not begun within 20 s; look at the list later.".to_owned())
}
