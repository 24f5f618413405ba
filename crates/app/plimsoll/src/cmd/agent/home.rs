//! The folder of an agent: its id, its current job, and the runs that it makes. A killed agent
//! leaves its run behind; the next one finds it here.

use std::fs;
use std::path::{Path, PathBuf};

use fleet::{AgentId, KeptJob, RunId};

use console::documents;
use console::error::CommandError;
use host::system;

use fleets::access::random_digits;

const ID_BYTES: usize = 8;

/// The folder of an agent, held exclusively.
pub(super) struct Home {
    folder: PathBuf,
    id: AgentId,
    /// Kept for as long as the agent lives.
    _hold: system::FolderHold,
}

impl Home {
    /// Opens the folder, and draws an id if it is new. Two agents cannot share a folder.
    pub(super) fn open(folder: &Path) -> Result<Self, CommandError> {
        documents::make_folder(folder)?;
        let folder =
            fs::canonicalize(folder).map_err(|error| CommandError::file(folder, "find", &error))?;
        let system::Hold::Held(hold) = system::hold_folder(&folder) else {
            return Err(CommandError::new(format!(
                "{}: another agent uses this folder; give this one its own with --state",
                folder.display()
            )));
        };
        let id = id(&folder)?;
        Ok(Self { folder, id, _hold: hold })
    }

    pub(super) const fn id(&self) -> &AgentId {
        &self.id
    }

    /// Folder of a run.
    pub(super) fn run_folder(&self, run: &RunId) -> PathBuf {
        self.folder.join("runs").join(run.as_str())
    }

    /// Creates the folder of `run`, with the plan in it.
    pub(super) fn make_run_folder(&self, run: &RunId, plan: &str) -> Result<PathBuf, CommandError> {
        let folder = self.run_folder(run);
        documents::make_folder(&folder.join("record"))?;
        documents::replace(&folder.join("plan.toml"), plan.as_bytes())?;
        Ok(folder)
    }

    /// Records the agent's current job.
    pub(super) fn keep(&self, job: Option<&KeptJob>) -> Result<(), CommandError> {
        let text = serde_json::to_string(&job).map_err(CommandError::from)?;
        Ok(documents::replace(&self.folder.join("job.json"), text.as_bytes())?)
    }

    /// The job of an earlier agent, if any.
    pub(super) fn last_job(&self) -> Option<KeptJob> {
        let text = fs::read_to_string(self.folder.join("job.json")).ok()?;
        serde_json::from_str(&text).ok()?
    }
}

fn id(folder: &Path) -> Result<AgentId, CommandError> {
    let path = folder.join("agent-id");
    if let Ok(text) = fs::read_to_string(&path) {
        return AgentId::try_from(text.trim().to_owned()).map_err(|error| {
            CommandError::new(format!("{}: {error}; remove the file", path.display()))
        });
    }
    let text = random_digits(ID_BYTES)?;
    documents::replace(&path, text.as_bytes())?;
    Ok(AgentId::try_from(text)?)
}
