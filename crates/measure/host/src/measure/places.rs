//! The paths of a run's databases: whole ones, since its report is read elsewhere.

use std::io;
use std::path::{self, Path};

use plan::Plan;

use crate::error::HostError;
use crate::target::is_named_device;

/// `plan` with absolute folders, so that one report never names a file both with and without the
/// folder in which the program started. Names of devices stay.
pub(super) fn with_whole_paths(plan: &Plan) -> Result<Plan, HostError> {
    let mut plan = plan.clone();
    for database in &mut plan.databases {
        make_whole(&mut database.folder)?;
        make_whole(&mut database.log_folder)?;
        database.backup_folder.as_mut().map(make_whole).transpose()?;
    }
    if let Some(cache) = &mut plan.flash_cache {
        make_whole(&mut cache.file)?;
        cache.folders.iter_mut().try_for_each(make_whole)?;
        cache.folders.sort();
    }
    Ok(plan)
}

fn make_whole(place: &mut String) -> Result<(), HostError> {
    if is_named_device(place) || Path::new(place).is_absolute() {
        return Ok(());
    }
    let wrong = HostError::of_file(Path::new(place), "find");
    let whole = path::absolute(&*place).map_err(&wrong)?;
    let whole = whole.into_os_string().into_string();
    *place = whole.map_err(|_| wrong(io::Error::other("its path is not UTF-8")))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, absolute};

    use plan::Plan;

    use super::with_whole_paths;

    #[test]
    fn folders_are_whole_and_names_of_devices_stay() {
        let devices = ["nbd://host/export", "iscsi://host/iqn.x/1", "raw:disk.img"];
        let here = absolute("mail").expect("a folder").display().to_string();
        let folders = [&["./mail", here.as_str()][..], &devices].concat();
        let text = format!("[databases]\nsize = \"1GiB\"\nfolders = {folders:?}\n");
        let plan = with_whole_paths(&Plan::parse("plan", &text).expect("a plan")).expect("paths");
        let found: Vec<&str> = plan.databases.iter().map(|of| &*of.folder).collect();
        let whole = [&[here.as_str(), here.as_str()][..], &devices].concat();
        assert_eq!(found, whole);
        assert!(plan.databases[..2].iter().all(|of| Path::new(&of.log_folder).is_absolute()));
    }

    /// Backups and the cache have folders too.
    #[test]
    fn every_folder_of_a_plan_is_whole() {
        let text = "[[database]]\nfolder = \"mail\"\nlog_folder = \"log\"\n\
                    backup_folder = \"backup\"\n[databases]\nsize = \"1GiB\"\n\
                    [cache]\nfile = \"flash\"\nsize = \"1GiB\"\nfolders = [\"mail\", \"log\"]\n";
        let plan = with_whole_paths(&Plan::parse("plan", text).expect("a plan")).expect("paths");
        let (first, cache) = (&plan.databases[0], plan.flash_cache.expect("a cache"));
        let backup = first.backup_folder.as_ref().expect("a folder of backups");
        let places = [&first.folder, &first.log_folder, backup, &cache.file];
        for place in places.into_iter().chain(&cache.folders) {
            assert!(Path::new(place).is_absolute(), "{place}");
        }
    }
}
