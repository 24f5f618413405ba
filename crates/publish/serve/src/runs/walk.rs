//! Finds the journals and documents below a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use record::JOURNAL;
use report::suite_of;

use super::known::JournalStamp;
use crate::labels::LABELS;

/// Number of folder levels below the served one that are searched, as in `list`.
const DEEPEST: u32 = 3;

/// The journal of a fleet run, as the program writes it.
const FLEET_JOURNAL: &str = "fleet.jsonl";

/// Results of a walk through a folder.
#[derive(Default)]
pub(super) struct WalkedFolder {
    /// Runs: name, folder, state of the journal.
    pub(super) runs: Vec<(String, PathBuf, JournalStamp)>,
    /// Fleet runs: name and folder.
    pub(super) fleets: BTreeMap<String, PathBuf>,
    /// Names of plans, deployments and arrays.
    pub(super) documents: BTreeSet<String>,
}

/// Walks through `root`.
pub(super) fn walked(root: &Path) -> WalkedFolder {
    let mut found = WalkedFolder::default();
    // For this user an unreadable folder contains no runs.
    let _ = walk(root, "", DEEPEST, &mut found);
    found
}

/// Finds journals and documents below `folder`, which is `name` relative to the served one. Links
/// are neither followed nor treated as files.
fn walk(folder: &Path, name: &str, depth: u32, found: &mut WalkedFolder) -> io::Result<()> {
    if let Some(stamp) = run_stamp(folder) {
        let id = if name.is_empty() { last_part(folder) } else { name.to_owned() };
        found.runs.push((id, folder.to_path_buf(), stamp));
        return Ok(());
    }
    if plain_file(&folder.join(FLEET_JOURNAL)).is_some() {
        let id = if name.is_empty() { last_part(folder) } else { name.to_owned() };
        found.fleets.insert(id, folder.to_path_buf());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let own = entry.file_name();
        // A name that is not valid text cannot be requested.
        let Some(own) = own.to_str() else {
            continue;
        };
        let id = if name.is_empty() { own.to_owned() } else { format!("{name}/{own}") };
        if kind.is_file() && Path::new(own).extension().is_some_and(|kind| kind == "toml") {
            found.documents.insert(id);
        } else if kind.is_dir() && depth > 0 {
            let _ = walk(&entry.path(), &id, depth - 1, found);
        } else if kind.is_dir() && suite_of(own).is_some() {
            // A set at the deepest level counts as one of the runs, although those of its tests
            // are one level deeper.
            let stamp = run_stamp(&entry.path());
            found.runs.extend(stamp.map(|stamp| (id, entry.path(), stamp)));
        }
    }
    Ok(())
}

/// Name of the served folder, if it is itself a run.
fn last_part(folder: &Path) -> String {
    folder.file_name().map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The state of the run in `folder`; `None` if there is no run.
fn run_stamp(folder: &Path) -> Option<JournalStamp> {
    let journal = plain_file(&folder.join(JOURNAL))?;
    let labels = plain_file(&folder.join(LABELS));
    Some(JournalStamp {
        bytes: journal.len(),
        changed_ns: changed_ns(&journal),
        labelled_ns: labels.and_then(|labels| changed_ns(&labels)),
    })
}

fn plain_file(path: &Path) -> Option<fs::Metadata> {
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)
}

/// The last change of a file, since 1970, if the file system reports it.
fn changed_ns(file: &fs::Metadata) -> Option<i64> {
    let since = file.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_nanos()).ok()
}
