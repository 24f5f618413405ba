//! Files that people name: plans in, reports out.

use std::fs;
use std::path::Path;

use plan::{Overrides, Plan};

use crate::error::CommandError;

/// Reads the plan at `path` with what the command line overrides.
pub fn read_plan(path: &Path, overrides: &Overrides) -> Result<Plan, CommandError> {
    let text =
        fs::read_to_string(path).map_err(|error| CommandError::file(path, "read", &error))?;
    Ok(Plan::parse_with(
        &path.display().to_string(),
        &text,
        overrides,
    )?)
}

/// Writes a whole file.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    fs::write(path, bytes).map_err(|error| CommandError::file(path, "write", &error))
}
