//! Conducts a fleet run: carries messages between the controller's state machine and the agents,
//! keeps the lease, writes the fleet's journal, and shows the progress of every host.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant, SystemTime};

use carrier::{Carrier, EVERY_BEAT, Lease, Letters, clocks, orders};
use fleet::{
    AgentAnswer, AgentId, Ask, ClockOffset, ControllerEffect, FLEET_JOURNAL, FleetController,
    FleetEvent, FleetOrder, FleetStage, Heartbeat, HostNow, HostWork, RoundTrip, RunId, decode,
    encode,
};
use host::{StopFlag, StopRequest};
use units::Nanos;

use super::hosts;
use super::progress::{FleetProgress, HostProgress};
use console::Console;
use console::error::CommandError;
use console::signals;
use host::system;

/// Subject of a request to stop the fleet.
pub(super) const STOP: &str = "plimsoll.v1.control.stop";

const STOPS: &str = "stopping every host cleanly; again ends the controller and leaves the hosts \
                     to end by themselves, for `plimsoll fleet collect`";

/// Longest wait for a message between checks of the time.
const LOOK: Duration = Duration::from_millis(50);

/// Interval at which observers learn the hosts' loads, which change all the time.
const BETWEEN_LOADS: Duration = Duration::from_secs(1);

/// Time limit for an agent to answer an order before it is repeated.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// Clock queries per probe; the fastest answer gives the offset.
const ROUND_TRIPS: usize = 9;

/// Reports from threads that wait for an agent.
enum AgentNews {
    Answer(AgentId, u64, AgentAnswer),
    Clock(AgentId, ClockOffset),
}

struct Conductor<'a> {
    carrier: &'a Carrier,
    controller: FleetController,
    journal: File,
    beats: Letters,
    stops: Letters,
    sender: Sender<AgentNews>,
    heard: Receiver<AgentNews>,
    lease: Lease,
    renewed: Instant,
    malformed: u64,
    folder: &'a Path,
    /// A stop that another program asks for in the folder.
    request: StopRequest,
    shown: FleetProgress,
    /// Time of the last progress report to observers.
    written: Instant,
}

