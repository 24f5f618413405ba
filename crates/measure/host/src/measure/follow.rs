//! Follows a run from the main thread: journal, observer, requests to stop.

use std::time::Duration;

use device::Clock as _;
use device_os::OsClock;
use plan::Plan;
use record::Event;
use trial::run::RunSummary;
use trial::{Coordinator, Stop, bounds};
use units::Nanos;

use super::device_reads::DeviceReads;
use super::folder::RunFolder;
use super::gate::Gate;
use super::merge::Merger;
use super::neighbours::NeighbourRuns;
use super::processors::ProcessorWatch;
use super::room::{FreeSpace, RoomWatch};
use super::silence::Silence;
use super::stop_request::StopRequest;
use super::tally::WorkTally;
use crate::crew::{Crew, News, NewsSender};
use crate::error::HostError;
use crate::observer::{HostEvent, HostObserver, RunOutline};
use crate::stop::StopFlag;

/// Longest delay before a request to stop is noticed and the observer gets the time.
const LOOK: Duration = Duration::from_millis(100);

/// Interval between checks of the free space of the volumes.
pub(super) const BETWEEN_LOOKS: Nanos = Nanos::from_millis(100);

/// Messages from the threads of a run in progress.
pub(super) enum FollowMessage {
    /// For the journal.
    Event(Box<Event>),
    /// This many bytes have been verified.
    Checked(u64),
    /// Free space of a raw device.
    Free(FreeSpace),
}

/// The threads of the groups.
pub(super) type GroupCrew = Crew<FollowMessage, Result<RunSummary, HostError>>;

/// Reports of one of them.
pub(super) type GroupNews = NewsSender<FollowMessage, Result<RunSummary, HostError>>;

/// How the thread of a group ended.
pub(super) enum End {
    /// By itself.
    Came(Result<RunSummary, HostError>),
    /// By a panic.
    Panicked,
    /// Not at all: the kernel keeps it.
    GivenUp,
}

impl End {
    /// Whether the storage still has requests pending.
    pub(super) const fn gave_up(&self) -> bool {
        match self {
            Self::Came(Ok(summary)) => summary.gave_up,
            Self::Came(Err(_)) | Self::Panicked => false,
            Self::GivenUp => true,
        }
    }
}

/// Everything that the main thread monitors.
pub(super) struct Watched<'a> {
    /// Folder of the journal.
    pub folder: &'a mut RunFolder,
    /// The free space of the volumes.
    pub room: &'a mut RoomWatch,
    /// Reads of the volumes' devices.
    pub reads: &'a mut DeviceReads,
    /// Other runs on the same disks.
    pub neighbours: &'a mut NeighbourRuns,
    /// Who uses the processors.
    pub processors: &'a mut ProcessorWatch,
    /// Other programs' request to stop.
    pub request: &'a mut StopRequest,
    /// The run's zero on the clock.
    pub origin: Nanos,
    /// How another program starts the measurement, if it does.
    pub gate: Option<Gate>,
}

/// Follows the threads of a run: journal, observer, stop requests, free space of the volumes.
pub(super) struct Follower<'a> {
    observer: &'a HostObserver,
    tally: WorkTally,
    merger: Merger,
    journal: Journal<'a>,
    room: &'a mut RoomWatch,
    reads: &'a mut DeviceReads,
    neighbours: &'a mut NeighbourRuns,
    processors: &'a mut ProcessorWatch,
    request: &'a mut StopRequest,
    gate: Option<Gate>,
    stop: &'a StopFlag,
    coordinator: &'a Coordinator,
    silence: Silence,
    clock: OsClock,
    origin: Nanos,
    /// When the free space was last checked.
    looked: Nanos,
}

impl<'a> Follower<'a> {
    /// Creates a follower for the run of `plan`.
    pub(super) fn new(
        plan: &Plan,
        stop: &'a StopFlag,
        coordinator: &'a Coordinator,
        watched: Watched<'a>,
        observer: &'a HostObserver,
    ) -> Self {
        let Watched { folder, room, reads, neighbours, processors, request, origin, gate } =
            watched;
        let clock = OsClock::new();
        observer.tell(HostEvent::Begun(&RunOutline {
            settings: trial::record_settings(plan, 0),
            limits: bounds::of_phases(plan),
            started_epoch_ns: (clock.epoch() + origin).0,
        }));
        Self {
            observer,
            tally: WorkTally::new(plan),
            merger: Merger::new(plan.databases.len()),
            journal: Journal { folder, written: Ok(()) },
            room,
            reads,
            neighbours,
            processors,
            request,
            gate,
            stop,
            coordinator,
            silence: Silence::new(plan, origin),
            clock,
            origin,
            looked: Nanos::ZERO,
        }
    }

