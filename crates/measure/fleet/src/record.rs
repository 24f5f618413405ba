//! A fleet run read back: the fleet's own journal folded, with the record of each host
//! beside it.

use std::fmt;

use record::{Phase, RunRecord};
use units::Nanos;

use crate::{
    AgentId, ClockOffset, CopyReport, FleetEvent, FleetLine, FleetStage, HostFacts, LoadChange,
    LossCause, PlannedEvent, RunId,
};

/// A fleet run.
#[derive(Clone, Debug)]
pub struct FleetRecord {
    /// Id of the run.
    pub run: RunId,
    /// Name of the fleet plan.
    pub name: String,
    /// Program and version of the controller.
    pub build: String,
    /// When it began, by the controller's clock, in nanoseconds since 1970.
    pub started_ns: u64,
    /// The hosts, in the order of the plan.
    pub hosts: Vec<HostPart>,
    /// When each stage began.
    pub stages: Vec<(FleetStage, u64)>,
    /// Deliberate events, in time order.
    pub events: Vec<PlannedEvent>,
    /// The load of each copy when the measurement began, and each change of it.
    pub loads: Vec<LoadChange>,
    /// Instant at which all hosts begin to measure, by the controller's clock.
    pub measure_from_ns: Option<u64>,
    /// Whether the controller saw the run to its end.
    pub has_ended: bool,
    /// Why it ended early, in a sentence.
    pub early: Option<String>,
    /// Messages that changed nothing, by kind.
    pub ignored: Vec<(String, u64)>,
}

/// All that is recorded about one host.
#[derive(Clone, Debug, Default)]
pub struct HostPart {
    /// Name as the plan has it.
    pub name: String,
    /// Its agent, if it was found.
    pub agent: Option<AgentId>,
    /// Facts about the host, if it reported them.
    pub facts: Option<HostFacts>,
    /// Last known offset of its clock from the controller's.
    pub clock: Option<ClockOffset>,
    /// Times it was deliberately down, by the controller's clock: begin, and end if it returned.
    pub downs: Vec<(u64, Option<u64>)>,
    /// The parts of its record before, during and after each event: see [`FleetRecord::cut`].
    pub parts: Vec<Option<RunRecord>>,
    /// Reports of the reseeds that it read or wrote.
    pub copies: Vec<CopyReport>,
    /// Times at which it was lost and came back.
    pub absences: Vec<Absence>,
    /// Its refusals, in sentences.
    pub refusals: Vec<String>,
    /// Exit status of its run, if it reported one.
    pub status: Option<u8>,
    /// The record of its run, if its journal arrived.
    pub record: Option<RunRecord>,
}

/// A period during which a host was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absence {
    /// When it was last heard, by the controller's clock, in nanoseconds since 1970.
    pub from_ns: u64,
    /// When it was heard again.
    pub to_ns: Option<u64>,
    /// How it was noticed.
    pub cause: LossCause,
}

/// Why a journal is not a fleet's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetLoadError {
    /// It is empty.
    Empty,
    /// Its first line does not start a fleet run.
    NoStart,
    /// A line cannot be read.
    Line {
        /// Counted from 1.
        line: usize,
        /// The parser's error.
        why: String,
    },
    /// A line refers to a host that is not in the run.
    NoSuchHost {
        /// Counted from 1.
        line: usize,
    },
}

impl fmt::Display for FleetLoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the journal of the fleet is empty: the run never began"),
            Self::NoStart => f.write_str("the first line does not start a fleet run"),
            Self::Line { line, why } => write!(f, "line {line}: {why}"),
            Self::NoSuchHost { line } => write!(f, "line {line}: the run has no such host"),
        }
    }
}

impl std::error::Error for FleetLoadError {}

impl FleetRecord {
    /// Folds a fleet's journal; ignores a last line that a crash has cut off.
    pub fn load(text: &str) -> Result<Self, FleetLoadError> {
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let (first, rest) = lines.split_first().ok_or(FleetLoadError::Empty)?;
        let mut record = Self::begin(first)?;
        for (index, line) in rest.iter().enumerate() {
            let number = index + 2;
            match serde_json::from_str::<FleetLine>(line) {
                Ok(line) => {
                    record.fold(line).ok_or(FleetLoadError::NoSuchHost { line: number })?;
                }
                Err(_) if index + 1 == rest.len() => {}
                Err(error) => {
                    return Err(FleetLoadError::Line { line: number, why: error.to_string() });
                }
            }
        }
        Ok(record)
    }

    fn begin(first: &str) -> Result<Self, FleetLoadError> {
        let line: FleetLine = serde_json::from_str(first).map_err(|_| FleetLoadError::NoStart)?;
        let FleetEvent::Started { run, name, build, hosts, .. } = line.event else {
            return Err(FleetLoadError::NoStart);
        };
        Ok(Self {
            run,
            name,
            build,
            started_ns: line.at_ns,
            hosts: hosts.into_iter().map(|name| HostPart { name, ..HostPart::default() }).collect(),
            stages: Vec::new(),
            events: Vec::new(),
            loads: Vec::new(),
            measure_from_ns: None,
            has_ended: false,
            early: None,
            ignored: Vec::new(),
        })
    }

