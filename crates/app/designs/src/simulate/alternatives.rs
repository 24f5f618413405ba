//! Simulates one plan on several variants of an array, one after the other.

use std::path::Path;

use host::Measured;
use plan::deployment::Replacement;

use super::flags::SimulateFlags;
use super::{STOPS_A_SIMULATION, SimulationRequest, array_text, overrides};
use console::error::CommandError;
use console::signals;
use console::term::ProgressLine;

/// Runs one simulation for each of these changes to the array, in order, each in a subfolder of
/// `folder`. Only progress is printed.
pub fn alternatives(
    flags: &SimulateFlags,
    all: &[Vec<Replacement>],
    folder: &Path,
    quiet: bool,
) -> Result<Vec<Measured>, CommandError> {
    let overrides = overrides(flags)?;
    let (file, text) = array_text(&flags.array)?;
    let stop = signals::install(STOPS_A_SIMULATION)?;
    let request = SimulationRequest::new(flags, &overrides, (&file, &text), quiet)?;
    for changes in all {
        request.array(changes)?;
    }
    let mut progress = ProgressLine::new("simulating", quiet);
    let mut measured = Vec::new();
    for (index, changes) in all.iter().enumerate() {
        progress.text(&format!("{} of {}", index + 1, all.len()));
        let within = folder.join(format!("{:02}", index + 1));
        measured.push(request.one(&request.seeds[0], (changes, &within), &stop, |_| ())?);
        if stop.is_set() {
            return Err(CommandError::new("stopped before the last simulation"));
        }
    }
    Ok(measured)
}
