//! The figures of one server as storage vendors' papers print them, whether its run was measured
//! here or imported: rates are sums over databases, latencies their unweighted means.

use crate::{
    Checksum, ImportedResult, Phase, PhaseTotals, PublishedInstance, PublishedRequests, Replay,
    RunRecord, Series,
};

/// Transactional activity under a load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerLoad {
    /// Reads and writes of the databases per second; `None` if nothing was measured.
    pub transfers_per_second: Option<f64>,
    /// Reads of the databases.
    pub reads: PublishedRequests,
    /// Writes of the databases.
    pub writes: PublishedRequests,
    /// Writes of the logs.
    pub log_writes: PublishedRequests,
}

/// How fast databases were read by a backup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServerBackup {
    /// Mean over the databases, each over its own time.
    pub mib_per_second_each: f64,
    /// All of them over the time until the last was read, the figure of every other report of the
    /// run. A published result states only rates, so theirs is the sum.
    pub mib_per_second: f64,
}

/// How fast logs were replayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServerReplay {
    /// Log files of all databases.
    pub logs: u64,
    /// Mean time for one log file, over the databases.
    pub seconds_per_log: f64,
}

impl ServerLoad {
    /// Takes the figures from the measurement of `run`; all are missing if there was none.
    pub fn of(run: &RunRecord) -> Self {
        if let Some(imported) = run.imported() {
            return Self {
                transfers_per_second: imported.transactional_iops(),
                reads: imported.all(PublishedInstance::database_reads),
                writes: imported.all(PublishedInstance::database_writes),
                log_writes: imported.all(PublishedInstance::log_writes),
            };
        }
        let is_measured = run.span_ns(Phase::Measure) > 0;
        Self {
            transfers_per_second: is_measured.then(|| run.achieved_transactional_iops()),
            reads: measured(run, Series::DatabaseRead),
            writes: measured(run, Series::DatabaseWrite),
            log_writes: measured(run, Series::LogWrite),
        }
    }

    /// Combines several servers under the same load; figures that any of them lacks are missing.
    pub fn together(servers: &[Self]) -> Self {
        let transfers: Option<f64> = servers.iter().map(|one| one.transfers_per_second).sum();
        Self {
            transfers_per_second: transfers.filter(|_| !servers.is_empty()),
            reads: kind_of(servers, |one| one.reads),
            writes: kind_of(servers, |one| one.writes),
            log_writes: kind_of(servers, |one| one.log_writes),
        }
    }
}

/// One kind of request over several servers.
fn kind_of(servers: &[ServerLoad], of: fn(&ServerLoad) -> PublishedRequests) -> PublishedRequests {
    PublishedRequests::together(&servers.iter().map(of).collect::<Vec<_>>())
}

/// One kind of request over the databases that made any; if none did, their rate is 0.
fn measured(run: &RunRecord, series: Series) -> PublishedRequests {
    let databases = run.start.databases.iter();
    let totals = databases.filter_map(|facts| run.totals_of(Phase::Measure, facts.index));
    let rows = totals.filter_map(|totals| requests(totals, series));
    let all = PublishedRequests::together(&rows.collect::<Vec<_>>());
    let is_measured = run.span_ns(Phase::Measure) > 0;
    PublishedRequests { per_second: all.per_second.or(is_measured.then_some(0.0)), ..all }
}

fn requests(totals: &PhaseTotals, series: Series) -> Option<PublishedRequests> {
    let total = totals.series.get(&series).filter(|total| !total.latency.is_empty())?;
    Some(PublishedRequests {
        latency_ms: Some(total.latency.mean_ns() / 1e6),
        per_second: Some(totals.per_second(series)),
        bytes: Some(total.mean_bytes()),
    })
}

impl ServerBackup {
    /// Takes the figures from a backup test; `None` if a database was not read.
    pub fn of(run: &RunRecord) -> Option<Self> {
        let rates: Option<Vec<f64>> = match run.imported() {
            Some(imported) => imported.backups.iter().map(|of| of.mib_per_second).collect(),
            None => run.backups.iter().map(Checksum::mib_per_second).collect(),
        };
        let rates = rates.filter(|rates| !rates.is_empty())?;
        let sum: f64 = rates.iter().sum();
        let mib_per_second = match run.imported() {
            Some(_) => sum,
            None => Checksum::together(&run.backups).mib_per_second()?,
        };
        Some(Self { mib_per_second_each: sum / rates.len() as f64, mib_per_second })
    }
}

