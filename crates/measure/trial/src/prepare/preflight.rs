//! Checks before anything is written: existing files, their owners, and free space.

use std::collections::BTreeMap;

use device::{Boxed, FileEntry, OpenMode};
use plan::{LOG_RESERVE, Plan};
use units::Bytes;

use super::{PrepareError, owner};
use crate::location::Location;
use crate::manifest::{self, Manifest, ManifestError, ManifestState};

/// The action for one database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is complete and stays.
    Keep,
    /// Its fill was interrupted: the remains are removed, then it is filled.
    Restart,
    /// There is nothing yet.
    Create,
    /// It is complete and must be filled anew: it is deleted with its log, then filled.
    Reset,
}

/// Treatment of complete databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Complete {
    /// Complete databases of this plan stay; those of another plan are refused.
    Stays,
    /// They are filled anew, whatever they hold. Their contents and logs are lost.
    Reset,
}

/// One database and its action.
#[derive(Clone)]
pub struct FillTarget {
    /// Its location.
    pub location: Location,
    /// The action.
    pub action: Action,
}

/// Decides the action for every database of `plan`. All groups' databases are checked together,
/// since they may share storage.
pub fn preflight<'a>(
    plan: &'a Plan,
    locations: &'a [Location],
    complete: Complete,
) -> Boxed<'a, Result<Vec<FillTarget>, PrepareError>> {
    Box::pin(async move {
        let mut targets = Vec::new();
        for location in locations {
            let action = decide(plan, location, complete).await?;
            targets.push(FillTarget { location: location.clone(), action });
        }
        let mut needs = BTreeMap::new();
        for FillTarget { location, action } in &targets {
            match action {
                Action::Keep => {}
                Action::Create | Action::Restart => need(plan, location, Bytes(0), &mut needs),
                Action::Reset => {
                    let taken = taken(location).await?;
                    need(plan, location, taken, &mut needs);
                }
            }
        }
        for target in &targets {
            let location = &target.location;
            for (storage, volume) in
                [(&location.storage, &location.database), (&location.log_storage, &location.log)]
            {
                let needed = needs.remove(storage).unwrap_or_default();
                let free = Bytes(volume.free_bytes().await?);
                if needed > free {
                    let storage = storage.clone();
                    return Err(PrepareError::NoSpace { storage, needed, free });
                }
            }
        }
        Ok(targets)
    })
}

/// Bytes that the files of a database occupy, without its log.
async fn taken(location: &Location) -> Result<Bytes, PrepareError> {
    let there = location.database.list().await?;
    let own = own_files(location, &there, &[]).database;
    let lengths = there.iter().filter(|entry| own.contains(&entry.name)).map(|entry| entry.length);
    Ok(Bytes(lengths.sum()))
}

/// Removes the log of a database before it is filled again: without a log, an interrupted fill is
/// recognised as such.
pub(super) async fn clear_log(location: &Location) -> Result<(), PrepareError> {
    let logs = location.log.list().await?;
    for file in &own_files(location, &[], &logs).log {
        location.log.remove(file).await?;
    }
    Ok(())
}

async fn decide(
    plan: &Plan,
    location: &Location,
    complete: Complete,
) -> Result<Action, PrepareError> {
    let there = location.database.list().await?;
    let logs = location.log.list().await?;
    let own = own_files(location, &there, &logs);
    let manifest = manifest::read(location).await?;
    let action = judge((plan, complete), location, manifest.as_ref(), &own)?;
    if action != Action::Keep {
        owner::prove(location).await?;
    }
    let file = &location.plan.file;
    if matches!(action, Action::Restart | Action::Reset) && own.database.contains(file) {
        // Another process may be filling it or running on it, which its lock reveals.
        drop(location.database.open(file, OpenMode::ReadWrite).await?);
    }
    Ok(action)
}

