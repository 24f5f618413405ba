//! `iscsi destroy`: everything that `apply` made, and nothing else.

use std::fs;
use std::path::Path;

use luns::tgt::removal;
use serde_json::json;

use super::backing::{self, Ownership};
use super::store::Store;
use super::tgtd::Tgtd;
use crate::iscsi::flags::IscsiDestroyFlags;
use console::Console;
use console::Outcome;
use console::error::CommandError;

/// Verifies everything first, then removes it: targets, files, folders, secrets and state.
pub(super) fn run(
    flags: &IscsiDestroyFlags,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    // The document may be gone or changed: only the state lists the existing objects.
    let store = Store::open(&flags.what, "")?;
    if !store.is_begun {
        return Err(CommandError::new(format!(
            "{}: no such state, so that nothing proves what was made here, and nothing is \
             removed; name it by --state",
            store.state_path().display()
        )));
    }
    for record in &store.state.luns {
        if backing::ownership(record)? == Ownership::Foreign {
            return Err(backing::foreign(record));
        }
    }
    let tgtd = Tgtd::at(&store.state.socket);
    let live = tgtd.live()?;
    for step in removal(&store.state, &live, flags.force)? {
        console.remark(format_args!("tgtadm -C ... {step}"))?;
        tgtd.ask(&step.request(""))?;
    }
    let mut removed = Vec::new();
    for record in &store.state.luns {
        if backing::remove(record)? {
            removed.push(record.file.clone());
        }
    }
    for folder in store.state.folders.iter().rev() {
        remove_folder(Path::new(folder), console)?;
    }
    store.remove()?;
    if flags.what.json {
        let targets = &store.state.targets;
        let members = json!({ "files_removed": removed, "targets_removed": targets });
        console.answer_json("iscsi_destroy", members)?;
    } else {
        for file in &removed {
            console.answer(format_args!("removed {file}"))?;
        }
        for target in &store.state.targets {
            console.answer(format_args!("removed {target}"))?;
        }
    }
    Ok(Outcome::Pass)
}

/// Removes a folder, unless it contains foreign files.
fn remove_folder(folder: &Path, console: &mut Console) -> Result<(), CommandError> {
    match fs::remove_dir(folder) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::DirectoryNotEmpty => console.remark(
            format_args!("{}: holds something that was not made here, and stays", folder.display()),
        ),
        Err(error) => Err(CommandError::file(folder, "remove", &error)),
    }
}
