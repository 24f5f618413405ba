//! Runs this host's ends of reseeds, on threads alongside the load.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};

use fleet::{CopyReport, CopySide};
use host::StopFlag;
use host::crew;
use host::reseed::{SeedEnd, seed};
use plan::Overrides;

use console::documents::read_plan;
use console::error::CommandError;

/// The copies in progress.
pub(super) struct RunningReseeds {
    sender: Sender<CopyReport>,
    ended: Receiver<CopyReport>,
    stop: StopFlag,
}

impl Default for RunningReseeds {
    fn default() -> Self {
        let (sender, ended) = channel();
        Self { sender, ended, stop: StopFlag::default() }
    }
}

impl RunningReseeds {
    /// Starts one end of a copy for the run in `folder`.
    pub(super) fn start(
        &self,
        folder: &Path,
        (database, side): (u32, CopySide),
        bytes_per_second: u64,
    ) -> Result<(), CommandError> {
        let plan = read_plan(&folder.join("plan.toml"), &Overrides::default())?;
        let Some(of) = plan.databases.into_iter().nth(database as usize) else {
            return Err(CommandError::new(format!("the plan has no database {}", database + 1)));
        };
        let (sender, stop) = (self.sender.clone(), self.stop.clone());
        crew::start_thread("reseed", move || {
            let folder = PathBuf::from(&of.folder);
            let is_target = side == CopySide::Target;
            let end = SeedEnd { folder: &folder, file: &of.file, is_target, bytes_per_second };
            let seeded = seed(end, &stop);
            let elapsed_ns = u64::try_from(seeded.elapsed.as_nanos()).unwrap_or(u64::MAX);
            let (bytes, fault) = (seeded.bytes, seeded.fault);
            // An agent that has exited receives no reports.
            let _ = sender.send(CopyReport { database, side, bytes, elapsed_ns, fault });
        })?;
        Ok(())
    }

    /// Reports of copies that have ended since the last call.
    pub(super) fn reports(&self) -> Vec<CopyReport> {
        self.ended.try_iter().collect()
    }

    /// Ends every copy in progress.
    pub(super) fn stop(&mut self) {
        self.stop.set();
        self.stop = StopFlag::default();
    }
}
