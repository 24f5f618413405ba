//! The rows of a result's tables.

use record::{
    PublishedBackup, PublishedChecksum, PublishedCounter, PublishedInstance, PublishedIo,
    PublishedReplay, PublishedRequests,
};

use crate::result::number::{decimal, whole};
use crate::result::outline::Outline;
use crate::result::tables::{self, ResultRow, ResultTable};
use crate::result::{MOST_ROWS, ResultError};

/// Every database, with its row of each table.
pub(super) fn instances(outline: &Outline) -> Result<Vec<PublishedInstance>, ResultError> {
    let mut instances: Vec<PublishedInstance> = Vec::new();
    for table in tables::io(outline) {
        for row in table.rows() {
            if instances.len() > MOST_ROWS {
                return Err(ResultError::TooMany);
            }
            let at = instances.iter().position(|known| known.name == row.name());
            let at = at.unwrap_or_else(|| {
                let name = row.name().to_owned();
                instances.push(PublishedInstance { name, ..PublishedInstance::default() });
                instances.len() - 1
            });
            let instance = &mut instances[at];
            match table.section.as_str() {
                of if of.contains("maintenance") => {
                    instance.maintenance = requests(row, "database maintenance io reads")?;
                }
                of if of.contains("replication") => {
                    instance.replication = requests(row, "i/o log reads")?;
                }
                of if of.contains("total") => instance.total = io(row)?,
                of if of.contains("transactional") => instance.transactional = io(row)?,
                _ => {}
            }
        }
    }
    Ok(instances)
}

fn io(row: ResultRow<'_>) -> Result<PublishedIo, ResultError> {
    Ok(PublishedIo {
        database_reads: requests(row, "i/o database reads")?,
        database_writes: requests(row, "i/o database writes")?,
        log_reads: requests(row, "i/o log reads")?,
        log_writes: requests(row, "i/o log writes")?,
    })
}

/// The three columns for one kind of request. If there were none, latency and size are printed as
/// 0, which means nothing.
fn requests(row: ResultRow<'_>, kind: &str) -> Result<PublishedRequests, ResultError> {
    let per_second = figure(row, &format!("{kind}/sec"))?;
    let latency_ms = figure(row, &format!("{kind} average latency"))?;
    let bytes = figure(row, &format!("{kind} average bytes"))?;
    Ok(match per_second {
        Some(0.0) => PublishedRequests { latency_ms: None, per_second, bytes: None },
        _ => PublishedRequests { latency_ms, per_second, bytes },
    })
}

fn figure(row: ResultRow<'_>, column: &str) -> Result<Option<f64>, ResultError> {
    decimal(&format!("{}: {column}", row.name()), row.cell(column))
}

/// Counters of the machine under load. The first of a name wins; the checksum pass is ignored.
pub(super) fn host(outline: &Outline) -> Result<Vec<PublishedCounter>, ResultError> {
    let mut host: Vec<PublishedCounter> = Vec::new();
    let tables = tables::with(outline, "maximum");
    let under_load = tables.iter().filter(|of| !of.section.contains("checksum"));
    for row in under_load.flat_map(ResultTable::rows) {
        if host.iter().any(|known| known.name == row.name()) {
            continue;
        }
        if host.len() == MOST_ROWS {
            return Err(ResultError::TooMany);
        }
        host.push(PublishedCounter {
            name: row.name().to_owned(),
            average: decimal(row.name(), row.cell("average"))?,
            minimum: decimal(row.name(), row.cell("minimum"))?,
            maximum: decimal(row.name(), row.cell("maximum"))?,
        });
    }
    Ok(host)
}

pub(super) fn checksums(outline: &Outline) -> Result<Vec<PublishedChecksum>, ResultError> {
    each(outline, "bad pages", |row| {
        let [seen_pages, bad_pages, correctable_pages, wrong_page_number_pages] =
            ["seen pages", "bad pages", "correctable pages", "wrong page-number pages"]
                .map(|column| whole(row.name(), row.cell(column)));
        Ok(PublishedChecksum {
            database: row.name().to_owned(),
            seen_pages: seen_pages?,
            bad_pages: bad_pages?,
            correctable_pages: correctable_pages?,
            wrong_page_number_pages: wrong_page_number_pages?,
        })
    })
}

pub(super) fn backups(outline: &Outline) -> Result<Vec<PublishedBackup>, ResultError> {
    each(outline, "mbytes transferred/sec", |row| {
        Ok(PublishedBackup {
            instance: row.name().to_owned(),
            database_mib: decimal(row.name(), row.cell("database size (mbytes)"))?,
            mib_per_second: decimal(row.name(), row.cell("mbytes transferred/sec"))?,
        })
    })
}

pub(super) fn replays(outline: &Outline) -> Result<Vec<PublishedReplay>, ResultError> {
    each(outline, "log files replayed", |row| {
        Ok(PublishedReplay {
            instance: row.name().to_owned(),
            logs: whole(row.name(), row.cell("log files replayed"))?,
            seconds: decimal(row.name(), row.cell("elapsed seconds"))?,
        })
    })
}

/// Reads every row of the tables that have a given column.
fn each<T>(
    outline: &Outline,
    column: &str,
    read: fn(ResultRow<'_>) -> Result<T, ResultError>,
) -> Result<Vec<T>, ResultError> {
    let mut found = Vec::new();
    for table in tables::with(outline, column) {
        for row in table.rows() {
            found.push(read(row)?);
        }
    }
    Ok(found)
}
