//! The log needed by a database that was not closed: which engine wrote it, which files are needed,
//! and whether they are beside the database, in sequence and intact.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use ese::header::DatabaseHeader;
use ese::log_file::{CheckpointFacts, LOG_HEADER_BYTES, LogFacts};
use ese::{LogTime, Signature};
use trial::manifest::Manifest;

/// Major version of the logs of this project.
const OWN_VERSION: u32 = 0x504C;
/// Limit on the missing generations listed by name; more are only counted.
const MOST_NAMED: usize = 8;

/// Engine that wrote a database's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    /// This program.
    Ours,
    /// A real engine.
    Engine,
    /// No log or manifest beside the database shows it.
    Unknown,
}

/// A log file of the database's stream.
#[derive(Clone, Debug)]
struct LogFile {
    name: String,
    facts: LogFacts,
    fault: Option<String>,
}

/// State of the log beside a database.
#[derive(Clone, Debug)]
pub struct LogNeeded {
    pub(crate) maker: Maker,
    /// Prefix of the log files' names.
    pub base: Option<String>,
    needed: (u32, u32),
    /// Whether the folder of the database was searched.
    is_looked_for: bool,
    files: BTreeMap<u32, LogFile>,
    /// Prefix and engine by the stream's checkpoint file, which remains when the log is gone.
    checkpoint: Option<(String, Maker)>,
}

impl LogNeeded {
    /// Searches the folder of the database at `path`. Does nothing for a path on a raw volume,
    /// which contains only this program's files.
    pub(crate) fn find(path: &Path, header: &DatabaseHeader) -> Self {
        let needed = (header.generation_min_required.0, header.generation_max_required.0);
        let mut log = Self {
            maker: Maker::Ours,
            base: None,
            needed,
            is_looked_for: path.is_file(),
            files: BTreeMap::new(),
            checkpoint: None,
        };
        if !path.is_file() {
            return log;
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        for entry in fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten()
        {
            log.look(&entry.path(), header.log_signature);
        }
        let version = log.files.values().next().map(|file| file.facts.version[0]);
        let manifest = manifest_of(path, header.signature);
        log.maker = match (version, log.checkpoint.take()) {
            (Some(OWN_VERSION), _) => Maker::Ours,
            (Some(_), _) => Maker::Engine,
            (None, Some((base, maker))) => {
                log.base = Some(base);
                maker
            }
            (None, None) if manifest.is_some() => Maker::Ours,
            (None, None) => Maker::Unknown,
        };
        let named = log.files.values().find_map(|file| base_of(&file.name, &file.facts));
        log.base = named.or(log.base.take()).or_else(|| Some(manifest?.planned()?.log_base));
        log.find_faults(path);
        log
    }

    fn look(&mut self, path: &Path, stream: Signature) {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let Some(extension) = extension.map(str::to_lowercase) else {
            return;
        };
        if !path.is_file() {
            return;
        }
        match extension.as_str() {
            "log" | "plg" | "jtx" => self.look_at_log(path, stream),
            "pck" => self.look_at_checkpoint(path, stream, Maker::Ours),
            "chk" => self.look_at_checkpoint(path, stream, Maker::Engine),
            _ => {}
        }
    }

    fn look_at_checkpoint(&mut self, path: &Path, stream: Signature, maker: Maker) {
        let start = read_start(path).ok();
        let facts = start.and_then(|start| CheckpointFacts::decode(&start).ok());
        let base = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        if facts.is_some_and(|facts| facts.signature == stream) {
            self.checkpoint = base.map(|base| (base, maker));
        }
    }

    fn look_at_log(&mut self, path: &Path, stream: Signature) {
        let Some(facts) = read_start(path).ok().and_then(|start| LogFacts::decode(&start).ok())
        else {
            return;
        };
        if facts.signature == stream {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.files.insert(facts.generation.0, LogFile { name, facts, fault: None });
        }
    }

    /// Checks the needed files: each is whole, and began when the next one says it did.
    fn find_faults(&mut self, database: &Path) {
        let (first, last) = self.needed;
        let newest = self.files.keys().next_back().copied();
        let mut before: Option<(u32, LogTime)> = None;
        for (generation, file) in self.files.range_mut(first..=last.max(first)) {
            let is_open = Some(*generation) == newest;
            file.fault = fault_of(&database.with_file_name(&file.name), &file.facts, is_open);
            if let Some((number, created)) = before
                && number.checked_add(1) == Some(*generation)
                && file.facts.previous_created != created
            {
                file.fault = Some("is not the one that came after the one before".to_owned());
            }
            before = Some((*generation, file.facts.created));
        }
    }

    /// Returns the step to take before anything else with the database at `path`, quoted for a
    /// shell.
    pub(crate) fn advice(&self, path: &str) -> String {
        let base = self.base.as_deref().unwrap_or("BASE");
        match self.maker {
            // Its folder shows nothing of a log elsewhere, or of one on a raw volume.
            Maker::Ours if self.is_looked_for && self.files.is_empty() => format!(
                "no log of it is in its folder: run plimsoll recover {path} --log-folder FOLDER \
                 first, or restore this copy if the log is lost"
            ),
            Maker::Ours if self.is_broken() => format!(
                "its log is not complete, so that recovery cannot bring it to its end: restore \
                 the log, or this copy; plimsoll check {path} names what is missing"
            ),
            Maker::Ours => format!("run plimsoll recover {path} first"),
            Maker::Engine => format!(
                "run plimsoll recover {path} --into COPY and read the copy, or esentutl /r {base} \
                 (for Exchange eseutil /r {base}) in the folder of its log"
            ),
            Maker::Unknown => format!(
                "run esentutl /r {base} (for Exchange eseutil /r {base}) in the folder of its log, \
                 whose files begin with {base}; if plimsoll made it, plimsoll recover {path} \
                 --log-folder FOLDER"
            ),
        }
    }

    /// Whether recovery would stop at a file that is damaged or missing.
    fn is_broken(&self) -> bool {
        let (first, last) = self.needed;
        let mut needed = self.files.range(first..=last.max(first));
        self.is_looked_for
            && (needed.any(|(_, file)| file.fault.is_some()) || !self.missing().is_empty())
    }

    /// Required generations that are missing.
    fn missing(&self) -> Vec<u32> {
        let (first, last) = self.needed;
        // A damaged header may claim billions of them.
        let most = last.min(first.saturating_add(100_000));
        if first == 0 {
            return Vec::new();
        }
        (first..=most).filter(|generation| !self.files.contains_key(generation)).collect()
    }

    /// The needed files in words, one sentence each; empty if nothing is needed.
    pub fn sentences(&self) -> Vec<String> {
        let (first, last) = self.needed;
        if first == 0 || last < first {
            return Vec::new();
        }
        let needed: Vec<&LogFile> = self.files.range(first..=last).map(|(_, file)| file).collect();
        let mut said = Vec::new();
        for file in &needed {
            if let Some(fault) = &file.fault {
                said.push(format!("{} {fault}: recovery cannot pass it", file.name));
            }
        }
        let missing = self.missing();
        if !missing.is_empty() {
            said.push(format!("not in its folder: {}", Missing { log: self, missing: &missing }));
        }
        if said.is_empty()
            && let (Some(one), Some(other)) = (needed.first(), needed.last())
        {
            said.push(format!(
                "{} to {}, the log that it needs, are in its folder, in sequence and intact",
                one.name, other.name
            ));
        }
        said
    }

    /// As JSON for programs.
    pub(crate) fn as_json(&self) -> serde_json::Value {
        serde_json::json!({
            "made_by": match self.maker {
                Maker::Ours => "plimsoll",
                Maker::Engine => "engine",
                Maker::Unknown => "unknown",
            },
            "log_base": self.base,
            "missing_generations": self.missing(),
            "sentences": self.sentences(),
        })
    }
}

/// Missing generations by file name.
struct Missing<'a> {
    log: &'a LogNeeded,
    missing: &'a [u32],
}

