//! The bill of materials, as far as the design determines it, with its cost if prices are given.

use std::fmt::Write as _;

use plan::deployment::Disks;
use report::document::{Block, Cell, Column, Section, TableRow, Tone};
use report::format::number;
use sizing::{Decision, Key, QueuePlace, ShownQuantity, as_sold};
use units::{counted, three_digits};

use super::columns::{key_column, number_column, table};
use super::prices::sentence;
use super::{Sized, bought_memory, builds, shown};

/// A line of the bill.
#[derive(Clone)]
struct BillLine {
    what: &'static str,
    key: Key,
    cost: Option<Key>,
    kind: String,
}

/// The section.
pub(super) fn section(sized: Sized<'_>) -> Section {
    let prices = sized.deployment.prices.as_ref();
    let mut columns =
        vec![Column::text("item"), number_column("quantity", None), Column::text("description")];
    if prices.is_some() {
        columns.push(number_column("cost", None));
    }
    columns.push(key_column("key for --explain"));
    let lines = [purchases(sized), running(sized)].concat();
    let mut rows = Vec::new();
    rows.extend(lines.iter().filter_map(|line| row(sized, line)));
    if let (Some(prices), Some(all)) = (prices, sized.sizing.number(Key::CostAll)) {
        rows.push(TableRow::sum(vec![
            Cell::plain("In all"),
            Cell::plain(""),
            Cell::plain(format!("{}{}", prices.currency, left_out(sized, &lines))),
            Cell::plain(number(all, 0)),
            Cell::plain(Key::CostAll.name()).toned(Tone::Muted),
        ]));
    }
    let caption = "Without controllers, shelves and network, which the design leaves open.";
    let mut blocks = table(caption, columns, rows);
    blocks.extend(prices.map(|prices| Block::Note(sentence(prices))));
    Section { id: "bill", title: "Bill of materials", blocks }
}

/// What the sum leaves out, because it has no price; empty if every line has one.
fn left_out(sized: Sized<'_>, lines: &[BillLine]) -> String {
    let parts: Vec<String> = lines
        .iter()
        .filter(|line| line.cost(sized).is_none())
        .filter_map(|line| Some(format!("{} ({})", line.what, line.count(sized)?)))
        .collect();
    if parts.is_empty() {
        return String::new();
    }
    format!(", without what has no price: {}", parts.join(", "))
}

/// The table row of a bill line; `None` if the design has none of its item.
fn row(sized: Sized<'_>, line: &BillLine) -> Option<TableRow> {
    let mut cells =
        vec![Cell::plain(line.what), Cell::plain(line.count(sized)?), Cell::plain(&*line.kind)];
    if sized.deployment.prices.is_some() {
        cells.push(Cell::or_none(line.cost(sized).map(|cost| number(cost, 0))));
    }
    cells.push(Cell::plain(line.key.name()).toned(Tone::Muted));
    Some(TableRow::body(cells))
}

fn purchases(sized: Sized<'_>) -> Vec<BillLine> {
    let cores = counted(&number(sized.deployment.servers.first.cores, 0), "core");
    let (memory, why) = bought_memory(sized);
    let disks = disks(sized);
    let ssds = format!("{} each, for MetaCache databases", shown(sized, Key::MetaCacheSsdGb));
    let memory = format!("{cores} and {memory} of memory each{why}");
    let all = "of all servers together".to_owned();
    vec![
        BillLine::new("Servers", Key::ServerAll, Some(Key::CostServers), memory),
        BillLine::new("Client access servers", Key::ServerClientAccess, None, String::new()),
        BillLine::new("Disks", Key::DiskAll, Some(Key::CostDisks), disks),
        BillLine::new(
            "System disks",
            Key::DiskSystemAll,
            Some(Key::CostSystemDisks),
            system_disks(sized),
        ),
        BillLine::new("SSDs", Key::MetaCacheSsdsAll, Some(Key::CostSsds), ssds),
        BillLine::new("Memory", Key::MemoryAllGb, Some(Key::CostMemory), all),
    ]
}

/// What the price of disks is a price of: the document has one for all of them.
const ANY_DISK: &str = "; each at prices.disk, whatever its type and size";

/// The disks of all volumes: those of logs and restores may be others than those of databases.
fn disks(sized: Sized<'_>) -> String {
    let Disks { database, log, restore, .. } = &sized.deployment.storage.first;
    let mut uses = vec!["databases"];
    let mut others = String::new();
    for (key, disk, purpose) in
        [(Key::DiskRaidDisksLog, log, "logs"), (Key::DiskRaidDisksRestore, restore, "restores")]
    {
        let servers = sized.sizing.number(Key::ServerAll).unwrap_or(0.0);
        let count = sized.sizing.number(key).unwrap_or(0.0) * servers;
        if count > 0.0 && disk != database {
            let (count, size) = (number(count, 0), as_sold(disk.capacity));
            let _ = write!(others, "; {count} of them {}, {size} each, for {purpose}", disk.kind);
        } else {
            uses.push(purpose);
        }
    }
    let (kind, size) = (&database.kind, as_sold(database.capacity));
    let (uses, built) = (uses.join(", "), builds(sized));
    let priced = sized.sizing.number(Key::CostDisks).map_or("", |_| ANY_DISK);
    format!("{kind}, {size} each; {uses} and spares, {built}{others}{priced}")
}

/// The system disks, and what the queue database needs beside them.
pub(super) fn system_disks(sized: Sized<'_>) -> String {
    let least = shown(sized, Key::DiskSystemLeastGb);
    let apart = Decision::Queue(QueuePlace::OwnDisks);
    if sized.sizing.sheet.decision(Key::TransportLocation) != Some(apart) {
        let disks = &sized.deployment.storage.first;
        let given = if disks.system_is_given {
            format!("{} each; ", as_sold(disks.system.capacity))
        } else {
            String::new()
        };
        return format!(
            "a mirrored pair in each server, {given}{least} or more each for system and queue"
        );
    }
    format!(
        "a mirrored pair in each server, {} each for the system; not counted: a pair more in each \
         for the queue, {}, unless the system disks have {least} or more",
        as_sold(sized.deployment.storage.first.system.capacity),
        shown(sized, Key::TransportDbGbPerServer),
    )
}

/// Space and energy over the given number of years.
fn running(sized: Sized<'_>) -> Vec<BillLine> {
    let years = sized.deployment.prices.as_ref().map_or(0.0, |prices| prices.years);
    let over = format!("cost over {} years", three_digits(years));
    let lines = [
        ("Rack units", Key::RackUnitsAll, Key::CostRack),
        ("Power", Key::PowerAllWatts, Key::CostEnergy),
    ];
    let lines = lines.map(|(what, key, cost)| {
        let priced = sized.sizing.number(cost).is_some();
        let kind = if priced { over.clone() } else { String::new() };
        BillLine::new(what, key, Some(cost), kind)
    });
    lines.into()
}

impl BillLine {
    /// Its quantity with its unit; `None` if the design has none.
    fn count(&self, sized: Sized<'_>) -> Option<String> {
        let count = sized.sizing.number(self.key).filter(|count| *count > 0.0)?;
        Some(ShownQuantity::of_number(self.key, count).written())
    }

    /// Its cost; `None` without a price.
    fn cost(&self, sized: Sized<'_>) -> Option<f64> {
        sized.sizing.number(self.cost?)
    }

    const fn new(what: &'static str, key: Key, cost: Option<Key>, kind: String) -> Self {
        Self { what, key, cost, kind }
    }
}
