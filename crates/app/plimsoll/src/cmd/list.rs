//! `list`: the runs below a folder, newest first; a set of tests counts as one run.

mod entry;
pub(crate) mod flags;
mod fleets;
mod listed;
mod table;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use host::{is_live, refusal_to_resume};
use record::{JOURNAL, RunRecord, Sequel, Series};
use report::{RunEntry, RunState, achieved_iops, mean_ms, started_iso, suite_of};
use serde_json::{Value, json};
use serve::apply_labels;

use super::sequel::loaded;

use console::Outcome;
use console::error::CommandError;
use console::shell::shell_word;
use console::{self, Console};
use flags::ListFlags;
use fleets::ListedFleet;

use entry::{ListedEntry, ListedSet, entries};
use listed::{CutOff, ListedRun};

/// Number of folder levels searched for runs and sets of tests.
const DEEPEST: u32 = 3;

/// Lists runs; an empty list is an answer too.
pub(crate) fn run(flags: &ListFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let mut folders = Vec::new();
    find(&flags.folder, DEEPEST, &mut folders)
        .map_err(|error| CommandError::file(&flags.folder, "look for runs in", &error))?;
    let mut runs = Vec::new();
    for folder in folders {
        match read(folder, &flags.folder) {
            Ok(run) => runs.push(run),
            // An unreadable run does not hide the others.
            Err(error) => match error.told() {
                Some((sentence, _)) => console::complain(sentence),
                None => return Err(error),
            },
        }
    }
    runs.retain(|run| flags.tags.iter().all(|tag| run.record.start.tags.contains(tag)));
    let entries = entries(runs);
    if flags.json {
        console.answer_json("runs", json!({ "runs": all_json(&entries, &flags.folder) }))?;
    } else {
        table::print(&entries, &flags.folder, console)?;
    }
    Ok(Outcome::Pass)
}

fn all_json(entries: &[ListedEntry], folder: &Path) -> Vec<Value> {
    entries.iter().map(|entry| json_of(entry, folder)).collect()
}

fn read(folder: PathBuf, below: &Path) -> Result<ListedRun, CommandError> {
    let mut record = loaded(&folder)?;
    let verdict = verdict::judge(&record);
    apply_labels(&folder, &mut record.start);
    let written = fs::metadata(folder.join(JOURNAL)).and_then(|facts| facts.modified());
    let since = written.ok().and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    let is_live = is_live(&folder);
    Ok(ListedRun {
        cut: if is_live { None } else { cut_off(&folder, &record)? },
        is_live,
        is_replaced: false,
        id: id(&folder, below),
        written_ns: since.and_then(|since| u64::try_from(since.as_nanos()).ok()),
        folder,
        record,
        verdict,
    })
}

/// How to complete a run that was cut off or stopped; `None` if it ran to its end.
fn cut_off(folder: &Path, record: &RunRecord) -> Result<Option<CutOff>, CommandError> {
    let is_cut_off = report::is_cut_off(record);
    if !is_cut_off && !record.is_resumable() {
        return Ok(None);
    }
    let too_short = (!verdict::is_worth_resuming(record))
        .then(|| "too short to be judged after a crash: start it again".to_owned());
    let opened = (record.sequel == Sequel::Opened)
        .then(|| "its databases have been opened since: start it again".to_owned());
    Ok(match refusal_to_resume(folder)?.or(too_short).or(opened) {
        None => {
            let command = format!("plimsoll run --resume {}", shell_word(folder));
            Some(CutOff::Resumable(command))
        }
        Some(why) => is_cut_off.then_some(CutOff::Lost(why)),
    })
}

/// The id of the run or set of tests, the same as on the server.
fn id(folder: &Path, below: &Path) -> String {
    let mut parts = Vec::new();
    parts.extend(folder.strip_prefix(below).unwrap_or(folder).iter().map(OsStr::to_string_lossy));
    if !parts.is_empty() {
        return parts.join("/");
    }
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    whole.file_name().map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Folders that hold a journal; links are not followed, so there are no cycles.
fn find(folder: &Path, depth: u32, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if folder.join(JOURNAL).is_file() {
        found.push(folder.to_path_buf());
        return Ok(());
    }
    if depth == 0 {
        // A set counts as one run, although the runs of its tests are in subfolders.
        return find_parts(folder, found);
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            // A folder that this user may not read contains no runs for them.
            let _ = find(&entry.path(), depth - 1, found);
        }
    }
    Ok(())
}

