//! Converts a run to rows of the history and back.

use std::sync::Arc;

use rusqlite::{Connection, Row, Transaction, params};
use verdict::SampledMean;

use super::{PastRun, PastRuns};
use crate::runs::known::{JournalStamp, Known};
use crate::summary::{RunLine, Tone, VolumeIdentity};

/// Separator between the tags of a run; a tag contains no control characters.
const BETWEEN_TAGS: char = '\n';

/// Every run of the history.
pub(super) fn read(connection: &Connection) -> rusqlite::Result<PastRuns> {
    let mut runs = PastRuns::new();
    let mut all = connection.prepare("SELECT * FROM run")?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        let (id, run) = past(row)?;
        runs.insert(id, run);
    }
    let mut all = connection.prepare("SELECT * FROM volume ORDER BY rowid")?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        let id: String = row.get("run")?;
        if let Some(PastRun { known: Known::Summary(line), .. }) = runs.get_mut(&id) {
            Arc::make_mut(line).volumes.push(volume(row)?);
        }
    }
    Ok(runs)
}

fn past(row: &Row<'_>) -> rusqlite::Result<(String, PastRun)> {
    let stamp = JournalStamp {
        bytes: unsigned(row.get("journal_bytes")?),
        changed_ns: row.get("journal_changed_ns")?,
        labelled_ns: row.get("labelled_ns")?,
    };
    let unreadable: Option<String> = row.get("unreadable")?;
    let known = match unreadable {
        Some(why) => Known::Unreadable(why),
        None => Known::Summary(Arc::new(line(row)?)),
    };
    Ok((row.get("id")?, PastRun { stamp, known }))
}

fn line(row: &Row<'_>) -> rusqlite::Result<RunLine> {
    let tags: String = row.get("tags")?;
    let tone: String = row.get("tone")?;
    let started_ns: Option<i64> = row.get("started_ns")?;
    Ok(RunLine {
        name: row.get("name")?,
        tags: tags.split_terminator(BETWEEN_TAGS).map(str::to_owned).collect(),
        description: row.get("description")?,
        machine: row.get("machine")?,
        test: row.get("test")?,
        started_ns: started_ns.map(unsigned),
        started: row.get("started")?,
        verdict: row.get("verdict")?,
        tone: Tone::of_class(&tone),
        asked_iops: row.get("asked_iops")?,
        iops: row.get("iops")?,
        backup_mib_per_second: row.get("backup_mib_per_second")?,
        read_ms: row.get("read_ms")?,
        log_write_ms: row.get("log_write_ms")?,
        outcome: row.get("outcome")?,
        simulated: row.get("simulated")?,
        imported: row.get("imported")?,
        is_cut_off: row.get("is_cut_off")?,
        margin_percent: row.get("margin_percent")?,
        work: row.get("work")?,
        sampled_reads: sampled_reads(row)?,
        volumes: Vec::new(),
    })
}

fn sampled_reads(row: &Row<'_>) -> rusqlite::Result<Option<SampledMean>> {
    let mean: Option<f64> = row.get("reads_sample_ms")?;
    let variance: Option<f64> = row.get("reads_variance")?;
    let degrees: Option<f64> = row.get("reads_degrees")?;
    let numbers = mean.zip(variance).zip(degrees);
    Ok(numbers
        .map(|((mean, variance), degrees)| SampledMean::of_numbers([mean, variance, degrees])))
}

fn volume(row: &Row<'_>) -> rusqlite::Result<VolumeIdentity> {
    Ok(VolumeIdentity {
        machine: row.get("machine")?,
        mount: row.get("mount")?,
        model: row.get("model")?,
        size_bytes: unsigned(row.get("size_bytes")?),
    })
}

/// Writes the entry of a run that has no rows yet; does nothing if the run has not been read.
pub(super) fn write(
    transaction: &Transaction<'_>,
    id: &str,
    stamp: JournalStamp,
    known: &Known,
) -> rusqlite::Result<()> {
    match known {
        Known::Unread => Ok(()),
        Known::Unreadable(why) => write_unreadable(transaction, id, stamp, why),
        Known::Summary(line) => {
            write_line(transaction, id, stamp, line)?;
            line.volumes.iter().try_for_each(|volume| write_volume(transaction, id, volume))
        }
    }
}

fn write_unreadable(
    transaction: &Transaction<'_>,
    id: &str,
    stamp: JournalStamp,
    why: &str,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO run (id, journal_bytes, journal_changed_ns, labelled_ns, unreadable) \
               VALUES (?1, ?2, ?3, ?4, ?5)";
    let JournalStamp { bytes, changed_ns, labelled_ns } = stamp;
    transaction.execute(sql, params![id, signed(bytes), changed_ns, labelled_ns, why]).map(drop)
}

fn write_line(
    transaction: &Transaction<'_>,
    id: &str,
    stamp: JournalStamp,
    line: &RunLine,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO run VALUES \
               (?1, ?2, ?3, ?4, NULL, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, \
               ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27)";
    let [sample_ms, variance, degrees] = match line.sampled_reads {
        Some(sampled) => sampled.numbers().map(Some),
        None => [None; 3],
    };
    let mut tags = String::new();
    for tag in &line.tags {
        tags.extend([tag.as_str(), "\n"]);
    }
    let values = params![
        id,
        signed(stamp.bytes),
        stamp.changed_ns,
        stamp.labelled_ns,
        line.name,
        tags,
        line.description,
        line.machine,
        line.test,
        line.started_ns.map(signed),
        line.started,
        line.verdict,
        line.tone.class(),
        line.asked_iops,
        line.iops,
        line.backup_mib_per_second,
        line.read_ms,
        line.log_write_ms,
        line.outcome,
        line.simulated,
        line.imported,
        line.is_cut_off,
        line.margin_percent,
        line.work,
        sample_ms,
        variance,
        degrees,
    ];
    transaction.execute(sql, values).map(drop)
}

fn write_volume(
    transaction: &Transaction<'_>,
    id: &str,
    volume: &VolumeIdentity,
) -> rusqlite::Result<()> {
    let values = params![id, volume.machine, volume.mount, volume.model, signed(volume.size_bytes)];
    transaction.execute("INSERT INTO volume VALUES (?1, ?2, ?3, ?4, ?5)", values).map(drop)
}

/// `SQLite` has no unsigned integers; these values are below 2^63 except in forged journals.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}
