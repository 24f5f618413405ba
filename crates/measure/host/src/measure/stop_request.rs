//! A stop requested by another program: a file in the run folder, since signals need the process
//! and differ between systems. A separate thread checks for it, as the folder may be on a stalled
//! volume.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::questions::Questions;
use crate::error::HostError;

/// The file's name in a run folder.
pub const STOP_REQUEST: &str = "stop-requested";

const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// Looks for the request.
pub struct StopRequest {
    folder: PathBuf,
    looks: Questions<bool>,
    looked: Instant,
}

impl StopRequest {
    /// Starts checking for the run in `folder`. A request left over from an earlier part of the run
    /// does not apply to this one.
    pub fn start(folder: &Path) -> Result<Self, HostError> {
        let looks = Questions::start()?;
        let _ = fs::remove_file(folder.join(STOP_REQUEST));
        Ok(Self { folder: folder.to_path_buf(), looks, looked: Instant::now() })
    }

    /// Whether a stop was requested since the last call; removes the request.
    pub fn is_made(&mut self) -> bool {
        if self.looked.elapsed() >= BETWEEN_LOOKS && self.looks.waiting().is_none() {
            self.looked = Instant::now();
            let request = self.folder.join(STOP_REQUEST);
            let look =
                move || request.symlink_metadata().is_ok() && fs::remove_file(&request).is_ok();
            self.looks.ask(&self.folder, look);
        }
        self.looks.answers().contains(&true)
    }
}
