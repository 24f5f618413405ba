//! `list`: the runs below a folder, the newest first.

mod table;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use record::{JOURNAL, RunRecord, Series};
use report::{RunEntry, RunState, achieved_iops, mean_ms, started_iso, started_ns};
use serde_json::{Value, json};
use verdict::Verdict;

use crate::Outcome;
use crate::console::{self, Console};
use crate::error::CommandError;
use crate::flags::ListFlags;
use crate::measure::{is_live, load};

/// Runs lie in a folder of runs, or in one of such folders.
const DEEPEST: u32 = 3;

/// A run that was found.
struct ListedRun {
    folder: PathBuf,
    /// The same below the folder that was looked in, with `/` between its parts.
    id: String,
    record: RunRecord,
    verdict: Verdict,
    is_live: bool,
    /// When its journal was last written, since 1970.
    written_ns: Option<u64>,
}

impl ListedRun {
    /// When it began; a simulation, whose own clock always begins alike, when it was made.
    fn began_ns(&self) -> Option<u64> {
        let made_ns = self.written_ns.filter(|_| self.record.simulated().is_some());
        started_ns(&self.record).or(made_ns)
    }
}

/// Lists; that there are none is an answer too.
pub(crate) fn run(flags: &ListFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let mut folders = Vec::new();
    find(&flags.folder, DEEPEST, &mut folders)
        .map_err(|error| CommandError::file(&flags.folder, "look for runs in", &error))?;
    let mut runs = Vec::new();
    for folder in folders {
        match read(folder, &flags.folder) {
            Ok(run) => runs.push(run),
            // One that cannot be read hides none of the others.
            Err(error) => match error.told() {
                Some((sentence, _)) => console::complain(sentence),
                None => return Err(error),
            },
        }
    }
    runs.retain(|run| flags.tags.iter().all(|tag| run.record.start.tags.contains(tag)));
    runs.sort_by_key(|run| std::cmp::Reverse(run.began_ns()));
    if flags.json {
        console
            .answer_json("runs", json!({ "runs": runs.iter().map(as_json).collect::<Vec<_>>() }))?;
    } else {
        table::print(&runs, &flags.folder, console)?;
    }
    Ok(Outcome::Pass)
}

fn read(folder: PathBuf, below: &Path) -> Result<ListedRun, CommandError> {
    let record = load(&folder)?;
    let verdict = verdict::judge(&record);
    let written = fs::metadata(folder.join(JOURNAL)).and_then(|facts| facts.modified());
    let since = written.ok().and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    Ok(ListedRun {
        is_live: is_live(&folder),
        id: id(&folder, below),
        written_ns: since.and_then(|since| u64::try_from(since.as_nanos()).ok()),
        folder,
        record,
        verdict,
    })
}

/// What the server calls the run too.
fn id(folder: &Path, below: &Path) -> String {
    let mut parts = Vec::new();
    parts.extend(folder.strip_prefix(below).unwrap_or(folder).iter().map(OsStr::to_string_lossy));
    if !parts.is_empty() {
        return parts.join("/");
    }
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    whole.file_name().map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Folders that hold a journal; links are not followed, so there are no circles.
fn find(folder: &Path, depth: u32, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if folder.join(JOURNAL).is_file() {
        found.push(folder.to_path_buf());
        return Ok(());
    }
    if depth == 0 {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            // A folder that may not be looked into holds no run for this user.
            let _ = find(&entry.path(), depth - 1, found);
        }
    }
    Ok(())
}

fn as_json(run: &ListedRun) -> Value {
    let ListedRun { record, verdict, is_live, .. } = run;
    let state = RunState::of(record, *is_live);
    let started = started_iso(record);
    let entry = RunEntry {
        name: &record.start.name,
        tags: &record.start.tags,
        description: &record.start.description,
        machine: &record.start.machine.name,
        test: record.start.test.name(),
        started: started.as_deref(),
        verdict: (!is_live).then(|| report::verdict_of(record, verdict)),
        simulated: record.simulated().map(|simulation| &*simulation.array),
        imported: record.imported().map(|imported| &*imported.instrument),
        target_iops: record.target_iops(),
        iops: achieved_iops(record),
        read_ms: mean_ms(record, Series::DatabaseRead),
        log_write_ms: mean_ms(record, Series::LogWrite),
    };
    let mut json = entry.json(&run.id, state, run.written_ns);
    json["folder"] = run.folder.display().to_string().into();
    json
}
