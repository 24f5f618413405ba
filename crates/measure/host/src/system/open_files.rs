//! Files that other runs have open, from `/proc`: empty on systems without it, and without those of
//! processes whose descriptors this user may not list.

use std::fs;
use std::path::{Path, PathBuf};

use record::JOURNAL;

use super::is_block_device;

/// A run in another process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenFiles {
    /// Folder of its journal.
    pub(crate) folder: PathBuf,
    /// Databases and block devices that it has open.
    pub(crate) files: Vec<PathBuf>,
}

/// Returns every other visible run on this machine.
pub(crate) fn other_runs() -> Vec<OpenFiles> {
    runs_of(Path::new("/proc"), std::process::id())
}

/// The runs among `processes`, without the process `own`.
fn runs_of(processes: &Path, own: u32) -> Vec<OpenFiles> {
    let entries = fs::read_dir(processes).into_iter().flatten().flatten();
    entries
        .filter(|entry| {
            let number = entry.file_name().to_string_lossy().parse::<u32>();
            number.is_ok_and(|number| number != own)
        })
        .filter_map(|process| run_of(&process.path()))
        .collect()
}

/// The run of a process: it has a journal open, and databases.
fn run_of(process: &Path) -> Option<OpenFiles> {
    let descriptors = fs::read_dir(process.join("fd")).ok()?.flatten();
    let open: Vec<PathBuf> =
        descriptors.filter_map(|descriptor| fs::read_link(descriptor.path()).ok()).collect();
    let journal = open.iter().find(|file| file.file_name().is_some_and(|name| name == JOURNAL))?;
    let folder = journal.parent()?.to_owned();
    let files: Vec<PathBuf> = open.into_iter().filter(|file| holds_data(file)).collect();
    (!files.is_empty()).then_some(OpenFiles { folder, files })
}

fn holds_data(file: &Path) -> bool {
    let is_database = file.extension().is_some_and(|ending| ending == "edb");
    is_database || fs::metadata(file).is_ok_and(|facts| is_block_device(facts.file_type()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};

    use super::{OpenFiles, runs_of};

    fn process(folder: &Path, number: u32, open: &[&str]) {
        let descriptors = folder.join(number.to_string()).join("fd");
        fs::create_dir_all(&descriptors).expect("a scratch folder");
        for (at, file) in open.iter().enumerate() {
            symlink(file, descriptors.join(at.to_string())).expect("a scratch folder");
        }
    }

    #[test]
    fn a_run_is_known_by_its_journal_and_its_databases() {
        let folder = std::env::temp_dir().join(format!("plimsoll-runs-{}", std::process::id()));
        process(&folder, 1, &["/dev/null", "/mail/a.edb"]);
        process(&folder, 2, &["/tests/b/record.jsonl", "/mail/b.edb", "/mail/E00.plg"]);
        process(&folder, 3, &["/tests/c/record.jsonl", "/mail/c.edb"]);
        process(&folder, 4, &["/tests/watched/record.jsonl"]);
        let found = runs_of(&folder, 3);
        fs::remove_dir_all(&folder).expect("a scratch folder");
        let files = vec![PathBuf::from("/mail/b.edb")];
        assert_eq!(found, [OpenFiles { folder: PathBuf::from("/tests/b"), files }]);
    }
}
