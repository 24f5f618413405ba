//! The log files that a path names: one file, or those of a folder.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use ese::Signature;
use ese::log_file::{LOG_HEADER_BYTES, LogFacts, LogFileError};
use eselog::{LogFile, LogMember, LogSet};

use console::error::CommandError;

/// Endings of log files.
const ENDINGS: [&str; 2] = ["log", "jtx"];
/// Size limit of a log file; a longer file is no log.
const MOST_BYTES: u64 = 1 << 30;

/// Whether `path` is a log of the real engine, or a folder with at least one.
pub(crate) fn holds_logs(path: &Path) -> bool {
    if path.is_dir() { !in_folder(path).unwrap_or_default().is_empty() } else { is_log(path) }
}

/// Whether a file is a log of the real engine or claims to be one.
fn is_log(path: &Path) -> bool {
    let mut start = [0; LOG_HEADER_BYTES];
    // Opening a pipe would wait for its other end.
    let read = host::documents::open(path).and_then(|mut file| file.read_exact(&mut start));
    if read.is_err() {
        return false;
    }
    match LogFacts::decode(&start) {
        Ok(facts) => LogFile::is_genuine(&facts),
        Err(LogFileError::Checksum) => has_ending(path) && LogFacts::is_claimed_by(&start),
        Err(_) => false,
    }
}

fn has_ending(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
}

/// The logs of a folder, by name.
fn in_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if has_ending(&path) && is_log(&path) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The logs that paths name.
pub(super) fn logs(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(in_folder(path).map_err(CommandError::of_file(path, "read"))?);
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

/// A whole log file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    read_into(path, &mut bytes)?;
    Ok(bytes)
}

/// Reads a log into `bytes`, replacing their contents: a set is read file by file into the same
/// memory.
pub(super) fn read_into(path: &Path, bytes: &mut Vec<u8>) -> Result<(), CommandError> {
    let wrong = CommandError::of_file(path, "read");
    bytes.clear();
    let file = File::open(path).map_err(wrong)?;
    file.take(MOST_BYTES).read_to_end(bytes).map_err(wrong)?;
    Ok(())
}

/// The log in `bytes`.
pub(super) fn open<'a>(path: &Path, bytes: &'a [u8]) -> Result<LogFile<'a>, CommandError> {
    LogFile::open(bytes).map_err(|error| unopened(path, error))
}

/// A log that is not read: of an earlier format, or damaged.
fn unopened(path: &Path, error: LogFileError) -> CommandError {
    let sentence = format!("{}: a log file; {error}", path.display());
    match error {
        LogFileError::Version(_) => CommandError::new(sentence),
        _ => CommandError::Damage(sentence),
    }
}

/// Whether a file is reserved for the next generation, such as `edbtmp.log`.
fn is_reserve(name: &str) -> bool {
    Path::new(name)
        .file_stem()
        .is_some_and(|stem| stem.to_string_lossy().to_lowercase().ends_with("tmp"))
}

/// Leaves out files reserved for the next generation that still have their previous content:
/// circular logging reuses the oldest file.
fn leave_out_reused(members: &mut Vec<LogMember>) {
    let newest = members.iter().filter(|member| !is_reserve(&member.name));
    let newest = newest.map(|member| member.facts.generation).max();
    members.retain(|member| {
        !is_reserve(&member.name) || newest.is_none_or(|newest| member.facts.generation > newest)
    });
}

/// A set of log files with their paths.
pub(super) struct LogFiles {
    pub(super) set: LogSet,
    /// Sets of the other log streams among the files.
    pub(super) others: Vec<LogSet>,
    paths: Vec<(String, PathBuf)>,
    /// Files with an unreadable header.
    pub(super) unreadable: Vec<String>,
}

impl LogFiles {
    /// Examines the files at these paths, one in memory at a time. Of several streams it uses
    /// `stream` or else the newest file's. A log of an earlier format is refused, unless there are
    /// others of `stream`, to which it cannot belong.
    pub(super) fn examine(
        paths: &[PathBuf],
        stream: Option<Signature>,
    ) -> Result<Self, CommandError> {
        let (mut members, mut named, mut unreadable) = (Vec::new(), Vec::new(), Vec::new());
        let (mut bytes, mut earlier_format) = (Vec::new(), None);
        for path in paths {
            read_into(path, &mut bytes)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match LogFile::open(&bytes) {
                Ok(file) => members.push(LogMember::of(name.clone(), &file)),
                Err(_) if is_reserve(&name) && paths.len() > 1 => {}
                Err(error @ LogFileError::Version(_)) => {
                    earlier_format = Some(unopened(path, error));
                }
                Err(error) => unreadable.push(format!("{name}: {error}")),
            }
            named.push((name, path.clone()));
        }
        if let Some(refusal) = earlier_format
            && (stream.is_none() || members.is_empty())
        {
            return Err(refusal);
        }
        leave_out_reused(&mut members);
        let newest = members.iter().max_by_key(|member| member.facts.generation);
        let stream = stream.or_else(|| newest.map(|member| member.facts.signature));
        let strangers = members.iter().filter(|member| Some(member.facts.signature) != stream);
        let others = LogSet::streams(strangers.cloned().collect());
        Ok(Self { set: LogSet::of_stream(members, stream), others, paths: named, unreadable })
    }

    /// Path of the file of this name.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        let mut paths = self.paths.iter();
        let found = paths.find(|(found, _)| found == name);
        found.map(|(_, path)| path.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::is_reserve;

    #[test]
    fn room_for_the_next_generation_is_known_by_its_name() {
        let names = ["edbtmp.log", "J50TMP.LOG", "E00.log", "J5000014.log", "tmp1.log"];
        assert_eq!(names.map(is_reserve), [true, true, false, false, false]);
    }
}
