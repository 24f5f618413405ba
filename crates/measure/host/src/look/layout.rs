//! Contents of the places of a layout, as the system reports them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use device_os::probe;
use inspection::layout::{LayoutPlan, LayoutRoots, SeenFolder, SeenVolume};

use crate::system;

/// Returns the folders at every place of `plan`, and any others beside them.
pub fn seen(plan: &LayoutPlan, roots: &LayoutRoots) -> BTreeMap<String, SeenFolder> {
    let mut places = roots.places(plan);
    for root in [Some(&roots.volumes), roots.databases.as_ref()].into_iter().flatten() {
        let names = names_in(Path::new(root));
        places.extend(names.iter().map(|name| roots.inside(root, name)));
    }
    places.sort();
    places.dedup();
    places
        .into_iter()
        .filter_map(|place| Some((place.clone(), folder(Path::new(&place))?)))
        .collect()
}

/// The folder at `path`; `None` if it is not a folder, or the system cannot describe it.
fn folder(path: &Path) -> Option<SeenFolder> {
    if !path.is_dir() {
        return None;
    }
    let facts = probe::volume(path).ok()?;
    Some(SeenFolder {
        volume: SeenVolume {
            number: system::volume_number(path).ok()?,
            is_mounted_here: is_same(path, &facts.mount_point),
            mount_point: facts.mount_point,
            file_system: facts.file_system,
            total_bytes: facts.total_bytes,
            disk: facts.disk.map(|disk| disk.name).filter(|name| !name.is_empty()),
        },
        names: names_in(path),
    })
}

/// Whether the folder at `path` is the mount point of its volume, with links followed and without
/// the prefix and suffix that Windows adds.
fn is_same(path: &Path, mount_point: &str) -> bool {
    let whole = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let whole = whole.display().to_string();
    let ends = ['/', '\\'];
    let bare = whole.trim_start_matches(r"\\?\").trim_end_matches(ends);
    bare.eq_ignore_ascii_case(mount_point.trim_end_matches(ends))
}

/// Names in a folder, in order; empty if it cannot be read.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
