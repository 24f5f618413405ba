//! Plays a deployment, all groups of hosts side by side, and writes the fleet record.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use blueprint::PlayedReport;
use fleet::{FLEET_JOURNAL, FleetEvent, HOSTS, LossCause, RunId};
use host::HostError;
use host::simulate::played::{HostJournal, side_by_side};
use host::simulate::{SimulatedStorage, SimulationOrder};
use plan::Plan;
use rehearsal::{
    GroupOutcome, HostGroup, Judgement, Limits, Occurrence, PieceSpan, PlayListener, PlayOrder,
    PlayedDeployment, Stretch, groups, judge, play, replay_of, timeline,
};
use simdisk::operations::OperationAnswer;
use units::{Nanos, Seed};

use super::arrangement::Arrangement;
use console::error::CommandError;

/// Time played at the start of each stretch.
const TRANSITION: Nanos = Nanos::from_secs(120);

/// Requests of a host in the minutes that represent the rest of a stretch: beside a rebuild the
/// mean of 480 reads of one minute differed by 20 % from that of five minutes.
const REPRESENTATIVE_REQUESTS: f64 = 2_000.0;

/// Time played without events, and the longest with them: one stretch has to represent everything.
const QUIET: Nanos = Nanos::from_secs(600);

/// Share of the demanded requests that must be reached, as in a run.
const REACHED: f64 = 0.95;

/// How a deployment is played.
pub(crate) struct RehearsalOrder<'a> {
    pub(crate) arrangement: &'a Arrangement,
    pub(crate) occurrences: &'a [Occurrence],
    pub length: Nanos,
    pub(crate) seeds: u32,
    pub(crate) rest_percent: u32,
    /// Folder of the fleet record; `None` writes nothing.
    pub folder: Option<&'a Path>,
    /// The command that repeats the simulation.
    pub command: String,
}

/// A played deployment.
pub(crate) struct Played {
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) judgements: Vec<Judgement>,
    limits: Limits,
}

impl Played {
    pub(crate) fn report<'a>(
        &'a self,
        arrangement: &'a Arrangement,
        occurrences: &'a [Occurrence],
    ) -> PlayedReport<'a> {
        PlayedReport {
            name: &arrangement.name,
            array: &arrangement.array.name,
            assumption: arrangement.assumption(),
            uncertainty_percent: arrangement.array.calibration.uncertainty_percent,
            deployment: &arrangement.deployment,
            stretches: &self.stretches,
            occurrences,
            limits: self.limits,
            maintenance_pause: arrangement.plans[0].test.maintenance_throttle,
            judgements: &self.judgements,
        }
    }
}

/// Time in which a mean host answers enough requests to represent the rest of a stretch.
pub(crate) fn representative(deployment: &PlayedDeployment) -> Nanos {
    let demanded = deployment.databases.iter().map(|of| of.iops.unwrap_or(f64::INFINITY));
    let of_host = demanded.sum::<f64>() / deployment.hosts.len().max(1) as f64;
    let minutes = (1..10_u32).find(|of| f64::from(of * 60) * of_host >= REPRESENTATIVE_REQUESTS);
    minutes.map_or(QUIET, |of| Nanos::from_secs(u64::from(of) * 60))
}

