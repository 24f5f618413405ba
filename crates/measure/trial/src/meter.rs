//! Counts and times the requests of one database, by series.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use device::{Asked, Clock, DeviceError, Observation, Observer, OpKind, Purpose};
use record::{STALL_MINIMUM_NS, Series, SeriesInterval};
use units::Nanos;

use crate::in_flight::InFlight;
use crate::issue_recorder::IssueRecorder;
use crate::longest::Longest;

/// Measures one database's requests since the last sample, and tracks the waiting ones.
pub(crate) struct Meter {
    series: RefCell<BTreeMap<Series, SeriesInterval>>,
    flows: RefCell<BTreeMap<Series, Flow>>,
    requests: Cell<u64>,
    in_flight: InFlight,
    longest: Longest,
    /// When the current interval began.
    from: Cell<Nanos>,
    issue_recorder: Rc<IssueRecorder>,
}

/// Whether requests of one kind wait, and since when none has been answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Flow {
    waiting: u64,
    quiet_since: Nanos,
}

impl Flow {
    fn asked(&mut self, at: Nanos) {
        if self.waiting == 0 {
            self.quiet_since = at;
        }
        self.waiting += 1;
    }

    /// Time without an answer from `from` to `at`; `None` unless it belongs to a stall.
    fn stall(&self, from: Nanos, at: Nanos) -> Option<Nanos> {
        let is_stall = self.waiting > 0 && at.since(self.quiet_since).0 >= STALL_MINIMUM_NS;
        is_stall.then(|| at.since(self.quiet_since.max(from)))
    }

    const fn answered(&mut self, at: Nanos) {
        self.waiting = self.waiting.saturating_sub(1);
        self.quiet_since = at;
    }
}

impl Meter {
    /// An empty meter that reports failed requests to `issue_recorder`.
    pub(crate) fn new(
        issue_recorder: Rc<IssueRecorder>,
        clock: Rc<dyn Clock>,
        longest: Longest,
    ) -> Self {
        Self {
            series: RefCell::default(),
            flows: RefCell::default(),
            requests: Cell::new(0),
            from: Cell::new(clock.now()),
            in_flight: InFlight::new(clock),
            longest,
            issue_recorder,
        }
    }

    /// Counts a successful operation.
    pub(crate) fn record(&self, series: Series, bytes: u64, latency: Nanos) {
        self.entry(series, |interval| interval.record(bytes, latency.0));
    }

    /// Completed database reads and writes of transactions so far.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.get()
    }

    /// Waiting requests.
    pub(crate) const fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }

    /// The longest request of the current phase.
    pub(crate) const fn longest(&self) -> &Longest {
        &self.longest
    }

    /// Notes that requests still waiting will not be answered.
    pub(crate) fn note_unanswered(&self) {
        let now = self.in_flight.now();
        self.in_flight.each(|open| self.longest.note(open, now, false));
    }

    /// Measurements since the last call, and the requests that wait now, in report order.
    pub(crate) fn take(&self) -> Vec<SeriesInterval> {
        let now = self.in_flight.now();
        let from = self.from.replace(now);
        for (&series, flow) in self.flows.borrow().iter() {
            if let Some(stall) = flow.stall(from, now) {
                self.entry(series, |interval| interval.unanswered.note_stall(stall.0));
            }
        }
        self.in_flight.each(|open| {
            if let Some(series) = series_of(&open.asked) {
                let age = now.since(open.since);
                self.entry(series, |interval| interval.unanswered.note_waiting(age.0));
            }
        });
        std::mem::take(&mut *self.series.borrow_mut()).into_values().collect()
    }

    fn entry(&self, series: Series, note: impl FnOnce(&mut SeriesInterval)) {
        let mut map = self.series.borrow_mut();
        note(map.entry(series).or_insert_with(|| SeriesInterval::new(series)));
    }

    /// Notes a stretch without an answer that ends now.
    fn note_answer(&self, series: Series, at: Nanos) {
        let mut flows = self.flows.borrow_mut();
        let flow = flows.entry(series).or_default();
        if let Some(stall) = flow.stall(self.from.get(), at) {
            self.entry(series, |interval| interval.unanswered.note_stall(stall.0));
        }
        flow.answered(at);
    }
}

