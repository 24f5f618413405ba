//! The host as its agent reports it, and reasons to refuse a plan here.

use std::fs;
use std::path::{Path, PathBuf};

use fleet::{AgentSurroundings, HostFacts};
use plan::Plan;

use console::error::CommandError;
use host::allowance::{self, DatabaseUse};
use host::system;

/// This machine.
pub(super) struct ThisHost;

impl AgentSurroundings for ThisHost {
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        fs::canonicalize(path).ok()
    }

    fn hindrance(&self, plan: &Plan) -> Option<String> {
        let error = allowance::check(plan, DatabaseUse::Load).err()?;
        Some(error.to_string())
    }
}

/// Resolves links in the folders that plans may write; each must exist.
pub(super) fn real_folders(allowed: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    allowed
        .iter()
        .map(|path| fs::canonicalize(path).map_err(CommandError::of_file(path, "allow")))
        .collect()
}

/// Serial numbers or world-wide names of the disks under `folders`.
fn disks(folders: &[PathBuf]) -> Vec<String> {
    let mut ids: Vec<String> = folders.iter().filter_map(|path| system::disk_id(path)).collect();
    ids.sort();
    ids.dedup();
    ids
}

/// The facts that a controller compares.
pub(super) fn facts(name: Option<&str>, allowed: &[PathBuf]) -> HostFacts {
    let machine = system::machine(String::new());
    HostFacts {
        build: host::version::PROGRAM.to_owned(),
        host: name.map_or(machine.name, str::to_owned),
        machine: machine.id,
        boot: system::boot_id(),
        operating_system: machine.operating_system,
        processors: machine.logical_processors,
        allowed: allowed.iter().map(|path| path.display().to_string()).collect(),
        disks: disks(allowed),
        hindrances: Vec::new(),
    }
}
