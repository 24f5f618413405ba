//! Follows a run from the main thread: journal, progress, Ctrl-C.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use device::Clock as _;
use device_os::OsClock;
use plan::Plan;
use record::{Edge, Event, Interval, Phase, Series};
use trial::run::Summary;
use trial::{Coordinator, Stop};
use units::Nanos;

use super::device_reads::DeviceReads;
use super::folder::RunFolder;
use super::merge::Merger;
use super::processors::ProcessorWatch;
use super::room::RoomWatch;
use super::silence::Silence;
use crate::crew::News;
use crate::error::CommandError;
use crate::signals::StopFlag;
use crate::term::{self, Progress};

/// Longest wait before Ctrl-C is looked at and the clock on the terminal moves.
const LOOK: Duration = Duration::from_millis(100);

/// Between two looks at the free space of the volumes.
const BETWEEN_LOOKS: Nanos = Nanos::from_millis(100);

/// What the threads of a run tell on their way.
pub(super) enum Message {
    /// For the journal.
    Event(Event),
    /// So many bytes have been verified.
    Checked(u64),
}

/// What the thread of a group tells.
pub(super) type GroupNews = News<Message, Result<Summary, CommandError>>;

/// How the thread of a group ended.
pub(super) enum End {
    /// By itself.
    Came(Result<Summary, CommandError>),
    /// By a panic.
    Panicked,
    /// Not at all: the kernel keeps it.
    GivenUp,
}

impl End {
    /// Whether the storage owes an answer still.
    pub(super) const fn gave_up(&self) -> bool {
        match self {
            Self::Came(Ok(summary)) => summary.gave_up,
            Self::Came(Err(_)) | Self::Panicked => false,
            Self::GivenUp => true,
        }
    }
}

/// What the main thread keeps an eye on.
pub(super) struct Watched<'a> {
    /// Where the journal is written.
    pub folder: &'a mut RunFolder,
    /// The free space of the volumes.
    pub room: &'a mut RoomWatch,
    /// What the volumes' devices read.
    pub reads: &'a mut DeviceReads,
    /// Who uses the processors.
    pub processors: &'a mut ProcessorWatch,
    /// The run's zero on the clock.
    pub origin: Nanos,
}

/// Follows the threads of a run: journal, terminal, Ctrl-C, room on the volumes.
pub(super) struct Follower<'a> {
    display: Display,
    merger: Merger,
    journal: Journal<'a>,
    room: &'a mut RoomWatch,
    reads: &'a mut DeviceReads,
    processors: &'a mut ProcessorWatch,
    stop: &'a StopFlag,
    coordinator: &'a Coordinator,
    silence: Silence,
    clock: OsClock,
    origin: Nanos,
    /// When the free space was last looked at.
    looked: Nanos,
}

impl<'a> Follower<'a> {
    /// For the run of `plan`.
    pub(super) fn new(
        plan: &Plan,
        stop: &'a StopFlag,
        coordinator: &'a Coordinator,
        Watched {
            folder,
            room,
            reads,
            processors,
            origin,
        }: Watched<'a>,
        quiet: bool,
    ) -> Self {
        Self {
            display: Display::new(plan, quiet),
            merger: Merger::new(plan.databases.len()),
            journal: Journal {
                folder,
                written: Ok(()),
            },
            room,
            reads,
            processors,
            stop,
            coordinator,
            silence: Silence::new(plan, origin),
            clock: OsClock::new(),
            origin,
            looked: Nanos::ZERO,
        }
    }

    /// Writes events as they come, until each of `started` threads has ended or the kernel does not
    /// give it back; how they ended. The first error of the journal ends the run, and so does a
    /// volume that is about to be full.
    pub(super) fn follow(&mut self, news: &Receiver<GroupNews>, started: usize) -> Vec<End> {
        let mut ends = Vec::new();
        while ends.len() < started {
            match news.recv_timeout(LOOK) {
                Ok(News::Told(Message::Event(event))) => self.tell(event),
                Ok(News::Told(Message::Checked(bytes))) => self.display.checked_bytes += bytes,
                Ok(News::Ended(Some(end))) => ends.push(End::Came(end)),
                Ok(News::Ended(None)) => ends.push(End::Panicked),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.look();
            if let Some(moment) = self.silence.look(self.coordinator) {
                ends.extend(self.given_up(moment));
            }
            self.display.show();
        }
        ends
    }

    /// Threads that are silent since before `moment`, told; a volume that is ends the run too.
    fn given_up(&mut self, moment: Nanos) -> Vec<End> {
        let waiting = self.room.waiting().into_iter().chain(self.reads.waiting());
        let volume = self.silence.volume(moment, waiting);
        let groups = self.silence.groups(moment, self.coordinator);
        let ends = groups.iter().map(|_| End::GivenUp).collect();
        for issue in groups.into_iter().chain(volume) {
            self.coordinator.stop(Stop::Failed);
            self.tell(Event::Issue(issue));
        }
        ends
    }

    /// Looks at what may end the run.
    fn look(&mut self) {
        if self.stop.is_set() {
            self.coordinator.stop(Stop::Interrupted);
        }
        if self.journal.written.is_err() {
            self.coordinator.stop(Stop::Failed);
        }
        let at = self.clock.now().since(self.origin);
        let is_due = at.since(self.looked) >= BETWEEN_LOOKS;
        if is_due && self.coordinator.stopped().is_none() {
            self.looked = at;
            if self.display.is_loaded() && self.room.must_stop(at) {
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
            self.display.event(&whole);
            self.journal.add(&whole);
        }
    }

    /// Writes what is left; the first error of the journal.
    pub(super) fn end(mut self) -> Result<(), CommandError> {
        if let Some(interval) = self.merger.take() {
            self.journal.add(&Event::Interval(interval));
        }
        self.journal.written
    }
}

/// The journal, until it cannot be written any more.
struct Journal<'a> {
    folder: &'a mut RunFolder,
    written: Result<(), CommandError>,
}

impl Journal<'_> {
    fn add(&mut self, event: &Event) {
        if self.written.is_ok() {
            self.written = self.folder.write(event);
        }
        if matches!(event, Event::Phase(_)) && self.written.is_ok() {
            self.written = self.folder.sync();
        }
    }
}