fn find_parts(set: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(set)? {
        let entry = entry?;
        let is_part = entry.file_name().to_str().is_some_and(|name| suite_of(name).is_some());
        if is_part && entry.file_type()?.is_dir() && entry.path().join(JOURNAL).is_file() {
            found.push(entry.path());
        }
    }
    Ok(())
}

fn json_of(entry: &ListedEntry, below: &Path) -> Value {
    match entry {
        ListedEntry::Run(run) => run_json(run),
        ListedEntry::Set(set) => set_json(set, below),
        ListedEntry::Fleet(fleet) => fleet_json(fleet, below),
    }
}

fn fleet_json(fleet: &ListedFleet, below: &Path) -> Value {
    let hosts = fleet.hosts.iter().map(|host| host_json(host, fleet.is_played()));
    json!({
        "id": id(&fleet.folder, below),
        "state": RunState::Ended.name(),
        "name": fleet.name(),
        "folder": fleet.folder.display().to_string(),
        "test": "Fleet",
        "started": started_iso(&fleet.first().record),
        "verdict": fleet.verdict(),
        "transactional_iops": fleet.iops(),
        "hosts": hosts.collect::<Vec<Value>>(),
    })
}

/// A host of a fleet. Hosts that were simulated together share arrays, so a verdict of one alone
/// would contradict that of the deployment.
fn host_json(host: &ListedRun, is_played: bool) -> Value {
    let mut json = run_json(host);
    if is_played {
        json["verdict"] = Value::Null;
    }
    json
}

fn set_json(set: &ListedSet, below: &Path) -> Value {
    let first = &set.first().record;
    json!({
        "id": id(&set.folder, below),
        "state": if set.is_live() { RunState::Live } else { RunState::Ended }.name(),
        "name": first.start.name,
        "tags": first.start.tags,
        "folder": set.folder.display().to_string(),
        "description": first.start.description,
        "machine": first.start.machine.name,
        "test": "Set of tests",
        "started": started_iso(first),
        "verdict": set.verdict_for_programs(),
        "headline": (!set.is_live()).then(|| set.verdict_word()),
        "tests": set.tests.iter().map(run_json).collect::<Vec<Value>>(),
    })
}

fn run_json(run: &ListedRun) -> Value {
    let ListedRun { record, verdict, is_live, .. } = run;
    let started = started_iso(record);
    let headline = (!is_live).then(|| run.verdict_word());
    let entry = RunEntry {
        name: &record.start.name,
        tags: &record.start.tags,
        description: &record.start.description,
        machine: &record.start.machine.name,
        test: record.start.test.name(),
        started: started.as_deref(),
        verdict: (!is_live && !record.is_host_of_deployment())
            .then(|| report::verdict_of(record, verdict)),
        headline: headline.as_deref(),
        is_replaced: run.is_replaced,
        simulated: record.simulated().map(|simulation| &*simulation.array),
        imported: record.imported().map(|imported| &*imported.instrument),
        target_iops: record.target_iops(),
        iops: achieved_iops(record),
        backup_mib_per_second: report::backup_mib_per_second(record),
        read_ms: mean_ms(record, Series::DatabaseRead),
        log_write_ms: mean_ms(record, Series::LogWrite),
    };
    let mut json = entry.json(&run.id, RunState::of(record, *is_live), run.written_ns);
    json["folder"] = run.folder.display().to_string().into();
    if let Some(CutOff::Resumable(command)) = &run.cut {
        json["resume"] = command.as_str().into();
    }
    json
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use record::synthetic::Synthetic;

    use super::entry::ListedSet;
    use super::listed::ListedRun;
    use super::{host_json, run_json, set_json};

    #[test]
    fn only_the_deployment_has_a_verdict_and_not_each_host_simulated_with_it() {
        let host = ListedRun::made("hosts/EX01", Synthetic::default().run());
        let alone = host_json(&host, false);
        assert_eq!((&alone["verdict"], &alone["headline"]), (&"pass".into(), &"Pass".into()));
        assert_eq!(alone["replaced"], false);
        let played = host_json(&host, true);
        assert!(played["verdict"].is_null(), "{played}");
        assert!(played["achieved_transactional_iops"].is_number(), "{played}");
        let replaced = ListedRun { is_replaced: true, ..host };
        assert_eq!(run_json(&replaced)["replaced"], true);
    }

    #[test]
    fn a_set_has_the_headline_of_the_table() {
        let test = ListedRun::made("set/2-stress", Synthetic::default().run());
        let set = ListedSet { folder: PathBuf::from("set"), tests: vec![test] };
        assert_eq!(set_json(&set, Path::new("."))["headline"], "Cannot judge");
    }
}
