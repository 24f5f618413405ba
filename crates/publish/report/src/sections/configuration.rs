//! "Database Configuration": location of each database and its logs, and their volumes.

use record::{DatabaseFacts, RunRecord, VolumeFacts};

use super::databases;
use crate::document::{Block, Cell, Column, Section, Table, TableRow};
use crate::format;

/// Files, and their volumes.
pub(super) fn section(run: &RunRecord) -> Section {
    let files = files(run);
    let volumes = Table {
        caption: "Volumes",
        columns: [
            "Mount point",
            "Device",
            "Model",
            "File system",
            "Size",
            "Free at start",
            "Kind",
            "Write cache",
            "Unbuffered",
            "Durable writes",
        ]
        .map(Column::text)
        .to_vec(),
        rows: volumes(run).into_iter().map(volume_row).collect(),
    };
    let mut blocks = vec![Block::Table(files)];
    if !volumes.rows.is_empty() {
        blocks.push(Block::Table(volumes));
    }
    Section { id: "database-configuration", title: "Database Configuration", blocks }
}

/// The files of each database, and its share of the load if there are several.
fn files(run: &RunRecord) -> Table {
    let mut columns = ["Instance", "Log path", "Database path"].map(Column::text).to_vec();
    if databases(run).any(|facts| facts.weight.is_some()) {
        columns.push(Column::metric("Weight", "database-weight"));
    }
    Table { caption: "Files", columns, rows: databases(run).map(file_row).collect() }
}

fn file_row(facts: &DatabaseFacts) -> TableRow {
    let mut cells = [&facts.name, &facts.log_folder, &facts.file].map(Cell::plain).to_vec();
    cells.extend(facts.weight.map(|weight| Cell::plain(format::three_digits(weight))));
    TableRow::body(cells)
}

/// The volumes of databases and logs, each once, in order of appearance.
fn volumes(run: &RunRecord) -> Vec<&VolumeFacts> {
    let mut found: Vec<&VolumeFacts> = Vec::new();
    for facts in databases(run) {
        for volume in [&facts.volume, &facts.log_volume] {
            let known = !volume.mount.is_empty() || !volume.device.is_empty();
            let is_found = found
                .iter()
                .any(|other| (&other.mount, &other.device) == (&volume.mount, &volume.device));
            if known && !is_found {
                found.push(volume);
            }
        }
    }
    found
}

fn volume_row(volume: &VolumeFacts) -> TableRow {
    let kind = volume.rotational.map(|rotational| {
        let kind = if rotational { "rotating" } else { "solid state" };
        kind.to_owned()
    });
    let unbuffered = match volume {
        VolumeFacts { cached: Some(_), .. } => "no",
        VolumeFacts { caching_unknown: Some(_), .. } => "unknown",
        volume if volume.unbuffered => "yes",
        _ => "no",
    };
    let cells = [
        known_text(&volume.mount),
        known_text(&volume.device),
        known_text(&volume.model),
        known_text(&volume.file_system),
        known_size(volume.size_bytes),
        known_size(volume.free_bytes),
        kind,
        volume.write_cache.clone(),
        Some(unbuffered.to_owned()),
        volume.durable_writes.clone(),
    ];
    TableRow::body(cells.map(Cell::or_none).to_vec())
}

fn known_text(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn known_size(bytes: u64) -> Option<String> {
    (bytes > 0).then(|| format::size(bytes))
}
