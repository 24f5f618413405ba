//! Replaces a file so that at every moment either the old or the new version exists, and keeps the
//! old one next to it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use host::system::{keep_owner, sync_folder};
use time::OffsetDateTime;
use time::macros::format_description;

use console::documents::write_new;
use console::error::CommandError;

/// Replaces `path`, which must still contain `old`, with `new`, and returns the path of the backup.
pub(super) fn replace(path: &Path, old: &[u8], new: &[u8]) -> Result<PathBuf, CommandError> {
    // Links are followed: the target is replaced, not the link.
    let path = &path.canonicalize().map_err(|error| CommandError::file(path, "find", &error))?;
    let found = fs::read(path).map_err(|error| CommandError::file(path, "read", &error))?;
    if found != old {
        return Err(CommandError::new(format!(
            "{}: has changed since it was read, so it is left alone; start again",
            path.display()
        )));
    }
    let backup = beside(path, &format!("{}.bak", moment()));
    write_new(&backup, old)?;
    let temporary = beside(path, "plimsoll-new");
    let written = swap(path, &temporary, new);
    if let Err(error) = written {
        let _ = fs::remove_file(&temporary);
        return Err(CommandError::file(path, "replace", &error));
    }
    let now = fs::read(path).map_err(|error| CommandError::file(path, "read", &error))?;
    if now != new {
        return Err(CommandError::new(format!(
            "{}: does not hold what was written; restore {}",
            path.display(),
            backup.display()
        )));
    }
    Ok(backup)
}

fn swap(path: &Path, temporary: &Path, new: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(temporary)?;
    file.write_all(new)?;
    keep_owner(path, temporary)?;
    fs::set_permissions(temporary, fs::metadata(path)?.permissions())?;
    file.sync_all()?;
    fs::rename(temporary, path)?;
    sync_folder(path)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ending);
    path.with_file_name(name)
}

fn moment() -> String {
    let format = format_description!("[year][month][day]-[hour][minute][second]");
    // The format has no part that could fail.
    OffsetDateTime::now_utc().format(format).unwrap_or_default()
}