impl Observer for Meter {
    fn asked(&self, asked: Asked) -> usize {
        let now = self.in_flight.now();
        if let Some(series) = series_of(&asked) {
            self.flows.borrow_mut().entry(series).or_default().asked(now);
        }
        self.in_flight.begin(asked, now)
    }

    fn answered(&self, number: usize) {
        let open = self.in_flight.end(number);
        self.longest.note(&open, self.in_flight.now(), true);
    }

    fn observe(&self, observation: &Observation) {
        let Some(series) = series(observation.purpose, observation.kind) else {
            return;
        };
        if matches!(series, Series::DatabaseRead | Series::DatabaseWrite) {
            self.requests.set(self.requests.get() + 1);
        }
        self.note_answer(series, observation.completed);
        let latency = observation.completed.since(observation.submitted);
        self.entry(series, |interval| {
            if observation.ok {
                interval.record(observation.length as u64, latency.0);
            }
        });
    }

    fn failed(&self, observation: &Observation, error: &DeviceError) {
        let series = series(observation.purpose, observation.kind);
        // A full volume is not at fault, and unreachable storage never got the request.
        let is_fault =
            !matches!(error, DeviceError::Full { .. } | DeviceError::Disconnected { .. });
        if let Some(series) = series.filter(|_| is_fault) {
            self.entry(series, |interval| interval.errors += 1);
        }
        let changes = observation.kind != OpKind::Read;
        self.issue_recorder.request_failed(observation.completed, error, changes);
    }

    fn refused(&self, error: &DeviceError) {
        if matches!(
            error,
            DeviceError::Full { .. } | DeviceError::Io { .. } | DeviceError::Disconnected { .. }
        ) {
            self.issue_recorder.name_failed(error);
        }
    }
}

/// The series that counts an operation requested from the storage.
fn series_of(asked: &Asked) -> Option<Series> {
    let (purpose, kind) = asked.request?;
    series(purpose, kind)
}

