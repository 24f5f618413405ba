//! The program that populates or runs for an agent: this executable in a separate process, so that
//! it survives the end of the agent and of the network.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fleet::{AgentJob, AgentStep, ChildReport, Duty, DutyAct};

use console::documents;
use console::error::CommandError;
use console::system as processes;
use host::system;
use host::{LOAD_STEPS, MEASURE_AT, STOP_REQUEST, WAITING, is_live, load};
use trial::LoadStep;

/// Current task of the child program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChildTask {
    Fill,
    WarmUp,
    Measure,
}

/// File with the child's process id, for the next agent.
const PROCESS: &str = "run.pid";

/// The child process of an agent's job.
pub(super) struct Child {
    folder: PathBuf,
    work: ChildTask,
    /// `None` if an earlier agent started it.
    process: Option<std::process::Child>,
}

/// The folder of the record inside a run's folder.
pub(super) fn record_folder(folder: &Path) -> PathBuf {
    folder.join("record")
}

/// Lets the run in `folder` start measuring at an instant on this host's clock.
pub(super) fn release(folder: &Path, at_ns: u64) -> Result<(), CommandError> {
    let path = record_folder(folder).join(MEASURE_AT);
    Ok(documents::replace(&path, at_ns.to_string().as_bytes())?)
}

/// Writes the load steps for the run in `folder`.
pub(super) fn leave_steps(folder: &Path, duties: &[Duty]) -> Result<(), CommandError> {
    let steps: Vec<LoadStep> = duties.iter().filter_map(step_of).collect();
    let text = serde_json::to_string(&steps).map_err(CommandError::from)?;
    Ok(documents::replace(&record_folder(folder).join(LOAD_STEPS), text.as_bytes())?)
}

fn step_of(duty: &Duty) -> Option<LoadStep> {
    let DutyAct::Load { database, percent } = duty.act else { return None };
    Some(LoadStep { after_ns: duty.after_ns, database, percent })
}

impl Child {
    /// Fills the databases of the plan in `folder`.
    pub(super) fn fill(folder: &Path) -> Result<Self, CommandError> {
        let plan = folder.join("plan.toml");
        Self::start(folder, ChildTask::Fill, &["prepare".as_ref(), plan.as_os_str()])
    }

    /// Runs the plan in `folder`, up to the end of the warm-up.
    pub(super) fn run(folder: &Path) -> Result<Self, CommandError> {
        let (plan, record) = (folder.join("plan.toml"), record_folder(folder));
        let words: [&OsStr; 5] = [
            "run".as_ref(),
            plan.as_os_str(),
            "--output".as_ref(),
            record.as_os_str(),
            "--hold-measurement".as_ref(),
        ];
        Self::start(folder, ChildTask::WarmUp, &words)
    }

    /// Resumes the run in `folder` after it was killed.
    pub(super) fn resume(folder: &Path) -> Result<Self, CommandError> {
        let record = record_folder(folder);
        let words: [&OsStr; 3] = ["run".as_ref(), "--resume".as_ref(), record.as_os_str()];
        Self::start(folder, ChildTask::Measure, &words)
    }

    /// Kills the child as a power failure would: nothing is closed.
    pub(super) fn kill(mut self) {
        match &mut self.process {
            Some(process) => {
                let _ = process.kill().and_then(|()| process.wait());
            }
            None => self.kill_found(),
        }
    }

    /// Kills the process that an earlier agent started, if it is still running.
    fn kill_found(&self) {
        let text = fs::read_to_string(self.folder.join(PROCESS)).unwrap_or_default();
        let Ok(process) = text.trim().parse() else { return };
        let own = record_folder(&self.folder);
        let is_own =
            processes::words_of(process).is_some_and(|of| of.contains(&*own.to_string_lossy()));
        if is_own {
            let _ = processes::kill(process);
        }
    }

    /// Adopts the process that an earlier agent started in `folder`.
    pub(super) fn found(job: &AgentJob, folder: &Path) -> Self {
        let work = match job.step {
            AgentStep::Preparing => ChildTask::Fill,
            AgentStep::Measuring => ChildTask::Measure,
            _ => ChildTask::WarmUp,
        };
        Self { folder: folder.to_path_buf(), work, process: None }
    }

    fn start(folder: &Path, work: ChildTask, words: &[&OsStr]) -> Result<Self, CommandError> {
        let errors = folder.join("errors.txt");
        let wrong = CommandError::of_file(&errors, "create");
        let file = File::create(&errors).map_err(wrong)?;
        let program = std::env::current_exe().map_err(wrong)?;
        let mut command = Command::new(&program);
        command.arg("--quiet").args(words);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        system::set_apart(&mut command);
        let process =
            command.spawn().map_err(|error| CommandError::file(&program, "start", &error))?;
        documents::replace(&folder.join(PROCESS), process.id().to_string().as_bytes())?;
        Ok(Self { folder: folder.to_path_buf(), work, process: Some(process) })
    }

    /// Asks the run to end, which closes its databases; a child that fills databases is killed.
    pub(super) fn stop(&mut self, folder: &Path) {
        let _ = File::create(record_folder(folder).join(STOP_REQUEST));
        if self.work == ChildTask::Fill
            && let Some(process) = &mut self.process
        {
            let _ = process.kill();
        }
    }

    /// Returns news about the child since the last call, if any.
    pub(super) fn look(&mut self) -> Option<ChildReport> {
        if let Some(ended) = self.ended() {
            return Some(ended);
        }
        let is_waiting = record_folder(&self.folder).join(WAITING).exists();
        if self.work == ChildTask::WarmUp && is_waiting {
            self.work = ChildTask::Measure;
            return Some(ChildReport::Warm);
        }
        None
    }

    fn ended(&mut self) -> Option<ChildReport> {
        match &mut self.process {
            Some(process) => {
                let status = process.try_wait().ok()??;
                Some(self.report(status.code()))
            }
            // A program started by an earlier agent is known only through its journal.
            None if self.work == ChildTask::Fill => Some(ChildReport::Failed {
                why: "the agent was started anew while databases were filled: run again".to_owned(),
            }),
            None if is_live(&record_folder(&self.folder)) => None,
            None => Some(self.report(None)),
        }
    }

    fn report(&self, code: Option<i32>) -> ChildReport {
        if self.work == ChildTask::Fill {
            return if code == Some(0) { ChildReport::Filled } else { self.failure() };
        }
        match load(&record_folder(&self.folder)) {
            Ok(record) => ChildReport::Ended { status: verdict::judge(&record).exit_code() },
            Err(_) => self.failure(),
        }
    }

    /// Reports the failure in the child's own error message.
    fn failure(&self) -> ChildReport {
        let said = fs::read_to_string(self.folder.join("errors.txt")).unwrap_or_default();
        let said = said.trim().trim_start_matches("plimsoll: ");
        let why = if said.is_empty() { "it ended without a word" } else { said };
        ChildReport::Failed { why: why.to_owned() }
    }
}