/// What the terminal shows of a run.
struct Display {
    progress: Option<Progress>,
    phase: Option<Phase>,
    planned: [(Phase, Duration); 2],
    latest: String,
    checked_bytes: u64,
    total_bytes: u64,
    quiet: bool,
}

impl Display {
    fn new(plan: &Plan, quiet: bool) -> Self {
        let span = |nanos: units::Nanos| Duration::from_nanos(nanos.0);
        Self {
            progress: None,
            phase: None,
            planned: [
                (Phase::Warm, span(plan.test.warm_up_limit)),
                (Phase::Measure, span(plan.test.duration)),
            ],
            latest: String::new(),
            checked_bytes: 0,
            total_bytes: plan.size.0 * plan.databases.len() as u64,
            quiet,
        }
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Phase(mark) if mark.edge == Edge::Begin => {
                self.phase = Some(mark.phase);
                self.latest.clear();
                self.progress = Some(Progress::new(mark.phase.name(), self.quiet));
            }
            Event::Interval(interval) => self.latest = figures(interval),
            _ => {}
        }
    }

    /// Whether the load goes on.
    fn is_loaded(&self) -> bool {
        let load = [Phase::Warm, Phase::Tune, Phase::Measure];
        self.phase.is_some_and(|phase| load.contains(&phase))
    }

    fn show(&mut self) {
        let Some(progress) = &mut self.progress else {
            return;
        };
        if self.phase == Some(Phase::Check) {
            return progress.bytes(self.checked_bytes, self.total_bytes.max(self.checked_bytes));
        }
        let planned = self
            .planned
            .iter()
            .find(|(phase, _)| Some(*phase) == self.phase);
        let elapsed = progress.elapsed();
        let time = match planned {
            Some((Phase::Warm, limit)) => {
                format!(
                    "{} of at most {}",
                    term::duration(elapsed),
                    term::duration(*limit)
                )
            }
            Some((_, whole)) => {
                let left = term::duration(whole.saturating_sub(elapsed));
                format!(
                    "{} of {}, {left} left",
                    term::duration(elapsed),
                    term::duration(*whole)
                )
            }
            None => term::duration(elapsed),
        };
        let separator = if self.latest.is_empty() { "" } else { "; " };
        progress.text(&format!("{time}{separator}{}", self.latest));
    }
}

/// The last interval in a few words.
fn figures(interval: &Interval) -> String {
    let seconds = Duration::from_nanos(interval.to_ns.saturating_sub(interval.from_ns));
    let rate = |count: u64| count as f64 / seconds.as_secs_f64().max(1e-9);
    let of = |wanted: Series| {
        let all = interval
            .databases
            .iter()
            .flat_map(|database| &database.series);
        let mine = all.filter(move |series| series.series == wanted);
        mine.fold((0_u64, 0.0), |(count, time), series| {
            let more = series.latency.count();
            (count + more, time + series.latency.mean_ns() * more as f64)
        })
    };
    let mean = |(count, time): (u64, f64)| {
        if count == 0 {
            0.0
        } else {
            time / count as f64 / 1e6
        }
    };
    let (reads, writes, log) = (
        of(Series::DatabaseRead),
        of(Series::DatabaseWrite),
        of(Series::LogWrite),
    );
    let others = interval.processors.as_deref();
    let others = others.filter(|shares| shares.has_heavy_others());
    format!(
        "{:.0} reads/s at {:.2} ms, {:.0} writes/s, {:.0} log writes/s at {:.2} ms{}",
        rate(reads.0),
        mean(reads),
        rate(writes.0),
        rate(log.0),
        mean(log),
        others.map_or_else(String::new, |shares| format!("; {shares}")),
    )
}
