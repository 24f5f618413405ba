//! The file in a log folder that names the owner of the log: a fill makes no log, so until the
//! first run nothing else shows another plan that the folder is taken.

use std::path;

use super::PrepareError;
use crate::location::Location;
use crate::manifest::{self, ManifestError};

/// Its name.
fn owner_file(location: &Location) -> String {
    format!("{}.owner.json", location.plan.log_base)
}

/// Its content: the database's file name if that is in the same folder, so that the folder can be
/// copied or moved, else its full path.
fn own_name(location: &Location) -> String {
    if location.plan.folder == location.plan.log_folder {
        return location.plan.file.clone();
    }
    path::absolute(location.path())
        .map_or_else(|_| location.path(), |whole| whole.display().to_string())
}

/// Refuses a log folder that belongs to another database.
pub(super) async fn prove(location: &Location) -> Result<(), PrepareError> {
    let file = owner_file(location);
    let read = manifest::read_document::<String>(&location.log, &file).await;
    let database = match read {
        Ok(None) => return Ok(()),
        Ok(Some(database)) if database == own_name(location) => return Ok(()),
        Ok(Some(database)) => database,
        Err(ManifestError::Unreadable { .. }) => "another database".to_owned(),
        Err(error) => return Err(error.into()),
    };
    Err(PrepareError::LogFolderTaken { folder: location.plan.log_folder.clone(), file, database })
}

/// Takes the log folder for the database at `location`.
pub(super) async fn write(location: &Location) -> Result<(), PrepareError> {
    let (file, name) = (owner_file(location), own_name(location));
    Ok(manifest::write_document(&location.log, &file, &name).await?)
}
