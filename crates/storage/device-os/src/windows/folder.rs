//! The folder of a path, the name of its volume and the sectors below it.

use std::fs::OpenOptions;
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf, Prefix};

use device::DeviceError;
use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_BACKUP_SEMANTICS;

use super::{errors, sys};

const SHARE: &str =
    "a share of another computer, whose cache lies between; use a local disk or a LUN";

/// The root of a volume in its usual notation.
pub(super) fn shown_root(root: &str) -> String {
    root.strip_prefix(r"\\?\").unwrap_or(root).to_owned()
}

/// The path without links, with the prefix that lifts the limit of 260 characters. Shares are
/// refused by name, and mapped drives by their targets.
pub(super) fn whole_path(path: &Path) -> Result<PathBuf, DeviceError> {
    let name = || path.display().to_string();
    let refusal = || DeviceError::BadPath { file: name(), message: SHARE.to_owned() };
    if is_remote(path) {
        return Err(refusal());
    }
    let whole = std::fs::canonicalize(path).or_else(|error| absolute(path, error));
    let whole = whole.map_err(|error| errors::of(&error, &name(), "open", 0))?;
    if is_remote(&whole) || sys::is_of_a_share(&whole) { Err(refusal()) } else { Ok(whole) }
}

/// Fallback if Windows does not report the full path: some RAM disk drivers never do, nor does Wine
/// if it is long. Links are not resolved. `error` is the original failure.
fn absolute(path: &Path, error: io::Error) -> io::Result<PathBuf> {
    if path.try_exists().is_ok_and(|exists| !exists) {
        return Err(error);
    }
    let whole = std::path::absolute(path)?;
    let text = whole.to_str().filter(|_| {
        let prefix = whole.components().next();
        matches!(prefix, Some(Component::Prefix(of)) if matches!(of.kind(), Prefix::Disk(_)))
    });
    Ok(text.map_or(whole.clone(), |text| PathBuf::from(format!(r"\\?\{text}"))))
}

/// Whether a path leads to another computer.
fn is_remote(path: &Path) -> bool {
    let Some(Component::Prefix(prefix)) = path.components().next() else {
        return false;
    };
    matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..))
}

/// The folder that `path` is or lies in, without links; shares of other computers are refused.
pub(super) fn folder_of(path: &Path) -> Result<PathBuf, DeviceError> {
    let path = whole_path(path)?;
    Ok(if path.is_dir() { path } else { path.parent().unwrap_or(&path).to_owned() })
}

/// Logical and physical bytes of a sector under a folder; `None` if unknown.
pub(super) fn sectors(folder: &Path) -> Option<(u32, u32)> {
    let opened =
        OpenOptions::new().access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(folder);
    let stated = opened.ok().and_then(|folder| sys::sectors(&folder));
    stated.or_else(|| {
        let root = sys::volume_root(folder).ok()?;
        let (sector, _) = sys::geometry(&root).ok()?;
        // An unknown physical sector is assumed to be at least 4096 bytes.
        Some((sector, sector.max(4096)))
    })
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use device::DeviceError;

    use super::{absolute, is_remote, whole_path};

    #[test]
    fn a_path_that_has_no_other_name_keeps_its_own() {
        let why = || io::Error::from_raw_os_error(1);
        let here = std::env::current_dir().unwrap();
        let whole = absolute(&here.join("."), why()).unwrap();
        assert!(whole.to_str().unwrap().starts_with(r"\\?\"), "{whole:?}");
        assert_eq!(whole.read_dir().unwrap().count(), here.read_dir().unwrap().count());
        assert!(absolute(&here.join("no such folder"), why()).is_err());
    }

    #[test]
    fn shares_are_refused_before_anything_is_asked_of_them() {
        for share in [r"\\server\mail\db", r"\\?\UNC\server\mail", "//server/mail/db"] {
            assert!(is_remote(Path::new(share)), "{share}");
            let refused = whole_path(Path::new(share));
            assert!(matches!(refused, Err(DeviceError::BadPath { .. })), "{refused:?}");
        }
        for local in [r"C:\mail", "C:/mail", r"mail\db", r"\\?\C:\mail", r"\mail", r"\\.\C:\mail"] {
            assert!(!is_remote(Path::new(local)), "{local}");
        }
    }
}
