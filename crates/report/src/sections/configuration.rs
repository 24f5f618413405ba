//! "Database Configuration": where each database and its logs lie, and on what.

use record::{RunRecord, VolumeFacts};

use super::databases;
use crate::document::{Block, Cell, Column, Section, Table, TableRow};
use crate::format;

/// Files, and the volumes under them.
pub(super) fn section(run: &RunRecord) -> Section {
    let files = Table {
        caption: "Files",
        columns: ["Instance", "Log path", "Database path"].map(Column::text).to_vec(),
        rows: databases(run)
            .map(|facts| {
                let cells = [&facts.name, &facts.log_folder, &facts.file];
                TableRow::body(cells.map(Cell::plain).to_vec())
            })
            .collect(),
    };
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

/// The volumes of databases and logs, each once, in order of appearance.
fn volumes(run: &RunRecord) -> Vec<&VolumeFacts> {
    let mut found: Vec<&VolumeFacts> = Vec::new();
    for facts in databases(run) {
        for volume in [&facts.volume, &facts.log_volume] {
            let known = !volume.mount.is_empty() || !volume.device.is_empty();
            let same = |other: &&VolumeFacts| {
                (&other.mount, &other.device) == (&volume.mount, &volume.device)
            };
            if known && !found.iter().any(same) {
                found.push(volume);
            }
        }
    }
    found
}

fn volume_row(volume: &VolumeFacts) -> TableRow {
    let words = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let bytes = |bytes: u64| (bytes > 0).then(|| format::size(bytes));
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
        words(&volume.mount),
        words(&volume.device),
        words(&volume.model),
        words(&volume.file_system),
        bytes(volume.size_bytes),
        bytes(volume.free_bytes),
        kind,
        volume.write_cache.clone(),
        words(unbuffered),
        volume.durable_writes.clone(),
    ];
    TableRow::body(cells.map(Cell::or_none).to_vec())
}
