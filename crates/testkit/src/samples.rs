//! Databases and other files of real systems. They are no part of the repository: some come with
//! the source package of dissect.esedb, which [`crate::peers::PythonReaders::fetch_samples`]
//! unpacks under `target/`, and more may lie in the folder that `PLIMSOLL_SAMPLES` names or in
//! `../shared/samples` beside the repository.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Where `cargo xtask test peers` unpacks to.
const UNPACKED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/samples");

/// The packed databases, by name. Where there are none, says that tests are skipped.
pub fn databases() -> Vec<PathBuf> {
    let mut named: BTreeMap<OsString, PathBuf> = BTreeMap::new();
    for folder in folders() {
        let Ok(entries) = fs::read_dir(folder) else {
            continue;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_owned();
            if name.to_string_lossy().ends_with(".edb.gz") {
                named.entry(name).or_insert(path);
            }
        }
    }
    if named.is_empty() {
        say_skipped("sample databases");
    }
    named.into_values().collect()
}

/// The file of this name among the samples. Where it is not there, says that tests are skipped.
pub fn find(name: &str) -> Option<PathBuf> {
    let paths = folders().into_iter().map(|folder| folder.join(name));
    let found = paths.into_iter().find(|path| path.exists());
    if found.is_none() {
        say_skipped(name);
    }
    found
}

/// The bytes of a packed database.
pub fn unpacked(packed: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(File::open(packed)?).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Those of this machine, and those unpacked under `target/`.
fn folders() -> [PathBuf; 2] {
    let own = match std::env::var_os("PLIMSOLL_SAMPLES") {
        Some(given) => PathBuf::from(given),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples"),
    };
    [own, PathBuf::from(UNPACKED)]
}

fn say_skipped(what: &str) {
    let [own, unpacked] = folders();
    let _ = writeln!(
        io::stderr(),
        "skipped: no {what} in {} or {}; `cargo xtask test peers` fetches seven databases",
        own.display(),
        unpacked.display()
    );
}
