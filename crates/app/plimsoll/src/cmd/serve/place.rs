//! Location of `serve`'s index of a folder's runs: in this user's cache folder, since the folder
//! itself may belong to another user, be read-only, or be on a network.

use std::env;
use std::path::{Component, Path, PathBuf};

/// Index file for the runs of `folder`; `None` if the system has no cache folder, or `folder`
/// cannot be used.
pub(super) fn of_history(folder: &Path) -> Option<PathBuf> {
    let root = folder.canonicalize().ok()?;
    Some(below(&caches()?, &root).join("serve-history.sqlite"))
}

/// Token file of `folder`; `None` in the same cases.
pub(super) fn of_token(folder: &Path) -> Option<PathBuf> {
    let root = folder.canonicalize().ok()?;
    Some(below(&caches()?, &root).join("serve-token"))
}

/// This user's caches.
fn caches() -> Option<PathBuf> {
    named("XDG_CACHE_HOME")
        .or_else(|| named("LOCALAPPDATA"))
        .or_else(|| Some(named("HOME")?.join(".cache")))
}

/// The absolute path in an environment variable.
fn named(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Mirrors the path of each folder below the cache folder.
fn below(caches: &Path, root: &Path) -> PathBuf {
    let mut file = caches.join("plimsoll");
    for component in root.components() {
        match component {
            Component::Normal(name) => file.push(name),
            // A drive prefix of Windows such as `C:` is not a valid folder name.
            Component::Prefix(prefix) => {
                let letters = prefix.as_os_str().to_string_lossy();
                file.push(letters.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_"));
            }
            _ => {}
        }
    }
    file
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::below;

    #[test]
    fn every_folder_has_a_file_of_its_own_inside_the_caches() {
        let file = |root: &str| below(Path::new("/c"), Path::new(root));
        assert_eq!(file("/srv/runs"), Path::new("/c/plimsoll/srv/runs"));
        assert_eq!(file("/"), Path::new("/c/plimsoll"));
        assert_ne!(file("/srv"), file("/srv/runs"));
    }
}
