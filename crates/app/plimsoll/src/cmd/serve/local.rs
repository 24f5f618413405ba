//! The server's operations on this machine: check whether a run is live, start one, stop one, and
//! answer requests that need no run.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use host::simulate::arrays;
use host::{STOP_REQUEST, apart, is_live};
use plan::{Overrides, TestKind};
use record::{RunRecord, Sequel};
use serve::{
    CacheAnswer, DocumentKind, FillProgress, Fillings, FleetState, GuideQuestion, RunQuestion,
    SimulationQuestion, SizingQuestion,
};

use super::{guide, questions};
use crate::cmd::sequel::sequel_of;
use console::documents::read_plan;
use console::error::CommandError;
use fleets::show::state as fleet_state;

/// The runs of this machine.
#[derive(Default)]
pub(super) struct LocalRuns {
    /// Held while a run is being started: two loads at a time would disturb each other.
    starting: Mutex<()>,
    fillings: Fillings,
    /// Flash of the caches to show.
    caches: Vec<PathBuf>,
}

impl LocalRuns {
    /// Creates it with the caches on these flash devices.
    pub(super) fn with_caches(caches: &[PathBuf]) -> Self {
        Self { caches: caches.to_vec(), ..Self::default() }
    }
}

impl serve::RunControl for LocalRuns {
    fn is_live(&self, journal: &Path) -> bool {
        is_live(journal)
    }

    fn sequel(&self, folder: &Path, run: &RunRecord) -> Sequel {
        sequel_of(folder, run)
    }

    fn start(&self, question: &RunQuestion, root: &Path) -> Result<PathBuf, String> {
        let Ok(_starting) = self.starting.try_lock() else {
            return Err("Another run is just being started; wait for it.".to_owned());
        };
        let run = questions::run(question, root).map_err(sentence)?;
        apart::begin(&run.words, &run.journal).map_err(|error| error.to_string())?;
        Ok(run.folder)
    }

    fn resume(&self, folder: &Path) -> Result<(), String> {
        let Ok(_starting) = self.starting.try_lock() else {
            return Err("Another run is just being started; wait for it.".to_owned());
        };
        apart::resume(folder).map_err(|error| error.to_string())
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
            let child = apart::start(&words).map_err(|error| error.to_string())?;
            Ok(|| apart::end_of(child).map_err(|error| error.to_string()))
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
        apart::begin(&simulation.words, &simulation.journal).map_err(|error| error.to_string())?;
        Ok(simulation.folder)
    }

    fn caches(&self) -> Vec<CacheAnswer> {
        self.caches
            .iter()
            .map(|flash| CacheAnswer {
                flash: flash.display().to_string(),
                status: volumes::cache::state_of(flash).map_err(sentence),
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