/// This machine's clock, in nanoseconds since 1970.
pub fn now() -> Nanos {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// Conducts the hosts of `order`, which measure for at most `longest`, to the end, whatever the
/// outcome. The journal in `folder` records it, and stays locked until the caller drops the
/// returned file.
pub(super) fn conduct(
    carrier: &Carrier,
    (order, work, longest): (&FleetOrder, Vec<HostWork>, Nanos),
    folder: &Path,
    console: &mut Console,
) -> Result<File, CommandError> {
    let stop = signals::install(STOPS)?;
    carrier.make_ready()?;
    let machine = system::machine(String::new());
    let holder = format!("{} on {}, process {}", order.name, machine.name, std::process::id());
    let lease = carrier.take_lease(holder)?;
    let run = run_id(&lease)?;
    let controller =
        FleetController::new((run.clone(), lease.epoch()), order, work, longest, now());
    let (sender, heard) = channel();
    let mut conductor = Conductor {
        carrier,
        controller,
        journal: open_journal(folder)?,
        beats: carrier.subscribe(EVERY_BEAT.to_owned())?,
        stops: carrier.subscribe(STOP.to_owned())?,
        sender,
        heard,
        lease,
        renewed: Instant::now(),
        malformed: 0,
        folder,
        request: StopRequest::start(folder)?,
        shown: FleetProgress::default(),
        written: Instant::now(),
    };
    conductor.write(started(run, order))?;
    if !order.events.is_empty() || !order.databases.is_empty() {
        let (events, loads) = (order.events.clone(), order.load_changes());
        conductor.write(FleetEvent::Planned { events, loads })?;
    }
    let ended = conductor.follow(&stop, console);
    conductor.end(ended)
}

fn started(run: RunId, order: &FleetOrder) -> FleetEvent {
    FleetEvent::Started {
        run,
        name: order.name.clone(),
        build: host::version::PROGRAM.to_owned(),
        hosts: order.hosts.iter().map(|host| host.host.clone()).collect(),
        shared_storage: order.shared_storage,
    }
}

/// Returns a run id that is new on this server, since the lease counts up.
fn run_id(lease: &Lease) -> Result<RunId, CommandError> {
    let seconds = now().0 / 1_000_000_000;
    Ok(RunId::try_from(format!("r{seconds}-{}", lease.epoch()))?)
}

fn open_journal(folder: &Path) -> Result<File, CommandError> {
    let path = folder.join(FLEET_JOURNAL);
    system::create_held(&path).map_err(|error| CommandError::file(&path, "create", &error))
}

fn trip((sent, bytes, received): &(Nanos, Vec<u8>, Nanos)) -> Option<RoundTrip> {
    let host = str::from_utf8(bytes).ok()?.parse().ok().map(Nanos)?;
    Some(RoundTrip { sent: *sent, host, received: *received })
}

fn host_state(host: &HostNow<'_>) -> String {
    if host.is_lost {
        return "lost".to_owned();
    }
    host.step.map_or_else(|| "no sign of life yet".to_owned(), hosts::step)
}

impl Conductor<'_> {
    fn follow(&mut self, stop: &StopFlag, console: &mut Console) -> Result<(), CommandError> {
        let mut is_stopped = false;
        while self.controller.stage() != FleetStage::Ended {
            if let Some(letter) = self.beats.next(LOOK) {
                match decode::<Heartbeat>(&letter.bytes) {
                    Ok(beat) => {
                        let effects = self.controller.heard(&beat, now());
                        self.carry_out(effects)?;
                    }
                    Err(_) => self.malformed += 1,
                }
            }
            self.take_answers()?;
            if !is_stopped && self.is_stop_asked(stop) {
                is_stopped = true;
                let effects = self.controller.stop(now());
                self.carry_out(effects)?;
            }
            let effects = self.controller.tick(now());
            self.carry_out(effects)?;
            self.keep_lease()?;
            self.show(console)?;
        }
        Ok(())
    }

    fn is_stop_asked(&mut self, stop: &StopFlag) -> bool {
        stop.is_set() || self.stops.next(Duration::ZERO).is_some() || self.request.is_made()
    }

    fn take_answers(&mut self) -> Result<(), CommandError> {
        while let Ok(heard) = self.heard.try_recv() {
            let effects = match heard {
                AgentNews::Answer(agent, number, answer) => {
                    self.controller.answered(&agent, number, answer, now())
                }
                AgentNews::Clock(agent, clock) => self.controller.compared(&agent, clock, now()),
            };
            self.carry_out(effects)?;
        }
        Ok(())
    }

    fn carry_out(&mut self, effects: Vec<ControllerEffect>) -> Result<(), CommandError> {
        for effect in effects {
            match effect {
                ControllerEffect::Note(event) => self.write(event)?,
                ControllerEffect::Send { agent, ask } => self.send(agent, &ask),
                ControllerEffect::Probe { agent } => self.probe(agent),
            }
        }
        Ok(())
    }

    /// Sends an order; the answer comes through the channel, or not at all.
    fn send(&self, agent: AgentId, ask: &Ask) {
        let (sender, number) = (self.sender.clone(), ask.number);
        let subject = orders(&agent);
        self.carrier.request_then(
            subject,
            encode(ask),
            ANSWERS_WITHIN,
            Box::new(move |answer| {
                if let Ok(answer) = decode::<AgentAnswer>(&answer) {
                    // A conductor that has exited receives no answers.
                    let _ = sender.send(AgentNews::Answer(agent, number, answer));
                }
            }),
        );
    }

    /// Measures a clock's offset by several round trips, one after the other.
    fn probe(&self, agent: AgentId) {
        let sender = self.sender.clone();
        let subject = clocks(&agent);
        self.carrier.round_trips(
            subject,
            ROUND_TRIPS,
            now,
            Box::new(move |answers| {
                let trips: Vec<RoundTrip> = answers.iter().filter_map(trip).collect();
                if let Some(clock) = ClockOffset::of(&trips) {
                    let _ = sender.send(AgentNews::Clock(agent, clock));
                }
            }),
        );
    }

    fn keep_lease(&mut self) -> Result<(), CommandError> {
        if self.renewed.elapsed() < self.lease.renew_every() || !self.carrier.is_connected() {
            return Ok(());
        }
        self.renewed = Instant::now();
        match self.carrier.renew_lease(&mut self.lease) {
            Err(error @ carrier::CarrierError::LeaseLost) => Err(error.into()),
            // A temporarily lost server is no reason to abandon the hosts.
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn write(&mut self, event: FleetEvent) -> Result<(), CommandError> {
        let line = event.at(now()).encode();
        let written = self.journal.write_all(line.as_bytes());
        written.and_then(|()| self.journal.sync_data()).map_err(|error| {
            CommandError::new(format!("cannot write {FLEET_JOURNAL}: {error}; check the disk"))
        })
    }

    /// Prints a line for each host that has advanced; other observers also see each host's load.
    fn show(&mut self, console: &mut Console) -> Result<(), CommandError> {
        let mut hosts = Vec::new();
        for host in self.controller.hosts() {
            let (name, state) = (host.name.to_owned(), host_state(&host));
            hosts.push(HostProgress { host: name, state, load: host.load });
        }
        let progress = FleetProgress { stage: self.controller.stage().name().to_owned(), hosts };
        let news = progress.news_since(&self.shown);
        let is_due = self.written.elapsed() >= BETWEEN_LOADS;
        if progress == self.shown || news.is_empty() && !is_due {
            return Ok(());
        }
        self.written = Instant::now();
        for news in news {
            console.remark(news)?;
        }
        // If this fails, observers see less; the journal is authoritative.
        let _ = progress.write(self.folder);
        self.shown = progress;
        Ok(())
    }

    fn end(mut self, ended: Result<(), CommandError>) -> Result<File, CommandError> {
        let ignored = [
            (
                "heartbeats out of order or of hosts that the plan does not name",
                self.controller.ignored(),
            ),
            ("messages that are none of this version", self.malformed),
        ];
        for (fault, count) in ignored.into_iter().filter(|(_, count)| *count > 0) {
            self.write(FleetEvent::Ignored { fault: fault.to_owned(), count })?;
        }
        ended?;
        // Otherwise the next controller has to wait until the lease expires.
        let _ = self.carrier.release_lease(&self.lease);
        Ok(self.journal)
    }
}