/// The series that counts a request; `None` for requests that no report shows.
const fn series(purpose: Purpose, kind: OpKind) -> Option<Series> {
    match (purpose, kind) {
        (Purpose::Fill, _) | (_, OpKind::SetLength) => None,
        (_, OpKind::Flush) => Some(Series::Flush),
        (Purpose::Database, OpKind::Read) => Some(Series::DatabaseRead),
        (Purpose::Database, OpKind::Write) => Some(Series::DatabaseWrite),
        (Purpose::Log, OpKind::Write) => Some(Series::LogWrite),
        (Purpose::LogFormat, OpKind::Write) => Some(Series::LogFormat),
        (Purpose::LogRead, OpKind::Read) => Some(Series::LogRead),
        (Purpose::LogReplication, OpKind::Read) => Some(Series::ReplicationRead),
        (Purpose::Maintenance, OpKind::Read) => Some(Series::MaintenanceRead),
        (Purpose::Checksum, OpKind::Read) => Some(Series::ChecksumRead),
        (Purpose::Backup, OpKind::Read) => Some(Series::BackupRead),
        (Purpose::BackupCopy, OpKind::Write) => Some(Series::BackupCopyWrite),
        (Purpose::BackupCopy, OpKind::Read) => Some(Series::BackupCopyRead),
        (Purpose::Header, OpKind::Write) => Some(Series::HeaderWrite),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use device::{Asked, Clock, DeviceError, Observation, Observer, OpKind, Purpose};
    use record::{Series, Unanswered};
    use units::Nanos;

    use super::{Flow, Meter, series};
    use crate::issue_recorder::IssueRecorder;
    use crate::longest::Longest;

    #[test]
    fn a_flush_is_a_flush_whatever_it_is_for() {
        assert_eq!(series(Purpose::Log, OpKind::Flush), Some(Series::Flush));
        assert_eq!(series(Purpose::Database, OpKind::Flush), Some(Series::Flush));
        assert_eq!(series(Purpose::Fill, OpKind::Flush), None);
    }

    #[test]
    fn maintenance_never_counts_as_a_transaction() {
        let database = series(Purpose::Database, OpKind::Read);
        assert_eq!(database, Some(Series::DatabaseRead));
        assert_ne!(series(Purpose::Maintenance, OpKind::Read), database);
    }

    /// A clock that is set by hand.
    #[derive(Default)]
    struct Hand(Cell<Nanos>);

    impl Clock for Hand {
        fn now(&self) -> Nanos {
            self.0.get()
        }

        fn epoch(&self) -> Nanos {
            Nanos::ZERO
        }
    }

    fn meter(hand: &Rc<Hand>) -> Meter {
        let issue_recorder = IssueRecorder::new(0, Nanos::ZERO, Rc::new(|_| ()));
        let longest = Longest::new(None);
        Meter::new(Rc::new(issue_recorder), Rc::<Hand>::clone(hand), longest)
    }

    fn read() -> Asked {
        Asked {
            file: "a".into(),
            operation: "read",
            request: Some((Purpose::Database, OpKind::Read)),
            offset: 0,
            length: 4096,
        }
    }

    #[test]
    fn an_interval_without_an_answer_tells_who_waits_and_how_long_nothing_came() {
        let hand = Rc::new(Hand::default());
        let meter = meter(&hand);
        let at = |seconds| hand.0.set(Nanos::from_secs(seconds));
        at(4);
        let number = meter.asked(read());
        at(10);
        let taken = meter.take();
        let six_seconds = Unanswered {
            waiting: 1,
            mean_age_ns: 6_000_000_000,
            oldest_ns: 6_000_000_000,
            stalled_ns: 6_000_000_000,
            stalled_wait_ns: 3_000_000_000,
        };
        assert_eq!((taken[0].unanswered, taken[0].latency.count()), (six_seconds, 0));
        at(12);
        meter.answered(number);
        meter.observe(&Observation {
            purpose: Purpose::Database,
            kind: OpKind::Read,
            offset: 0,
            length: 4096,
            submitted: Nanos::from_secs(4),
            completed: Nanos::from_secs(12),
            ok: true,
        });
        at(20);
        let taken = meter.take();
        let the_rest = Unanswered {
            stalled_ns: 2_000_000_000,
            stalled_wait_ns: 1_000_000_000,
            ..Unanswered::default()
        };
        assert_eq!((taken[0].unanswered, taken[0].latency.count()), (the_rest, 1));
        at(30);
        assert!(meter.take().is_empty(), "nothing waits");
    }

    #[test]
    fn a_stretch_without_requests_is_no_stall() {
        let (from, second) = (Nanos::ZERO, Nanos::from_secs(1));
        let mut flow = Flow::default();
        assert_eq!(flow.stall(from, Nanos::from_secs(9)), None);
        flow.asked(Nanos::from_secs(9));
        assert_eq!(flow.stall(from, Nanos(9_999_999_999)), None);
        assert_eq!(flow.stall(from, Nanos::from_secs(10)), Some(second));
        flow.answered(Nanos::from_secs(10));
        assert_eq!(flow.stall(from, Nanos::from_secs(99)), None);
    }

    #[test]
    fn failed_requests_are_counted_but_not_timed_and_want_of_room_is_no_error() {
        let meter = meter(&Rc::new(Hand::default()));
        let good = Observation {
            purpose: Purpose::Database,
            kind: OpKind::Read,
            offset: 0,
            length: 4096,
            submitted: Nanos(10),
            completed: Nanos(5010),
            ok: true,
        };
        meter.observe(&good);
        let failed = Observation { ok: false, ..good };
        let file = || "/mail/f".to_owned();
        let (wanted, moved) = (4096, 0);
        let errors = [
            DeviceError::Short { file: file(), offset: 0, wanted, moved },
            DeviceError::Full { file: file(), offset: 0 },
        ];
        for error in errors {
            meter.failed(&failed, &error);
            meter.observe(&failed);
        }
        let taken = meter.take();
        assert_eq!(taken.len(), 1);
        assert_eq!((taken[0].bytes, taken[0].errors), (4096, 1));
        assert_eq!((taken[0].latency.count(), taken[0].latency.maximum_ns()), (1, 5000));
        assert!(meter.take().is_empty());
    }
}