impl RehearsalOrder<'_> {
    /// Plays it with every seed.
    pub(crate) fn conduct(&self) -> Result<Played, CommandError> {
        let replays: Vec<_> = self.arrangement.deployment.profiles.iter().map(replay_of).collect();
        let deployment = &self.arrangement.deployment;
        let stretches = timeline(deployment, self.occurrences, self.length);
        let limits = limits(&self.arrangement.plans[0]);
        let groups = groups(deployment);
        let first = self.arrangement.plans[0].seed.0;
        let mut judgements = Vec::new();
        for number in 0..u64::from(self.seeds) {
            let order = PlayOrder {
                deployment,
                replays: &replays,
                stretches: &stretches,
                scan: self.arrangement.scan(),
                rest_percent: self.rest_percent,
                transition: TRANSITION,
                steady: if self.occurrences.is_empty() {
                    QUIET
                } else {
                    representative(deployment)
                },
                seed: Seed(first.wrapping_add(number)),
            };
            let folder = self.folder.filter(|_| number == 0);
            let outcomes = side_by_side::<_, HostError>(groups.len(), |at| {
                self.group(&order, &groups[at], folder)
            })?;
            let timeline = (&*stretches, self.occurrences);
            judgements.push(judge(deployment, timeline, &outcomes, &limits));
        }
        if let Some(folder) = self.folder {
            self.note_fleet(folder, &stretches)?;
        }
        Ok(Played { stretches, judgements, limits })
    }

    /// Plays one group, and writes the journals of its hosts.
    fn group(
        &self,
        order: &PlayOrder<'_>,
        group: &HostGroup,
        folder: Option<&Path>,
    ) -> Result<GroupOutcome, HostError> {
        let mut journals = self.journals(order.stretches, group, folder)?;
        let outcome = play(order, group, &mut journals);
        journals.finish()?;
        outcome.map_err(|error| HostError::new(error.to_string()))
    }

    /// Opens the journals of a group's hosts; `None` without a folder.
    fn journals<'b>(
        &self,
        stretches: &'b [Stretch],
        group: &HostGroup,
        folder: Option<&Path>,
    ) -> Result<GroupJournals<'b>, HostError> {
        let mut journals = BTreeMap::new();
        if let Some(folder) = folder {
            for &host in &group.hosts {
                journals.insert(host, self.journal(host, folder)?);
            }
        }
        let copies = group.positions(&self.arrangement.deployment);
        Ok(GroupJournals { stretches, copies, journals, written: Ok(()) })
    }

    fn journal(&self, host: usize, folder: &Path) -> Result<HostJournal, HostError> {
        let plan = &self.arrangement.plans[host];
        let name = &self.arrangement.deployment.hosts[host].name;
        let mut plan = plan.clone();
        plan.name.clone_from(name);
        // A host carries its active copies, which change with every event.
        plan.workload.target_iops = None;
        let storage =
            SimulatedStorage { array: self.arrangement.array.clone(), is_each_folder: false };
        let order = SimulationOrder {
            plan: &plan,
            storage: &storage,
            profile: self.arrangement.deployment.profiles.first(),
            rest_percent: self.rest_percent,
            seed: plan.seed,
            command: self.command.clone(),
            options: Vec::new(),
            tags: &[],
            folder: &host_folder(folder, host, name),
        };
        let mut journal = HostJournal::create(&order)?;
        journal.log(
            "the clock of this journal counts the time that was played; the other time passes \
             between its intervals"
                .to_owned(),
        )?;
        Ok(journal)
    }

    /// Writes the fleet's own journal: the hosts, and when each was lost and returned.
    fn note_fleet(&self, folder: &Path, stretches: &[Stretch]) -> Result<(), CommandError> {
        let names: Vec<String> =
            self.arrangement.deployment.hosts.iter().map(|host| host.name.clone()).collect();
        let mut notes = FleetNotes::begin(folder, &self.arrangement.name, &names)?;
        for pair in stretches.windows(2) {
            for host in 0..names.len() {
                match (pair[0].up[host], pair[1].up[host]) {
                    (true, false) => notes.lost(host, pair[1].from)?,
                    (false, true) => notes.note(FleetEvent::Back { host }, pair[1].from)?,
                    _ => {}
                }
            }
        }
        notes.end()
    }
}

/// The journals of a group's hosts while it is played.
struct GroupJournals<'a> {
    stretches: &'a [Stretch],
    /// Host of each copy in the group, and the copy's index on that host.
    copies: Vec<(usize, usize)>,
    journals: BTreeMap<usize, HostJournal>,
    written: Result<(), HostError>,
}

