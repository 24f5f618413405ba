//! The steps of a held load, which an agent of a fleet leaves in the folder of the run.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use device::Clock as _;
use device_os::OsClock;
use plan::Plan;
use trial::{LoadStep, LoadSteps};
use units::Nanos;

use super::gate::MEASURE_AT;
use crate::error::HostError;

/// The steps, as a JSON array of [`LoadStep`]s.
pub const LOAD_STEPS: &str = "load-steps.json";

/// Returns the steps in the folder of a run of `plan`; without the file the load is constant. A run
/// that `is_resumed` counts them from where its measurement first began.
pub(super) fn load_steps(
    folder: &Path,
    plan: &Plan,
    is_resumed: bool,
) -> Result<LoadSteps, HostError> {
    let path = folder.join(LOAD_STEPS);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(LoadSteps::default()),
        Err(error) => return Err(HostError::file(&path, "read", &error)),
    };
    let steps: Vec<LoadStep> = serde_json::from_str(&text)
        .map_err(|error| refused(&path, &format!("no load steps: {error}")))?;
    if let Some(step) = steps.iter().find(|step| step.database as usize >= plan.databases.len()) {
        return Err(refused(&path, &format!("the plan has no database {}", step.database + 1)));
    }
    if !steps.is_empty() && plan.workload.target_iops.is_none() {
        return Err(refused(
            &path,
            "a load that changes is held at a rate: give the plan `target_iops` or [mailboxes]",
        ));
    }
    let steps = LoadSteps::new(steps);
    let begun = fs::read_to_string(folder.join(MEASURE_AT)).ok();
    let begun = begun.and_then(|text| text.trim().parse().ok()).map(Nanos);
    Ok(match begun.filter(|_| is_resumed) {
        Some(begun) => steps.begun_at(begun.since(OsClock::new().epoch())),
        None => steps,
    })
}

fn refused(path: &Path, why: &str) -> HostError {
    HostError::new(format!("{}: {why}", path.display()))
}