/// Removes the remains of an interrupted fill, except for the manifest: if this is interrupted too,
/// the next attempt still knows the owner of these files. A fill makes no log, so an existing one
/// is foreign.
pub(super) async fn clear(location: &Location) -> Result<(), PrepareError> {
    let there = location.database.list().await?;
    let own = own_files(location, &there, &[]);
    for file in &own.database {
        location.database.remove(file).await?;
    }
    Ok(())
}

/// The existing files of a database: the database file first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct OwnFiles {
    pub database: Vec<String>,
    pub log: Vec<String>,
}

pub(super) fn own_files(location: &Location, there: &[FileEntry], logs: &[FileEntry]) -> OwnFiles {
    let plan = &location.plan;
    let stem = plan.file.strip_suffix(".edb").unwrap_or(&plan.file);
    let flush_map = format!("{stem}.jfm");
    OwnFiles {
        database: names(there, |name| name == plan.file || name == flush_map),
        log: names(logs, |name| {
            name.starts_with(plan.log_base.as_str())
                && [".plg", ".pck"].iter().any(|ending| name.ends_with(ending))
        }),
    }
}

fn names(entries: &[FileEntry], is_own: impl Fn(&str) -> bool) -> Vec<String> {
    entries.iter().map(|entry| &entry.name).filter(|name| is_own(name)).cloned().collect()
}

/// Describes the contents with which a plan fills databases.
fn content(plan: &Plan) -> String {
    let (short, long) = (plan.workload.short_pad_bytes, plan.workload.long_pad_bytes);
    let (seed, size) = (plan.seed.0, plan.size);
    format!("{seed}, {size} and {short} + {long} bytes a message")
}

/// The decision about one database, from its manifest and the existing files.
fn judge(
    (plan, complete): (&Plan, Complete),
    location: &Location,
    manifest: Option<&Manifest>,
    own: &OwnFiles,
) -> Result<Action, PrepareError> {
    let is_there = own.database.contains(&location.plan.file);
    match manifest {
        Some(manifest) if manifest.state == ManifestState::Filling => match own.log.first() {
            None => Ok(Action::Restart),
            Some(file) => Err(PrepareError::LogInUse {
                folder: location.plan.log_folder.clone(),
                file: file.clone(),
            }),
        },
        Some(_) if !is_there => {
            Err(PrepareError::Gone { manifest: location.manifest_file(), file: location.path() })
        }
        Some(_) if complete == Complete::Reset => Ok(Action::Reset),
        Some(manifest) if manifest.is_of(plan) => Ok(Action::Keep),
        Some(manifest) => {
            manifest.fits(plan, location)?;
            Err(ManifestError::Differs {
                file: location.path(),
                key: "seed",
                wanted: format!("seed {}", content(plan)),
                found: Plan::parse("manifest", &manifest.plan).map_or_else(
                    |_| format!("{}, {}", manifest.seed, Bytes(manifest.file_bytes)),
                    |made| content(&made),
                ),
            }
            .into())
        }
        None => match (own.database.first(), own.log.first()) {
            (None, None) => Ok(Action::Create),
            (Some(file), _) => Err(not_empty(&location.plan.folder, file)),
            (None, Some(file)) => Err(not_empty(&location.plan.log_folder, file)),
        },
    }
}

fn not_empty(folder: &str, file: &str) -> PrepareError {
    PrepareError::NotEmpty { folder: folder.to_owned(), file: file.to_owned() }
}

/// Adds the space that one database needs beyond what it has `taken` to the needs of its storage.
fn need(plan: &Plan, location: &Location, taken: Bytes, needs: &mut BTreeMap<String, Bytes>) {
    let log = Bytes(plan.checkpoint_depth.0 + LOG_RESERVE.0);
    let more = Bytes(plan.size.0.saturating_sub(taken.0));
    for (storage, bytes) in [(&location.storage, more), (&location.log_storage, log)] {
        needs.entry(storage.clone()).or_default().0 += bytes.0;
    }
}
