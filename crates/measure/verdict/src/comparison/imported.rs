//! A published result compared with runs: its values, and how prominently to report its gaps.

use record::{ImportedResult, PublishedInstance, PublishedRequests, Series};

use super::NamedRun;
use super::circumstances;
use super::metric::{ALL_READS, MetricSource};

const KIB: f64 = 1_024.0;
const MIB: f64 = 1_048_576.0;

impl MetricSource {
    /// The value in a published result; `None` if its file does not state it. Percentiles are never
    /// stated.
    pub(super) fn of_imported(self, imported: &ImportedResult) -> Option<f64> {
        match self {
            Self::Rate(&[Series::DatabaseRead, Series::DatabaseWrite]) => {
                imported.transactional_iops()
            }
            Self::Rate(ALL_READS) => imported.all(|row| row.total.database_reads).per_second,
            Self::Rate(&[series]) => requests(imported, series)?.per_second,
            Self::Processors => imported.counter("% Processor Time"),
            Self::MeanLatency(series) => requests(imported, series)?.latency_ms,
            Self::Size(ALL_READS) => {
                Some(imported.all(|row| row.total.database_reads).bytes? / KIB)
            }
            Self::Size(&[series]) => Some(requests(imported, series)?.bytes? / KIB),
            Self::Throughput(Series::BackupRead) => imported.backup_mib_per_second(),
            Self::Throughput(series) => {
                let of = requests(imported, series)?;
                Some(of.per_second? * of.bytes? / MIB)
            }
            Self::Rate(_)
            | Self::Size(_)
            | Self::TailLatency(_)
            | Self::FlashHits
            | Self::FlashTraffic
            | Self::FlashHitTime
            | Self::FlashMissTime => None,
        }
    }
}

/// The requests of all databases, if the result has a row for them.
fn requests(imported: &ImportedResult, series: Series) -> Option<PublishedRequests> {
    let of: fn(&PublishedInstance) -> PublishedRequests = match series {
        // A backup's reads are those of the table.
        Series::DatabaseRead | Series::BackupRead => PublishedInstance::database_reads,
        Series::DatabaseWrite => PublishedInstance::database_writes,
        Series::LogWrite => PublishedInstance::log_writes,
        Series::MaintenanceRead => |row| row.maintenance,
        Series::ReplicationRead => PublishedInstance::replication_reads,
        _ => return None,
    };
    Some(imported.all(of))
}

/// Whether two runs state different values; a value missing from an imported run is not a
/// difference.
pub(super) fn is_stated_differently(runs: &[NamedRun], values: &[String]) -> bool {
    let is_told =
        |(run, value): &(&NamedRun, &String)| run.record.imported().is_none() || !value.is_empty();
    let mut told = runs.iter().zip(values).filter(is_told).map(|(_, value)| value);
    told.next().is_some_and(|first| told.any(|value| value != first))
}

/// A warning to show before the numbers of an imported run.
pub(super) fn doubt(run: &NamedRun) -> Option<String> {
    let imported = run.record.imported()?;
    let build = imported.release.as_ref().map(|of| format!(", {of}")).unwrap_or_default();
    let silent: Vec<&str> = circumstances::of_run(&run.record)
        .into_iter()
        .filter(|of| of.is_work && of.value.is_empty())
        .map(|of| of.name)
        .collect();
    let silent = match silent.as_slice() {
        [] => String::new(),
        names => format!(" It does not state {}.", names.join(", ")),
    };
    Some(format!(
        "{}: IMPORTED from {} ({}{build}), not measured by this program. It has no intervals, so \
         no change against it has a margin. Its means are over databases, not over \
         requests.{silent}",
        run.name, imported.file, imported.instrument
    ))
}
