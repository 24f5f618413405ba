//! `space`: who owns the pages of a database, and how many of them are free.

use ese::reader::{SalvagedSpace, TreeKind};
use ese::space::ExtentSet;
use host::dirty::Dirty;
use serde_json::{Value, json};
use units::Bytes;

use crate::opened::OpenDatabase;
use console::Console;
use console::Outcome;
use console::args::FileFlags;
use console::error::CommandError;

/// Prints one line per tree, as far as its space can be read.
pub(crate) fn run(flags: &FileFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let mut opened = OpenDatabase::open(&flags.file)?;
    let page_bytes = opened.reader.page_size().bytes_u64();
    let report = opened.reader.salvaged_space_report().map_err(|error| opened.ends(error))?;
    if flags.json {
        console.answer_json(
            "space",
            json!({
                "page_size_bytes": page_bytes,
                "not_closed": opened.dirty.as_ref().map(Dirty::as_json),
                "trees": report.iter().map(as_json).collect::<Vec<_>>(),
            }),
        )?;
    } else {
        print(&report, page_bytes, console)?;
    }
    console.flush()?;
    for tree in &report {
        tell_of_losses(tree, &mut opened);
    }
    Ok(opened.outcome())
}

fn print(
    report: &[SalvagedSpace],
    page_bytes: u64,
    console: &mut Console,
) -> Result<(), CommandError> {
    console.answer(format_args!(
        "{:>10} {:>10} {:>12} {:>10} {:>8} {:>8}  tree",
        "owned", "free", "owned size", "free size", "object", "root"
    ))?;
    for tree in report {
        let name = name(tree);
        let (object, root) = (tree.place.object.0, tree.place.root.0);
        // If part of a space tree is lost, the rest gives a lower bound.
        let least = if tree.losses.is_empty() { "" } else { ">" };
        let (owned, free) = match &tree.space {
            Ok(space) => (
                amounts(&space.owned, least, page_bytes),
                amounts(&space.available, least, page_bytes),
            ),
            Err(_) => (["?".to_owned(), "?".to_owned()], ["?".to_owned(), "?".to_owned()]),
        };
        let ([owned, owned_size], [free, free_size]) = (owned, free);
        console.answer(format_args!(
            "{owned:>10} {free:>10} {owned_size:>12} {free_size:>10} {object:>8} {root:>8}  {name}",
        ))?;
    }
    Ok(())
}

/// Pages and bytes of a set.
fn amounts(set: &ExtentSet, least: &str, page_bytes: u64) -> [String; 2] {
    let bytes = Bytes(set.pages() * page_bytes);
    [format!("{least}{}", set.pages()), format!("{least}{bytes}")]
}

fn tell_of_losses(tree: &SalvagedSpace, opened: &mut OpenDatabase) {
    let name = name(tree);
    let name = name.trim_start();
    if let Err(error) = &tree.space {
        opened.damage(name, error, "its space is not known");
    }
    for loss in &tree.losses {
        opened.damage(name, &loss.error, "extents that stand there are not counted");
    }
}

fn name(tree: &SalvagedSpace) -> String {
    match tree.kind {
        TreeKind::Database => "the database".to_owned(),
        TreeKind::Table => tree.table.clone(),
        TreeKind::Index => format!("  {}: index {}", tree.table, tree.index),
        TreeKind::LongValues => format!("  {}: long values", tree.table),
    }
}

fn as_json(tree: &SalvagedSpace) -> Value {
    let space = tree.space.as_ref().ok();
    let mut losses: Vec<String> = tree.losses.iter().map(|loss| loss.error.to_string()).collect();
    losses.extend(tree.space.as_ref().err().map(ToString::to_string));
    json!({
        "kind": match tree.kind {
            TreeKind::Database => "database",
            TreeKind::Table => "table",
            TreeKind::Index => "index",
            TreeKind::LongValues => "long_values",
        },
        "table": tree.table,
        "index": tree.index,
        "object": tree.place.object.0,
        "root": tree.place.root.0,
        "owned_pages": space.map(|space| space.owned.pages()),
        "available_pages": space.map(|space| space.available.pages()),
        "reserved_pages": space.map(|space| space.reserved.pages()),
        "owned_extents": space.map(|space| space.owned.extents().len()),
        "available_extents": space.map(|space| space.available.extents().len()),
        "skipped": losses,
    })
}
