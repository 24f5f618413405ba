//! `list`: the runs below a folder, the newest first.

use std::fs;
use std::path::{Path, PathBuf};

use record::{Phase, PublishedInstance, RunRecord, Series};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use verdict::Verdict;

use crate::Outcome;
use crate::console::{self, Console};
use crate::error::CommandError;
use crate::flags::ListFlags;
use crate::measure::{JOURNAL, is_live, load};

/// Runs lie in a folder of runs, or in one of such folders.
const DEEPEST: u32 = 3;

/// A run that was found.
struct ListedRun {
    folder: PathBuf,
    record: RunRecord,
    verdict: Verdict,
    is_live: bool,
}

/// Lists; that there are none is an answer too.
pub(crate) fn run(flags: &ListFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let mut folders = Vec::new();
    find(&flags.folder, DEEPEST, &mut folders)
        .map_err(|error| CommandError::file(&flags.folder, "look for runs in", &error))?;
    let mut runs = Vec::new();
    for folder in folders {
        match load(&folder) {
            Ok(record) => {
                let verdict = verdict::judge(&record);
                runs.push(ListedRun { is_live: is_live(&folder), folder, record, verdict });
            }
            // One that cannot be read hides none of the others.
            Err(CommandError::Sentence(sentence) | CommandError::Damage(sentence)) => {
                console::complain(&sentence);
            }
            Err(error @ CommandError::BrokenPipe) => return Err(error),
        }
    }
    runs.retain(|run| flags.tags.iter().all(|tag| run.record.start.tags.contains(tag)));
    runs.sort_by_key(|run| std::cmp::Reverse(started_ns(&run.record)));
    if flags.json {
        console.answer_json(&Value::Array(runs.iter().map(as_json).collect()))?;
    } else {
        print(&runs, &flags.folder, console)?;
    }
    Ok(Outcome::Pass)
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

fn print(runs: &[ListedRun], below: &Path, console: &mut Console) -> Result<(), CommandError> {
    if runs.is_empty() {
        return console.remark(format_args!("No run lies in {}.", below.display()));
    }
    console.answer(
        "Started           Verdict            IOPS  Read ms   Log ms  Name              Run",
    )?;
    for run in runs {
        let started = started(&run.record).map_or("-".to_owned(), |time| {
            let text: String = time.chars().take(16).collect();
            text.replace('T', " ")
        });
        console.answer(format_args!(
            "{started:<16}  {:<13}  {:>8}  {:>7}  {:>7}  {:<16}  {}{}",
            verdict_word(run),
            iops(&run.record).map_or("-".to_owned(), |iops| format!("{iops:.0}")),
            milliseconds(mean_ms(&run.record, Series::DatabaseRead)),
            milliseconds(mean_ms(&run.record, Series::LogWrite)),
            name(run),
            run.folder.display(),
            tags(run)
        ))?;
    }
    Ok(())
}

fn name(run: &ListedRun) -> &str {
    match run.record.start.name.as_str() {
        "" => "-",
        name => name,
    }
}

fn tags(run: &ListedRun) -> String {
    let tags = run.record.start.tags.join(", ");
    if tags.is_empty() { tags } else { format!("  [{tags}]") }
}

fn milliseconds(mean: Option<f64>) -> String {
    mean.map_or("-".to_owned(), |mean| format!("{mean:.3}"))
}

fn verdict_word(run: &ListedRun) -> String {
    if run.is_live { "live".to_owned() } else { report::verdict_name(&run.record, &run.verdict) }
}

fn as_json(run: &ListedRun) -> Value {
    json!({
        "name": run.record.start.name,
        "tags": run.record.start.tags,
        "folder": run.folder.display().to_string(),
        "description": run.record.start.description,
        "test": run.record.start.test.name(),
        "started": started(&run.record),
        "verdict": verdict_word(run),
        "imported": run.record.imported().map(|imported| &imported.instrument),
        "achieved_transactional_iops": iops(&run.record),
        "read_latency_ms": mean_ms(&run.record, Series::DatabaseRead),
        "log_write_latency_ms": mean_ms(&run.record, Series::LogWrite),
    })
}

/// When a run began; on the clock of its machine where the result was imported, which is all that
/// is known.
fn started_ns(run: &RunRecord) -> Option<u64> {
    match run.imported() {
        Some(imported) => imported.started_local_ns,
        None => Some(run.start.started_epoch_ns),
    }
}

/// ISO 8601, in UTC; without a zone where it is not known.
fn started(run: &RunRecord) -> Option<String> {
    let at = i128::from(started_ns(run)?);
    let text = OffsetDateTime::from_unix_timestamp_nanos(at).ok()?.format(&Rfc3339).ok()?;
    let is_utc = run.imported().is_none();
    Some(if is_utc { text } else { text.trim_end_matches('Z').to_owned() })
}

fn iops(run: &RunRecord) -> Option<f64> {
    match run.imported() {
        Some(imported) => imported.transactional_iops(),
        None => Some(run.achieved_transactional_iops()),
    }
}

fn mean_ms(run: &RunRecord, series: Series) -> Option<f64> {
    if let Some(imported) = run.imported() {
        let of = match series {
            Series::LogWrite => PublishedInstance::log_writes,
            _ => PublishedInstance::database_reads,
        };
        return imported.all(of).latency_ms;
    }
    let sum = run.sum_of(Phase::Measure);
    let total = sum.series.get(&series).filter(|total| !total.latency.is_empty())?;
    Some(total.latency.mean_ns() / 1e6)
}