    /// Writes events as they arrive, until each thread of `crew` has ended or is stuck in the
    /// kernel; returns how they ended. The first error of the journal ends the run, as does a
    /// volume that is nearly full.
    pub(super) fn follow(&mut self, crew: &mut GroupCrew) -> Vec<End> {
        let mut ends = Vec::new();
        while ends.len() < crew.started && !crew.has_ended() {
            match crew.next(LOOK) {
                Some(News::Told(FollowMessage::Event(event))) => self.tell(*event),
                Some(News::Told(FollowMessage::Checked(bytes))) => self.tally.add(bytes),
                Some(News::Told(FollowMessage::Free(free))) => self.room.hear(free),
                Some(News::Ended(Some(end))) => ends.push(End::Came(end)),
                Some(News::Ended(None)) => ends.push(End::Panicked),
                None => {}
            }
            self.look();
            if let Some(moment) = self.silence.look(self.coordinator) {
                ends.extend(self.given_up(moment));
            }
            if let Some(work) = self.tally.work() {
                self.observer.tell(HostEvent::Pass(work));
            }
            let at_ns = self.clock.now().since(self.origin).0;
            self.observer.tell(HostEvent::Now { at_ns });
        }
        ends
    }

    /// Reports the threads that have been silent since before `moment`, and returns their ends. A
    /// silent volume ends the run too.
    fn given_up(&mut self, moment: Nanos) -> Vec<End> {
        let waiting = self.room.waiting().into_iter().chain(self.reads.waiting());
        let volume = self.silence.volume(moment, waiting);
        let groups = self.silence.groups(moment, self.coordinator);
        let mut ends = Vec::new();
        ends.resize_with(groups.len(), || End::GivenUp);
        for issue in groups.into_iter().chain(volume) {
            self.coordinator.stop(Stop::Failed);
            self.tell(Event::Issue(issue));
        }
        ends
    }

    /// Checks for reasons to end the run.
    fn look(&mut self) {
        if self.stop.is_set() || self.request.is_made() {
            self.coordinator.stop(Stop::Interrupted);
        }
        if self.journal.written.is_err() {
            self.coordinator.stop(Stop::Failed);
        }
        if let Some(gate) = &mut self.gate {
            gate.look(self.coordinator);
        }
        let at = self.clock.now().since(self.origin);
        let is_due = at.since(self.looked) >= BETWEEN_LOOKS;
        if is_due && self.coordinator.stopped().is_none() {
            self.looked = at;
            if self.tally.is_loaded() && self.room.must_stop(at) {
                self.coordinator.stop(Stop::NoRoom);
            }
        }
    }

    fn tell(&mut self, event: Event) {
        for mut whole in self.merger.pass(event) {
            if let Event::Interval(interval) = &mut whole {
                interval.processors = self.processors.take().map(Box::new);
            }
            self.room.event(&whole);
            self.reads.event(&whole);
            self.neighbours.event(&whole);
            self.tally.event(&whole);
            self.observer.tell(HostEvent::Event(&whole));
            self.journal.add(&whole);
        }
    }

    /// Writes the rest; returns the first error of the journal.
    pub(super) fn end(mut self) -> Result<(), HostError> {
        self.observer.tell(HostEvent::Ended);
        if let Some(interval) = self.merger.take() {
            self.journal.add(&Event::Interval(interval));
        }
        self.journal.written
    }
}

/// The journal, until writing to it fails.
struct Journal<'a> {
    folder: &'a mut RunFolder,
    written: Result<(), HostError>,
}

impl Journal<'_> {
    fn add(&mut self, event: &Event) {
        if self.written.is_ok() {
            self.written = self.folder.write(event);
        }
        if self.written.is_ok() {
            self.written = match event {
                Event::Phase(_) | Event::Attached(_) => self.folder.sync(),
                Event::Interval(_) => self.folder.sync_soon(),
                _ => Ok(()),
            };
        }
    }
}
