//! Counts and times the requests of one database, by series.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use device::{DeviceError, Observation, Observer, OpKind, Purpose};
use record::{Series, SeriesInterval};
use units::Nanos;

use crate::trouble::Troubles;

/// What one database's requests came to since the last sample.
pub struct Meter {
    series: RefCell<BTreeMap<Series, SeriesInterval>>,
    requests: Cell<u64>,
    troubles: Rc<Troubles>,
}

impl Meter {
    /// A meter that has seen nothing, and tells `troubles` of failed requests.
    pub fn new(troubles: Rc<Troubles>) -> Self {
        Self {
            series: RefCell::default(),
            requests: Cell::new(0),
            troubles,
        }
    }

    /// Notes something that succeeded.
    pub fn record(&self, series: Series, bytes: u64, latency: Nanos) {
        self.entry(series, |interval| interval.record(bytes, latency.0));
    }

    /// Database reads and writes of transactions that have completed so far.
    pub fn requests(&self) -> u64 {
        self.requests.get()
    }

    /// What has been noted since the last call, in the order of reports.
    pub fn take(&self) -> Vec<SeriesInterval> {
        let series = std::mem::take(&mut *self.series.borrow_mut());
        series.into_values().collect()
    }

    fn entry(&self, series: Series, note: impl FnOnce(&mut SeriesInterval)) {
        let mut map = self.series.borrow_mut();
        note(
            map.entry(series)
                .or_insert_with(|| SeriesInterval::new(series)),
        );
    }
}

impl Observer for Meter {
    fn observe(&self, observation: &Observation) {
        let Some(series) = series(observation.purpose, observation.kind) else {
            return;
        };
        if matches!(series, Series::DatabaseRead | Series::DatabaseWrite) {
            self.requests.set(self.requests.get() + 1);
        }
        let latency = observation.completed.since(observation.submitted);
        self.entry(series, |interval| {
            if observation.ok {
                interval.record(observation.length as u64, latency.0);
            }
        });
    }

    fn failed(&self, observation: &Observation, error: &DeviceError) {
        let series = series(observation.purpose, observation.kind);
        // A full volume did what it was asked to, as far as it could.
        if let Some(series) = series
            && !matches!(error, DeviceError::Full { .. })
        {
            self.entry(series, |interval| interval.errors += 1);
        }
        let changes = observation.kind != OpKind::Read;
        self.troubles
            .request_failed(observation.completed, error, changes);
    }

    fn refused(&self, error: &DeviceError) {
        if matches!(error, DeviceError::Full { .. } | DeviceError::Io { .. }) {
            self.troubles.name_failed(error);
        }
    }
}

/// The series that a request counts in; none for those that no report shows.
const fn series(purpose: Purpose, kind: OpKind) -> Option<Series> {
    match (purpose, kind) {
        (Purpose::Fill, _) | (_, OpKind::SetLength) => None,
        (_, OpKind::Flush) => Some(Series::Flush),
        (Purpose::Database, OpKind::Read) => Some(Series::DatabaseRead),
        (Purpose::Database, OpKind::Write) => Some(Series::DatabaseWrite),
        (Purpose::Log, OpKind::Write) => Some(Series::LogWrite),
        (Purpose::LogFormat, OpKind::Write) => Some(Series::LogFormat),
        (Purpose::LogRead, OpKind::Read) => Some(Series::LogRead),
        (Purpose::Maintenance, OpKind::Read) => Some(Series::MaintenanceRead),
        (Purpose::Checksum, OpKind::Read) => Some(Series::ChecksumRead),
        (Purpose::Backup, OpKind::Read) => Some(Series::BackupRead),
        (Purpose::Header, OpKind::Write) => Some(Series::HeaderWrite),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use device::{DeviceError, Observation, Observer, OpKind, Purpose};
    use record::Series;
    use units::Nanos;

    use super::{Meter, series};
    use crate::trouble::Troubles;

    #[test]
    fn a_flush_is_a_flush_whatever_it_is_for() {
        assert_eq!(series(Purpose::Log, OpKind::Flush), Some(Series::Flush));
        assert_eq!(
            series(Purpose::Database, OpKind::Flush),
            Some(Series::Flush)
        );
        assert_eq!(series(Purpose::Fill, OpKind::Flush), None);
    }

    #[test]
    fn maintenance_never_counts_as_a_transaction() {
        let database = series(Purpose::Database, OpKind::Read);
        assert_eq!(database, Some(Series::DatabaseRead));
        assert_ne!(series(Purpose::Maintenance, OpKind::Read), database);
    }

    #[test]
    fn failed_requests_are_counted_but_not_timed_and_want_of_room_is_no_error() {
        let meter = Meter::new(Rc::new(Troubles::new(0, Nanos::ZERO, Rc::new(|_| ()))));
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
            DeviceError::Short {
                file: file(),
                offset: 0,
                wanted,
                moved,
            },
            DeviceError::Full {
                file: file(),
                offset: 0,
            },
        ];
        for error in errors {
            meter.failed(&failed, &error);
            meter.observe(&failed);
        }
        let taken = meter.take();
        assert_eq!(taken.len(), 1);
        assert_eq!((taken[0].bytes, taken[0].errors), (4096, 1));
        assert_eq!(
            (taken[0].latency.count(), taken[0].latency.maximum_ns()),
            (1, 5000)
        );
        assert!(meter.take().is_empty());
    }
}