    /// Applies one line; `None` if it refers to a host that does not exist.
    fn fold(&mut self, FleetLine { at_ns, event }: FleetLine) -> Option<()> {
        match event {
            FleetEvent::Started { .. } | FleetEvent::Suspect { .. } => {}
            FleetEvent::Stage { stage } => self.stages.push((stage, at_ns)),
            FleetEvent::Planned { events, loads } => (self.events, self.loads) = (events, loads),
            FleetEvent::Down { host } => self.hosts.get_mut(host)?.downs.push((at_ns, None)),
            FleetEvent::Up { host } => {
                if let Some(down) = self.hosts.get_mut(host)?.downs.last_mut() {
                    down.1 = Some(at_ns);
                }
            }
            FleetEvent::Copied { host, report } => self.hosts.get_mut(host)?.copies.push(report),
            FleetEvent::MeasureFrom { at_ns } => self.measure_from_ns = Some(at_ns),
            FleetEvent::Ignored { fault, count } => self.ignored.push((fault, count)),
            FleetEvent::Ended { early } => (self.has_ended, self.early) = (true, early),
            FleetEvent::Found { host, agent } => self.hosts.get_mut(host)?.agent = Some(agent),
            FleetEvent::Described { host, facts } => {
                self.hosts.get_mut(host)?.facts = Some(facts);
            }
            FleetEvent::Clock { host, clock } => self.hosts.get_mut(host)?.clock = Some(clock),
            FleetEvent::Lost { host, heard_ns, cause } => {
                let absence = Absence { from_ns: heard_ns, to_ns: None, cause };
                self.hosts.get_mut(host)?.absences.push(absence);
            }
            FleetEvent::Back { host } => {
                let absences = &mut self.hosts.get_mut(host)?.absences;
                if let Some(absence) = absences.last_mut() {
                    absence.to_ns = Some(at_ns);
                }
            }
            FleetEvent::Refused { host, why } => self.hosts.get_mut(host)?.refusals.push(why),
            FleetEvent::HostEnded { host, status } => {
                self.hosts.get_mut(host)?.status = Some(status);
            }
        }
        Some(())
    }

    /// Start of each host's measurement by the controller's clock, with its error bound; only hosts
    /// that measured.
    pub(crate) fn begins(&self) -> Vec<(&str, Nanos, u64)> {
        self.hosts
            .iter()
            .filter_map(|host| {
                let (at, error_ns) = host.measured_from()?;
                Some((host.name.as_str(), at, error_ns))
            })
            .collect()
    }

    /// Returns the nanoseconds between the first and the last start of a measurement; `None` with
    /// fewer than two.
    pub fn skew_ns(&self) -> Option<u64> {
        let begins = self.begins();
        let first = begins.iter().map(|(_, at, _)| *at).min()?;
        let last = begins.iter().map(|(_, at, _)| *at).max()?;
        (begins.len() > 1).then(|| last.since(first).0)
    }
}

impl HostPart {
    /// Start of its measurement by the controller's clock, and its error bound.
    fn measured_from(&self) -> Option<(Nanos, u64)> {
        let (record, clock) = (self.record.as_ref()?, self.clock?);
        let span = record.phases.iter().find(|span| span.phase == Phase::Measure)?;
        let at = Nanos(record.start.started_epoch_ns + span.from_ns);
        Some((clock.on_controller(at), clock.error_ns))
    }

    /// Whether it was lost and stayed silent.
    pub fn is_lost(&self) -> bool {
        self.absences.last().is_some_and(|absence| absence.to_ns.is_none())
    }

    /// Whether its journal has arrived to its end.
    pub fn is_complete(&self) -> bool {
        self.record.as_ref().is_some_and(|record| record.finished.is_some())
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::{FleetLoadError, FleetRecord};
    use crate::{FleetEvent, LossCause};

    fn journal(events: Vec<FleetEvent>) -> String {
        let lines = events.into_iter().zip(1..);
        lines.map(|(event, second)| event.at(Nanos::from_secs(second)).encode()).collect()
    }

    fn started() -> FleetEvent {
        FleetEvent::Started {
            run: "r1".to_owned().try_into().expect("sound"),
            name: "dag1".to_owned(),
            build: "plimsoll 0.1.0".to_owned(),
            hosts: vec!["EX01".to_owned(), "EX02".to_owned()],
            shared_storage: false,
        }
    }

    fn lost(host: usize) -> FleetEvent {
        FleetEvent::Lost { host, heard_ns: 7, cause: LossCause::Silence }
    }

    #[test]
    fn a_loss_has_a_host_a_begin_and_an_end() {
        let text = journal(vec![started(), lost(1), FleetEvent::Back { host: 1 }]);
        let record = FleetRecord::load(&text).expect("a sound journal");
        assert!(record.hosts[0].absences.is_empty());
        let absence = record.hosts[1].absences[0];
        assert_eq!((absence.from_ns, absence.to_ns), (7, Some(3_000_000_000)));
        assert!(!record.has_ended);
    }

    #[test]
    fn a_journal_cut_at_any_byte_still_tells_what_came_before() {
        let whole = journal(vec![started(), lost(0), FleetEvent::Ended { early: None }]);
        let first = whole.find('\n').expect("a line");
        for end in first..=whole.len() {
            let record = FleetRecord::load(&whole[..end]).expect("whole lines and a torn one");
            assert_eq!(record.has_ended, end + 1 >= whole.len(), "cut at {end}");
        }
    }

    #[test]
    fn foreign_lines_are_named() {
        assert_eq!(FleetRecord::load("").unwrap_err(), FleetLoadError::Empty);
        assert_eq!(FleetRecord::load("{}\n").unwrap_err(), FleetLoadError::NoStart);
        let unknown = journal(vec![started(), lost(2)]);
        assert_eq!(
            FleetRecord::load(&unknown).unwrap_err(),
            FleetLoadError::NoSuchHost { line: 2 }
        );
        let broken = format!("{}{}", journal(vec![started()]), "what?\n{}\n");
        assert!(matches!(FleetRecord::load(&broken), Err(FleetLoadError::Line { line: 2, .. })));
    }
}
