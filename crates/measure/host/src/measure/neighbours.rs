//! Finds other runs on this machine that use the same disks. No registry is needed: a run keeps its
//! journal and its databases open.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use device_os::probe;
use plan::Plan;
use record::{Event, OtherRun};
use units::Nanos;

use super::questions::Questions;
use crate::error::HostError;
use crate::system::{self, OpenFiles};
use crate::target;

/// Interval between checks while no phase begins or ends.
const BETWEEN_LOOKS: Nanos = Nanos::from_secs(10);

/// Longest wait for the last answer.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// Other runs on the disks of a run.
pub(super) struct NeighbourRuns {
    /// A mount point on each disk.
    disks: BTreeMap<String, String>,
    /// A folder of the run, named in reports of a missing answer.
    folder: PathBuf,
    questions: Questions<(u64, Vec<OtherDisk>)>,
    /// Time of the last check, in nanoseconds since the start of the run.
    looked_ns: Option<u64>,
}

/// The folder of another run, and a disk that it uses.
type OtherDisk = (PathBuf, String);

impl NeighbourRuns {
    /// Watches the disks of `plan`; no other run has been seen yet.
    pub(super) fn new(plan: &Plan) -> Result<Self, HostError> {
        let folders = plan.databases.iter().flat_map(|of| [&of.folder, &of.log_folder]);
        let mut disks = BTreeMap::new();
        for folder in folders.collect::<BTreeSet<_>>() {
            let own = target::of_system(Path::new(folder));
            if let Some((disk, mount)) = own.and_then(|folder| disk_of(&folder)) {
                disks.entry(disk).or_insert(mount);
            }
        }
        let folder =
            plan.databases.first().map_or_else(PathBuf::new, |of| of.folder.clone().into());
        Ok(Self { disks, folder, questions: Questions::start()?, looked_ns: None })
    }

    /// Checks when a phase begins or ends, and periodically in between.
    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::Phase(mark) => self.look(mark.at_ns),
            Event::Interval(interval) => {
                let since_ns = self.looked_ns.map(|at_ns| interval.to_ns.saturating_sub(at_ns));
                if since_ns.is_none_or(|since_ns| since_ns >= BETWEEN_LOOKS.0) {
                    self.look(interval.to_ns);
                }
            }
            _ => {}
        }
    }

    fn look(&mut self, at_ns: u64) {
        self.looked_ns = Some(at_ns);
        self.questions.ask(&self.folder, move || {
            let runs = system::other_runs();
            (at_ns, runs.iter().flat_map(disks_of).collect())
        });
    }

    /// Whether an unanswered query may keep the process in the kernel.
    pub(super) fn is_stuck(&mut self) -> bool {
        self.questions.is_stuck()
    }

    /// Returns the runs seen, once per disk.
    pub(super) fn events(&mut self) -> Vec<Event> {
        let mut first: BTreeMap<OtherDisk, u64> = BTreeMap::new();
        for (at_ns, seen) in self.questions.answers_within(LAST_WAIT) {
            for one in seen.into_iter().filter(|(_, disk)| self.disks.contains_key(disk)) {
                first.entry(one).or_insert(at_ns);
            }
        }
        let mut events = Vec::new();
        for ((folder, disk), at_ns) in first {
            let (folder, volume) = (folder.display().to_string(), self.disks[&disk].clone());
            events.push(Event::OtherRun(OtherRun { at_ns, folder, volume, disk }));
        }
        events
    }
}

/// Returns the disks that hold databases or logs of a run.
fn disks_of(run: &OpenFiles) -> BTreeSet<OtherDisk> {
    run.files
        .iter()
        .filter_map(|file| disk_of(file))
        .map(|(disk, _)| (run.folder.clone(), disk))
        .collect()
}

/// Returns the disk under a path, or its substitute if there is none, and its mount point.
fn disk_of(path: &Path) -> Option<(String, String)> {
    let facts = probe::volume(path).ok()?;
    let disk = match facts.disk {
        Some(disk) => disk.name,
        None => storage_of(&facts.source, &facts.mount_point).to_owned(),
    };
    (!disk.is_empty()).then_some((disk, facts.mount_point))
}

/// The substitute for the disk of a mount without one: the address of a server, which all mounts of
/// it share. Other sources, such as `tmpfs` or the name of a FUSE program, are the same for mounts
/// that share nothing.
fn storage_of<'a>(source: &'a str, mount_point: &'a str) -> &'a str {
    if source.contains(':') || source.starts_with("//") { source } else { mount_point }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use record::Event;

    use super::{NeighbourRuns, Plan, disk_of, disks_of, storage_of};
    use crate::system::OpenFiles;

    #[test]
    fn mounts_without_a_disk_are_told_apart_unless_they_share_a_server() {
        assert_eq!(storage_of("tmpfs", "/run/a"), "/run/a");
        assert_eq!(storage_of("mergerfs", "/pool"), "/pool");
        assert_eq!(storage_of("nas:/export/mail", "/mnt/one"), "nas:/export/mail");
        assert_eq!(storage_of("//nas/mail", "/mnt/two"), "//nas/mail");
    }

    #[test]
    fn only_runs_on_a_disk_of_this_one_are_told_and_each_once() {
        let here = env!("CARGO_MANIFEST_DIR");
        let plan = format!("[databases]\nfolders = [\"{here}\"]\nsize = \"16MiB\"\n");
        let plan = Plan::parse("test", &plan).unwrap();
        let mut neighbours = NeighbourRuns::new(&plan).unwrap();
        let (disk, mount) = disk_of(Path::new(here)).unwrap();
        let other = OpenFiles { folder: PathBuf::from("/other"), files: vec![here.into()] };
        let seen: Vec<_> = disks_of(&other).into_iter().collect();
        assert_eq!(seen, [(PathBuf::from("/other"), disk.clone())]);
        for at_ns in [5, 9] {
            let (mut seen, elsewhere) = (seen.clone(), (PathBuf::from("/x"), "no disk".to_owned()));
            seen.push(elsewhere);
            neighbours.questions.ask(Path::new("/"), move || (at_ns, seen));
        }
        let events = neighbours.events();
        let [Event::OtherRun(told)] = &events[..] else {
            panic!("{events:?}");
        };
        assert_eq!((told.at_ns, &*told.folder), (5, "/other"));
        assert_eq!((&told.disk, &told.volume), (&disk, &mount));
    }
}