impl PlayListener for GroupJournals<'_> {
    fn answered(&mut self, copy: usize, answer: &OperationAnswer, is_replay: bool) {
        let (host, position) = self.copies[copy];
        if let Some(journal) = self.journals.get_mut(&host) {
            journal.note(position, answer, is_replay);
        }
    }

    fn piece_ended(&mut self, span: PieceSpan) -> bool {
        // A host that is down makes no requests.
        let current = self.stretches.iter().rev().find(|of| of.from < span.at);
        for (&host, journal) in &mut self.journals {
            if current.is_some_and(|of| !of.up[host]) {
                journal.skip();
            } else if self.written.is_ok() {
                self.written = journal.end_interval(span.played);
            }
        }
        self.written.is_ok()
    }
}

impl GroupJournals<'_> {
    fn finish(self) -> Result<(), HostError> {
        self.written?;
        self.journals.into_values().try_for_each(|journal| journal.finish().map(drop))
    }
}

fn limits(plan: &Plan) -> Limits {
    Limits {
        reads_ms: plan.limits.read_average.as_secs_f64() * 1e3,
        log_ms: plan.limits.log_write_average.as_secs_f64() * 1e3,
        reached: REACHED,
    }
}

/// Folder of one host's record inside a fleet's folder.
pub(super) fn host_folder(folder: &Path, number: usize, name: &str) -> PathBuf {
    let name = plan::sound_name(name).unwrap_or_else(|| format!("host-{number}"));
    folder.join(HOSTS).join(name)
}

/// The fleet's own journal, in virtual time.
pub(super) struct FleetNotes {
    file: File,
    path: PathBuf,
}

impl FleetNotes {
    /// Begins the journal in `folder`.
    pub(super) fn begin(folder: &Path, name: &str, hosts: &[String]) -> Result<Self, CommandError> {
        let path = folder.join(FLEET_JOURNAL);
        let opened = OpenOptions::new().create_new(true).append(true).open(&path);
        let file = opened.map_err(|error| CommandError::file(&path, "create", &error))?;
        let mut notes = Self { file, path };
        notes.note(
            FleetEvent::Started {
                run: RunId::try_from("simulated".to_owned())?,
                name: name.to_owned(),
                build: host::version::PROGRAM.to_owned(),
                hosts: hosts.to_vec(),
                shared_storage: false,
            },
            Nanos::ZERO,
        )?;
        Ok(notes)
    }

    pub(super) fn ended(&mut self, host: usize, status: u8) -> Result<(), CommandError> {
        self.note(FleetEvent::HostEnded { host, status }, Nanos::ZERO)
    }

    fn lost(&mut self, host: usize, at: Nanos) -> Result<(), CommandError> {
        self.note(FleetEvent::Lost { host, heard_ns: at.0, cause: LossCause::Silence }, at)
    }

    fn note(&mut self, event: FleetEvent, at: Nanos) -> Result<(), CommandError> {
        let line = event.at(at).encode();
        let written = self.file.write_all(line.as_bytes());
        written.map_err(|error| CommandError::file(&self.path, "write", &error))
    }

    pub(super) fn end(mut self) -> Result<(), CommandError> {
        self.note(FleetEvent::Ended { early: None }, Nanos::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::representative;
    use crate::size::prove::fixture::deployment;

    #[test]
    fn a_light_load_is_played_longer_to_represent_the_rest() {
        let minutes = |iops: Option<f64>| {
            let mut deployment = deployment(2);
            let count = deployment.databases.len() as f64 / deployment.hosts.len() as f64;
            for database in &mut deployment.databases {
                database.iops = iops.map(|of| of / count);
            }
            representative(&deployment)
        };
        let shown = [Some(100.0), Some(13.0), Some(1.0), None].map(minutes);
        assert_eq!(shown, [1, 3, 10, 1].map(|of| Nanos::from_secs(of * 60)));
    }
}
