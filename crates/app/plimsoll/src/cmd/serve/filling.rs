//! Databases that a page has filled: one plan at a time, by this program once more.

use std::path::Path;
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use serve::FillProgress;

/// The last filling.
#[derive(Default)]
pub(super) struct Fillings(Arc<Mutex<Option<Filling>>>);

struct Filling {
    began: Instant,
    told: FillProgress,
}

impl Fillings {
    /// Begins to fill the databases of `plan` by the process that `spawn` starts; refuses while
    /// others are being filled.
    pub(super) fn begin(
        &self,
        plan: &Path,
        spawn: impl FnOnce() -> Result<Child, String>,
    ) -> Result<(), String> {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if latest.as_ref().is_some_and(|filling| filling.told.ended.is_none()) {
            return Err("Other databases are being prepared. Wait until they are ready.".to_owned());
        }
        let child = spawn()?;
        let plan = plan.file_name().map(|name| name.to_string_lossy().into_owned());
        let began = Instant::now();
        let told =
            FillProgress { plan: plan.unwrap_or_default(), took: began.elapsed(), ended: None };
        *latest = Some(Filling { began, told });
        drop(latest);
        let shared = Arc::clone(&self.0);
        let named = thread::Builder::new().name("filling".to_owned());
        let waiting = named.spawn(move || {
            let ended = end_of(child);
            let mut latest = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(filling) = &mut *latest {
                filling.told.took = filling.began.elapsed();
                filling.told.ended = Some(ended);
            }
        });
        waiting.map(drop).map_err(|error| format!("cannot start a thread: {error}"))
    }

    /// How far the last one is.
    pub(super) fn latest(&self) -> Option<FillProgress> {
        let latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        latest.as_ref().map(|filling| match filling.told.ended {
            Some(_) => filling.told.clone(),
            None => FillProgress { took: filling.began.elapsed(), ..filling.told.clone() },
        })
    }
}

/// Waits for the process; returns its message if it failed.
fn end_of(child: Child) -> Result<(), String> {
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.trim().trim_start_matches("plimsoll: ").to_owned())
}
