//! Answers of the operation model as the series of a journal.

use std::collections::BTreeMap;

use record::{Series, SeriesInterval};
use simdisk::operations::{OperationAnswer, OperationKind};

/// The answers of one database in an interval, by series.
#[derive(Clone, Debug, Default)]
pub(super) struct OperationSeries(BTreeMap<Series, SeriesInterval>);

impl OperationSeries {
    /// Adds an answer; `is_replay` if a passive copy requested it.
    pub(super) fn note(&mut self, answer: &OperationAnswer, is_replay: bool) {
        let series = series_of(answer.kind, is_replay);
        self.0
            .entry(series)
            .or_insert_with(|| SeriesInterval::new(series))
            .record(answer.bytes, answer.latency.0);
    }

    pub(super) fn count(&self, series: Series) -> u64 {
        self.0.get(&series).map_or(0, |of| of.latency.count())
    }

    pub(super) fn bytes(&self, series: Series) -> u64 {
        self.0.get(&series).map_or(0, |of| of.bytes)
    }

    /// Every series with requests, in the order of reports.
    pub(super) fn all(&self) -> Vec<SeriesInterval> {
        self.0.values().cloned().collect()
    }
}

/// The series of a kind of requests. Page reads of replay count as reads of log, and its page
/// writes as formatting: transactional IOPS are those of users, for whom only active copies work.
const fn series_of(kind: OperationKind, is_replay: bool) -> Series {
    match kind {
        OperationKind::DatabaseRead if is_replay => Series::LogRead,
        OperationKind::Batch if is_replay => Series::Flush,
        OperationKind::DatabaseWrite | OperationKind::LogWrite if is_replay => Series::LogFormat,
        OperationKind::DatabaseRead => Series::DatabaseRead,
        OperationKind::DatabaseWrite => Series::DatabaseWrite,
        OperationKind::LogWrite => Series::LogWrite,
        OperationKind::LogFormat => Series::LogFormat,
        OperationKind::LogRead => Series::LogRead,
        OperationKind::ReplicationRead => Series::ReplicationRead,
        OperationKind::MaintenanceRead => Series::MaintenanceRead,
        OperationKind::HeaderWrite => Series::HeaderWrite,
        OperationKind::Flush => Series::Flush,
        OperationKind::Batch => Series::Transaction,
    }
}

#[cfg(test)]
mod tests {
    use record::Series;
    use simdisk::operations::OperationKind;

    use super::series_of;

    const PAGES: [OperationKind; 2] = [OperationKind::DatabaseRead, OperationKind::DatabaseWrite];

    #[test]
    fn pages_of_replay_are_not_transactional() {
        let series = |is_replay| PAGES.map(|kind| series_of(kind, is_replay));
        assert_eq!(series(false), [Series::DatabaseRead, Series::DatabaseWrite]);
        assert_eq!(series(true), [Series::LogRead, Series::LogFormat]);
    }
}
