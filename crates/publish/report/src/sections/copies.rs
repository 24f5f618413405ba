//! "Copies of the Backup": the files that a backup has made, and the results of reading them back.

use record::RunRecord;

use super::databases;
use super::verification::statistics;
use crate::document::{Block, Cell, Column, Section, Table, TableRow};
use crate::{format, meaning};

/// The copies that a backup has made, and the results of reading them back.
pub(super) fn section(run: &RunRecord) -> Option<Section> {
    databases(run).find(|facts| facts.backup_file.is_some())?;
    let columns = [
        ("File length (MiB)", "file-length"),
        ("Seconds taken", "backup-copy-time"),
        ("MiB/s", "backup-copy-rate"),
    ]
    .map(|(label, metric)| Column::metric(label, metric));
    let rows = run.backup_copies.iter().map(|copy| {
        let name = meaning::database_name(run, copy.database);
        let facts = databases(run).find(|facts| facts.index == copy.database);
        let path = facts.and_then(|facts| facts.backup_file.clone());
        TableRow::body(vec![
            Cell::plain(name),
            Cell::plain(path.unwrap_or_default()),
            Cell::plain(format::number(copy.bytes as f64 / 1_048_576.0, 1)),
            Cell::plain(format::number(copy.elapsed_ns as f64 / 1e9, 1)),
            Cell::or_none(copy.mib_per_second().map(|rate| format::number(rate, 1))),
        ])
    });
    let made = Table {
        caption: "The copies, as they were made",
        columns: [vec![Column::text("Database"), Column::text("File")], columns.to_vec()].concat(),
        rows: rows.collect(),
    };
    let found = match run.copy_checksums.as_slice() {
        [] => Block::Note("No copy was read back to its end.".to_owned()),
        all => Block::Table(statistics(run, "The copies, read back and verified", all)),
    };
    Some(Section {
        id: "backup-copies",
        title: "Copies of the Backup",
        blocks: vec![Block::Table(made), found],
    })
}
