//! Databases and other files of real systems. They are not part of the repository: some come with
//! the source package of dissect.esedb, which [`crate::peers::PythonReaders::fetch_samples`]
//! unpacks under `target/`, and more may be in the folder that `PLIMSOLL_SAMPLES` names or in
//! `../shared/samples` next to the repository.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Folder into which `cargo xtask test` unpacks samples.
const UNPACKED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../target/samples");

/// The packed databases, by name. If there are none, reports that tests are skipped.
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

/// The sample file of this name. If it is missing, reports that tests are skipped.
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

/// The texts in a packed archive (`.tar.gz`) by name, without their folders.
pub fn texts(packed: &Path) -> io::Result<BTreeMap<String, String>> {
    Ok(files(packed)?
        .into_iter()
        .filter_map(|(name, content)| Some((name, String::from_utf8(content).ok()?)))
        .collect())
}

/// The files in a packed archive (`.tar.gz`) by name, without their folders.
pub fn files(packed: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let bytes = unpacked(packed)?;
    let mut files = BTreeMap::new();
    let mut rest = bytes.as_slice();
    while let Some((header, behind)) = rest.split_at_checked(TAR_BLOCK) {
        let Ok(length) = usize::from_str_radix(&tar_field(&header[124..136]), 8) else {
            break;
        };
        let Some(content) = behind.get(..length) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        if let Some(name) = tar_field(&header[..100]).rsplit('/').next() {
            files.insert(name.to_owned(), content.to_owned());
        }
        rest = behind.get(length.next_multiple_of(TAR_BLOCK)..).unwrap_or_default();
    }
    Ok(files)
}

/// Alignment of headers and contents in a tar archive.
const TAR_BLOCK: usize = 512;

/// A field of a tar header: text up to the first zero.
fn tar_field(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).trim().to_owned()
}

/// Folders of the samples on this machine, and of those unpacked under `target/`.
fn folders() -> [PathBuf; 2] {
    let own = match std::env::var_os("PLIMSOLL_SAMPLES") {
        Some(given) => PathBuf::from(given),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/samples"),
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
