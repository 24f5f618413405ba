//! The summary of a published result, computed from the rows of its instances.
//!
//! Rates of a server are sums over its databases; latencies are plain means of theirs, regardless
//! of request counts; sizes are means weighted by rate, since they are bytes divided by requests.

/// The figures of one database in a result, or of all together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InstanceRow {
    /// Transactional reads of the database per second.
    pub database_reads_per_second: f64,
    /// Writes of the database per second.
    pub database_writes_per_second: f64,
    /// Mean latency of those reads.
    pub database_read_ms: f64,
    /// Mean latency of those writes.
    pub database_write_ms: f64,
    /// Mean size of those reads.
    pub database_read_bytes: f64,
    /// Mean size of those writes.
    pub database_write_bytes: f64,
    /// Reads of the maintenance scan per second.
    pub maintenance_reads_per_second: f64,
    /// Mean size of those reads.
    pub maintenance_read_bytes: f64,
    /// Writes of the log per second.
    pub log_writes_per_second: f64,
    /// Mean latency of those writes.
    pub log_write_ms: f64,
    /// Mean size of those writes.
    pub log_write_bytes: f64,
}

/// The figures of a server, as results and white papers print them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PublishedSummary {
    /// Reads and writes of databases per second: maintenance, log and replication never count.
    pub achieved_transactional_iops: f64,
    /// All databases together.
    pub server: InstanceRow,
    /// Reads per second including those of the maintenance scan, as in the table of total I/O.
    pub total_reads_per_second: f64,
    /// Mean size of those reads.
    pub total_read_bytes: f64,
}

impl PublishedSummary {
    /// The summary of the databases of one server; `None` if there are no rows.
    pub fn of(rows: &[InstanceRow]) -> Option<Self> {
        if rows.is_empty() {
            return None;
        }
        let server = InstanceRow {
            database_reads_per_second: sum(rows, |row| row.database_reads_per_second),
            database_writes_per_second: sum(rows, |row| row.database_writes_per_second),
            database_read_ms: mean(rows, |row| row.database_read_ms),
            database_write_ms: mean(rows, |row| row.database_write_ms),
            database_read_bytes: sized(
                rows,
                |row| row.database_read_bytes,
                |row| row.database_reads_per_second,
            ),
            database_write_bytes: sized(
                rows,
                |row| row.database_write_bytes,
                |row| row.database_writes_per_second,
            ),
            maintenance_reads_per_second: sum(rows, |row| row.maintenance_reads_per_second),
            maintenance_read_bytes: sized(
                rows,
                |row| row.maintenance_read_bytes,
                |row| row.maintenance_reads_per_second,
            ),
            log_writes_per_second: sum(rows, |row| row.log_writes_per_second),
            log_write_ms: mean(rows, |row| row.log_write_ms),
            log_write_bytes: sized(
                rows,
                |row| row.log_write_bytes,
                |row| row.log_writes_per_second,
            ),
        };
        let (reads, scanned) =
            (server.database_reads_per_second, server.maintenance_reads_per_second);
        let parts = [(server.database_read_bytes, reads), (server.maintenance_read_bytes, scanned)];
        Some(Self {
            achieved_transactional_iops: reads + server.database_writes_per_second,
            server,
            total_reads_per_second: reads + scanned,
            total_read_bytes: weighted(parts.into_iter()),
        })
    }
}

fn sum(rows: &[InstanceRow], part: fn(&InstanceRow) -> f64) -> f64 {
    rows.iter().map(part).sum()
}

fn mean(rows: &[InstanceRow], part: fn(&InstanceRow) -> f64) -> f64 {
    sum(rows, part) / rows.len() as f64
}

fn sized(
    rows: &[InstanceRow],
    bytes: fn(&InstanceRow) -> f64,
    rate: fn(&InstanceRow) -> f64,
) -> f64 {
    weighted(rows.iter().map(|row| (bytes(row), rate(row))))
}

/// The weighted mean of values; 0 if all weights are zero.
fn weighted(values: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (value, weight) in values {
        sum += value * weight;
        weights += weight;
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
}