impl ServerReplay {
    /// Takes the figures from a recovery test; `None` if nothing was replayed.
    pub fn of(run: &RunRecord) -> Option<Self> {
        let each = match run.imported() {
            Some(imported) => imported_seconds(imported)?,
            None => run.replays.iter().filter_map(measured_seconds).collect(),
        };
        let logs = match run.imported() {
            Some(imported) => imported.replays.iter().filter_map(|of| of.logs).sum(),
            None => run.replays.iter().map(|of| of.logs).sum(),
        };
        let seconds_per_log = each.iter().sum::<f64>() / each.len() as f64;
        (!each.is_empty()).then_some(Self { logs, seconds_per_log })
    }
}

fn measured_seconds(replay: &Replay) -> Option<f64> {
    Some(replay.ns_per_log()? / 1e9)
}

/// Seconds per log file of each database; `None` if one of them lacks a figure.
fn imported_seconds(imported: &ImportedResult) -> Option<Vec<f64>> {
    imported
        .replays
        .iter()
        .map(|replay| {
            let logs = replay.logs.filter(|&logs| logs > 0)?;
            Some(replay.seconds? / logs as f64)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{ServerBackup, ServerLoad, ServerReplay};
    use crate::{Checksum, PublishedRequests, Replay, RunRecord, synthetic};

    fn requests(latency_ms: f64, per_second: f64) -> PublishedRequests {
        PublishedRequests {
            latency_ms: Some(latency_ms),
            per_second: Some(per_second),
            bytes: Some(1.0),
        }
    }

    /// A load that only read wrote nothing, and that is known.
    #[test]
    fn requests_that_no_database_made_have_a_rate() {
        let mut run = synthetic::Synthetic::default().run();
        run.start.databases.clear();
        let load = ServerLoad::of(&run);
        assert_eq!((load.writes.per_second, load.writes.latency_ms), (Some(0.0), None));
    }

    #[test]
    fn rates_of_servers_add_up_and_latencies_are_plain_means() {
        let server = |transfers, latency_ms, per_second| ServerLoad {
            transfers_per_second: transfers,
            reads: requests(latency_ms, per_second),
            ..ServerLoad::default()
        };
        let all = ServerLoad::together(&[
            server(Some(100.0), 10.0, 60.0),
            server(Some(300.0), 20.0, 180.0),
        ]);
        assert_eq!(all.transfers_per_second, Some(400.0));
        assert_eq!((all.reads.latency_ms, all.reads.per_second), (Some(15.0), Some(240.0)));
        assert_eq!(all.log_writes, PublishedRequests::default());
        let lacking = ServerLoad::together(&[server(None, 1.0, 1.0), server(Some(1.0), 1.0, 1.0)]);
        assert_eq!(lacking.transfers_per_second, None);
        assert_eq!(ServerLoad::together(&[]), ServerLoad::default());
    }

    #[test]
    fn a_measured_run_has_the_figures_of_its_databases() {
        let run = synthetic::Synthetic::default().run();
        let load = ServerLoad::of(&run);
        let parts = load.reads.per_second.zip(load.writes.per_second);
        let parts = parts.map(|(reads, writes)| reads + writes);
        let off = (parts.unwrap_or(0.0) - run.achieved_transactional_iops()).abs();
        assert!(off < 1e-6, "{load:?}");
        assert_eq!(ServerLoad::of(&RunRecord::default()), ServerLoad::default());
    }

    #[test]
    fn passes_have_a_rate_each_and_together() {
        let mut run = RunRecord::default();
        assert_eq!((ServerBackup::of(&run), ServerReplay::of(&run)), (None, None));
        let read = |bytes| Checksum { bytes, elapsed_ns: 1_000_000_000, ..Checksum::default() };
        run.backups = vec![read(50 << 20), read(70 << 20)];
        let backup = ServerBackup::of(&run);
        assert_eq!(backup, Some(ServerBackup { mib_per_second_each: 60.0, mib_per_second: 120.0 }));
        // The second database took twice as long: 120 MiB in two seconds.
        run.backups[1].elapsed_ns *= 2;
        let uneven = ServerBackup { mib_per_second_each: 42.5, mib_per_second: 60.0 };
        assert_eq!(ServerBackup::of(&run), Some(uneven));
        let replay =
            |logs, elapsed_ns| Replay { logs, elapsed_ns, pages_changed: 1, ..Replay::default() };
        run.replays = vec![replay(10, 20_000_000_000), replay(10, 40_000_000_000)];
        assert_eq!(ServerReplay::of(&run), Some(ServerReplay { logs: 20, seconds_per_log: 3.0 }));
    }
}
