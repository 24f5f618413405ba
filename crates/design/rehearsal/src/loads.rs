//! Intervals of a host's journal: requests of its copies by series.

use std::collections::BTreeMap;

use record::{Series, SeriesInterval};
use simdisk::operations::{OperationAnswer, OperationKind};
use units::Nanos;

/// Requests of one copy in an interval.
#[derive(Clone, Debug, Default)]
pub struct IntervalCopy {
    /// Requests by series. Reads of replay are `LogRead`: no user waits for them.
    pub series: BTreeMap<Series, SeriesInterval>,
}

/// An interval of one host.
#[derive(Clone, Debug)]
pub struct HostInterval {
    /// Number of the host.
    pub host: usize,
    /// Its beginning and end in played time.
    pub played: (Nanos, Nanos),
    /// Its beginning in the timeline.
    pub at: Nanos,
    /// The copies of the host, in the order of the deployment's databases.
    pub copies: Vec<IntervalCopy>,
}

impl IntervalCopy {
    /// Adds an answer.
    pub(crate) fn note(&mut self, answer: &OperationAnswer, is_replay: bool) {
        let series = series_of(answer.kind, is_replay);
        self.series
            .entry(series)
            .or_insert_with(|| SeriesInterval::new(series))
            .record(answer.bytes, answer.latency.0);
    }
}

const fn series_of(kind: OperationKind, is_replay: bool) -> Series {
    match kind {
        OperationKind::DatabaseRead if is_replay => Series::LogRead,
        OperationKind::Batch if is_replay => Series::Flush,
        OperationKind::LogWrite if is_replay => Series::LogFormat,
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