impl fmt::Display for Missing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(base) = self.log.base.as_deref() else {
            return self.without_names(f);
        };
        let end = if self.log.maker == Maker::Ours { "plg" } else { "log" };
        for (at, generation) in self.missing.iter().take(MOST_NAMED).enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(f, "{separator}{base}{generation:08X}.{end}")?;
        }
        if *self.missing.last().unwrap_or(&0) == self.log.needed.1 {
            write!(f, " (or {base}.{end}, if that is the last one)")?;
        }
        match self.missing.len().saturating_sub(MOST_NAMED) {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

impl Missing<'_> {
    /// Names generations: the files' names depend on a prefix that is unknown.
    fn without_names(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> =
            self.missing.iter().take(MOST_NAMED).map(|number| format!("{number:#x}")).collect();
        let word = if self.missing.len() == 1 { "generation" } else { "generations" };
        write!(f, "log {word} {}", numbers.join(", "))?;
        match self.missing.len().saturating_sub(MOST_NAMED) {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

fn read_start(path: &Path) -> io::Result<[u8; LOG_HEADER_BYTES]> {
    use io::Read as _;
    let mut start = [0; LOG_HEADER_BYTES];
    fs::File::open(path)?.read_exact(&mut start)?;
    Ok(start)
}

/// The fault of a log file. The last segments of one in use may be torn.
fn fault_of(path: &Path, facts: &LogFacts, is_open: bool) -> Option<String> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => return Some(format!("cannot be read: {error}")),
    };
    let [segment, segments, _] = facts.segments.map(usize::from);
    if bytes.len() < segment * segments {
        return Some(format!("is cut off after {} bytes", bytes.len()));
    }
    let bad = facts.bad_segment(&bytes).filter(|_| !is_open);
    bad.map(|index| format!("is damaged in segment {index}"))
}

/// The name of a log file without its generation.
fn base_of(name: &str, facts: &LogFacts) -> Option<String> {
    let stem = name.rsplit_once('.')?.0;
    let digits = [format!("{:08x}", facts.generation.0), format!("{:05x}", facts.generation.0)];
    let lower = stem.to_lowercase();
    let numbered = digits.iter().find(|digits| lower.ends_with(digits.as_str()));
    let base = stem.get(..stem.len() - numbered.map_or(0, String::len))?;
    (!base.is_empty()).then(|| base.to_owned())
}

/// This program's manifest of the database, if it is beside it.
fn manifest_of(path: &Path, signature: Signature) -> Option<Manifest> {
    let manifest = fs::read(path.with_extension("manifest.json")).unwrap_or_default();
    let manifest: Option<Manifest> = serde_json::from_slice(&manifest).ok();
    manifest.filter(|manifest| manifest.is_for(signature))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{LogNeeded, Maker};

    #[test]
    fn a_missing_log_has_a_name_only_if_its_prefix_is_known() {
        let missing = |base: Option<&str>, maker, needed| {
            let base = base.map(str::to_owned);
            let (files, checkpoint) = (BTreeMap::new(), None);
            LogNeeded { maker, base, needed, is_looked_for: true, files, checkpoint }
                .sentences()
                .concat()
        };
        let said = missing(Some("E07"), Maker::Ours, (15, 15));
        assert!(said.contains("E070000000F.plg (or E07.plg, if"), "{said}");
        let said = missing(None, Maker::Unknown, (15, 16));
        assert_eq!(said, "not in its folder: log generations 0xf, 0x10");
    }
}
