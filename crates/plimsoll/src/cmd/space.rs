//! `space`: who owns the pages of a database, and how many of them are free.

use ese::reader::{TreeKind, TreeSpace};
use serde_json::{Value, json};
use units::Bytes;

use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;
use crate::flags::FileFlags;
use crate::pages::{open_reader, unreadable};

/// Prints one line per tree.
pub(crate) fn run(flags: &FileFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let mut reader = open_reader(&flags.file, console)?;
    let page_bytes = reader.page_size().bytes_u64();
    let report = reader.space_report();
    let report = report.map_err(|error| unreadable(&flags.file, error))?;
    if flags.json {
        let trees: Vec<Value> = report.iter().map(as_json).collect();
        console.answer_json(&json!({ "page_size_bytes": page_bytes, "trees": trees }))?;
        return Ok(Outcome::Pass);
    }
    console.answer(format_args!(
        "{:>10} {:>10} {:>12} {:>10} {:>8} {:>8}  tree",
        "owned", "free", "owned size", "free size", "object", "root"
    ))?;
    for tree in &report {
        console.answer(format_args!(
            "{:>10} {:>10} {:>12} {:>10} {:>8} {:>8}  {}",
            tree.owned.pages(),
            tree.available.pages(),
            Bytes(tree.owned.pages() * page_bytes).to_string(),
            Bytes(tree.available.pages() * page_bytes).to_string(),
            tree.object.0,
            tree.root.0,
            name(tree),
        ))?;
    }
    Ok(Outcome::Pass)
}

fn name(tree: &TreeSpace) -> String {
    match tree.kind {
        TreeKind::Database => "the database".to_owned(),
        TreeKind::Table => tree.table.clone(),
        TreeKind::Index => format!("  {}: index {}", tree.table, tree.index),
        TreeKind::LongValues => format!("  {}: long values", tree.table),
    }
}

fn as_json(tree: &TreeSpace) -> Value {
    json!({
        "kind": match tree.kind {
            TreeKind::Database => "database",
            TreeKind::Table => "table",
            TreeKind::Index => "index",
            TreeKind::LongValues => "long_values",
        },
        "table": tree.table,
        "index": tree.index,
        "object": tree.object.0,
        "root": tree.root.0,
        "owned_pages": tree.owned.pages(),
        "available_pages": tree.available.pages(),
        "reserved_pages": tree.reserved.pages(),
        "owned_extents": tree.owned.extents().len(),
        "available_extents": tree.available.extents().len(),
    })
}
