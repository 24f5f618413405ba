//! The run that `run --resume` goes on with: its journal, and whether everything is as it was.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use record::{Event, Resumption, RunRecord, Start, VolumeFacts, codec};
use serde_json::Value;
use trial::run::ResumedRun;
use units::Nanos;

use super::runs::journal_of;
use crate::error::CommandError;

/// A run that was cut off, its journal locked.
pub(crate) struct CutRun {
    /// Its folder.
    pub path: PathBuf,
    /// Its journal.
    pub journal: PathBuf,
    /// The journal, open for writes.
    pub file: File,
    /// Where it goes on.
    pub resumption: Resumption,
}

impl CutRun {
    /// The run whose folder or journal is at `path`.
    pub(crate) fn open(path: &Path) -> Result<Self, CommandError> {
        let journal = journal_of(path);
        let wrong = |error| CommandError::file(&journal, "open", &error);
        let refused = |why: String| CommandError::new(format!("{}: {why}", journal.display()));
        if !journal.is_file() {
            return Err(refused("no journal of a run; name the folder of a run".to_owned()));
        }
        let opened = OpenOptions::new().read(true).write(true).open(&journal);
        let mut file = opened.map_err(wrong)?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(refused("the run goes on already; wait for its end".to_owned()));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(wrong)?;
        let resumption = Resumption::of(&bytes).map_err(|why| refused(why.to_string()))?;
        let folder = journal.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        Ok(Self { path: folder, journal, file, resumption })
    }

    /// What has happened so far.
    pub(crate) const fn record(&self) -> &RunRecord {
        &self.resumption.record
    }

    /// What the databases must be found to be.
    pub(super) fn known(&self) -> ResumedRun {
        ResumedRun::of(self.record())
    }

    /// How long after the start of the run it is now, by the wall clock; a clock that was set back
    /// makes no time of the record come twice.
    pub(super) fn later_ns(&self, epoch: Nanos) -> u64 {
        let record = self.record();
        epoch.0.saturating_sub(record.start.started_epoch_ns).max(record.last_ns())
    }

    /// Refuses to go on where machine, program or storage are others: `present` is what a run that
    /// began now would say of them.
    pub(super) fn refuse_other_circumstances(&self, present: Start) -> Result<(), CommandError> {
        let before = &self.record().start;
        let (was, is) = (comparable(before.clone(), before), comparable(present, before));
        match first_difference("", &was, &is) {
            None => Ok(()),
            Some((what, was, is)) => Err(CommandError::new(format!(
                "{}: {what} was {was} when the run began and is {is} now, and one report cannot \
                 speak for both; make it as it was, or start the test anew",
                self.journal.display()
            ))),
        }
    }
}

/// What must be the same in both parts of a run; `before` is how it began. What is left of the time
/// and the number of sessions that was found belong to this part alone.
fn comparable(mut start: Start, before: &Start) -> Value {
    start.settings.measure_ns = before.settings.measure_ns;
    start.settings.threads_per_database = before.settings.threads_per_database;
    start.started_epoch_ns = 0;
    start.machine.memory_bytes = 0;
    start.processors_before = None;
    (start.command, start.options) = (String::new(), Vec::new());
    start.plan_text = String::new();
    for database in &mut start.databases {
        database.initial_bytes = 0;
        forget_what_changes(&mut database.volume);
        forget_what_changes(&mut database.log_volume);
    }
    // Both have been text, which rounds.
    let read = codec::decode(&codec::encode(&Event::Start(Box::new(start))));
    let text = read.map(|event| codec::encode(&event)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// A disk may get another name when the machine starts, and its free space is what the load leaves.
fn forget_what_changes(volume: &mut VolumeFacts) {
    volume.free_bytes = 0;
    volume.device.clear();
}

/// The first member that differs: its name, and its two values.
fn first_difference(name: &str, one: &Value, two: &Value) -> Option<(String, String, String)> {
    let inner = |member: &str| {
        let dot = if name.is_empty() { "" } else { "." };
        format!("{name}{dot}{member}")
    };
    match (one, two) {
        (Value::Object(one), Value::Object(two)) => {
            let names = one.keys().chain(two.keys().filter(|key| !one.contains_key(*key)));
            let of = |all: &serde_json::Map<String, Value>, key: &str| {
                all.get(key).cloned().unwrap_or_default()
            };
            let mut names = names;
            names.find_map(|key| first_difference(&inner(key), &of(one, key), &of(two, key)))
        }
        (Value::Array(one), Value::Array(two)) if one.len() == two.len() => {
            let mut pairs = one.iter().zip(two).zip(1_u32..);
            pairs.find_map(|((one, two), number)| {
                first_difference(&inner(&number.to_string()), one, two)
            })
        }
        (one, two) if one == two => None,
        (one, two) => Some((name.to_owned(), one.to_string(), two.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use record::{DatabaseFacts, Machine, Start};

    use super::{comparable, first_difference};

    fn start() -> Start {
        let machine = Machine { name: "a".to_owned(), memory_bytes: 7, ..Machine::default() };
        Start { machine, databases: vec![DatabaseFacts::default()], ..Start::default() }
    }

    #[test]
    fn another_machine_program_or_volume_is_named_and_what_always_changes_is_not() {
        let before = start();
        let compare = |change: &dyn Fn(&mut Start)| {
            let mut present = start();
            change(&mut present);
            let present = comparable(present, &before);
            first_difference("", &comparable(before.clone(), &before), &present)
        };
        assert_eq!(compare(&|_| ()), None);
        assert_eq!(compare(&|start| start.machine.memory_bytes = 9), None);
        assert_eq!(compare(&|start| start.databases[0].volume.device = "/dev/sdc".into()), None);
        assert_eq!(compare(&|start| start.settings.measure_ns = 9), None);
        let (what, was, is) = compare(&|start| start.machine.name = "b".into()).unwrap();
        assert_eq!((what.as_str(), was.as_str(), is.as_str()), ("machine.name", "\"a\"", "\"b\""));
        let (what, ..) = compare(&|start| start.settings.executors = 9).unwrap();
        assert_eq!(what, "settings.executors");
        let (what, ..) =
            compare(&|start| start.databases[0].log_volume.mount = "/x".into()).unwrap();
        assert_eq!(what, "databases.1.log_volume.mount");
        let (what, ..) = compare(&|start| start.databases.clear()).unwrap();
        assert_eq!(what, "databases");
    }
}
