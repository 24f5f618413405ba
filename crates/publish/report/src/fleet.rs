//! A run of many hosts as one page: the verdict, the worst host and database first, latency of
//! every host over time, the timeline with its events, and storage that several hosts share.

mod compared;
mod csv;
mod heat;
#[cfg(test)]
mod tests;

use record::{Phase, RunRecord, Series};
use verdict::Ruling;

use crate::document::{Banner, Block, Cell, Column, Document, Section, Table, TableRow};
use crate::format;
use crate::html;
use crate::sections::summary::names;
use crate::sections::tone;

pub use compared::{ComparedHost, render_fleets};
pub use csv::fleet_csv;

/// A fleet run, in the words of its report.
#[derive(Clone, Debug)]
pub struct FleetSheet<'a> {
    /// Name of the fleet plan.
    pub name: &'a str,
    /// Start, in nanoseconds since 1970.
    pub started_ns: u64,
    /// The verdict on all hosts together.
    pub outcome: Ruling,
    /// The verdict in a few words.
    pub headline: String,
    /// What the rules found, worst first.
    pub findings: Vec<(Ruling, String)>,
    /// The hosts, in the order of the plan.
    pub hosts: Vec<FleetSheetHost<'a>>,
    /// Stages and events, in seconds after the start of the fleet run.
    pub marks: Vec<(f64, String)>,
    /// Rates and latencies in the periods before, during and after each event.
    pub periods: Vec<FleetSheetPeriod<'a>>,
    /// Storage that several hosts use, in sentences.
    pub shared: Vec<String>,
}

/// One host.
#[derive(Clone, Debug)]
pub struct FleetSheetHost<'a> {
    /// Its name.
    pub name: &'a str,
    /// The verdict on it.
    pub outcome: Ruling,
    /// Its record, if its journal has arrived.
    pub record: Option<&'a RunRecord>,
    /// Start of that record, in seconds after the start of the fleet run.
    pub begins: f64,
}

/// One part of the measurement.
#[derive(Clone, Debug)]
pub struct FleetSheetPeriod<'a> {
    /// Its name.
    pub name: String,
    /// Host, verdict in a word, and record of the part; `None` for a lost host.
    pub hosts: Vec<(&'a str, &'static str, Option<&'a RunRecord>)>,
}

/// The page of a fleet run: self-contained HTML.
pub fn fleet_html(sheet: &FleetSheet<'_>) -> String {
    html::page(&document(sheet))
}

fn document(sheet: &FleetSheet<'_>) -> Document {
    let mut sections = vec![findings(sheet), hosts(sheet), databases(sheet)];
    sections.extend(periods(sheet));
    sections.push(times(sheet));
    sections.extend(shared(sheet));
    let mut texts = Vec::new();
    for run in sheet.hosts.iter().filter_map(|host| host.record) {
        texts.extend(names(&run.start));
    }
    Document { banner: banner(sheet), sections, names: texts }
}

fn banner(sheet: &FleetSheet<'_>) -> Banner {
    let records = sheet.hosts.iter().filter_map(|host| host.record);
    let iops: f64 = records.map(RunRecord::achieved_transactional_iops).sum();
    let mut records = sheet.hosts.iter().filter_map(|host| host.record);
    // The plans of a design have one assumption, so that of any host is that of all.
    let assumed = records.find_map(|of| plan::deployment::assumption_in(&of.start.description));
    let found = sheet.findings.iter().filter(|(outcome, _)| *outcome != Ruling::Pass);
    let meaning = assumed.map(|assumption| format!("{assumption}.")).into_iter();
    Banner {
        subject: format!("{}: {}", sheet.name, format::plural(sheet.hosts.len() as u64, "host")),
        started: format::timestamp(sheet.started_ns),
        verdict: sheet.headline.clone(),
        tone: tone(sheet.outcome),
        number: format!("{iops:.0}"),
        number_unit: "IOPS of all hosts".into(),
        number_metric: "achieved-transactional-iops",
        meaning: meaning.chain(found.map(|(_, text)| text.clone())).collect(),
        figures: Vec::new(),
    }
}

fn section(id: &'static str, title: &'static str, block: Block) -> Section {
    Section { id, title, blocks: vec![block] }
}

fn outcome(ruling: Ruling) -> Cell {
    Cell::plain(ruling.name()).toned(tone(ruling))
}

fn row(cells: Vec<Cell>) -> TableRow {
    TableRow { cells, sum: false }
}

fn findings(sheet: &FleetSheet<'_>) -> Section {
    let rows = sheet.findings.iter();
    let rows = rows.map(|(of, text)| row(vec![outcome(*of), Cell::plain(text.as_str())]));
    let table = Table {
        caption: "What the rules found, worst first",
        columns: ["Outcome", "Finding"].map(Column::text).to_vec(),
        rows: rows.collect(),
    };
    section("fleet-findings", "Findings", Block::Table(table))
}

/// Columns of rates and latencies, as [`load`] fills them.
fn load_columns() -> [Column; 4] {
    [
        Column::metric("IOPS", "achieved-transactional-iops"),
        Column::numbers("Reads, mean ms"),
        Column::numbers("Reads, p99 ms"),
        Column::numbers("Log writes, mean ms"),
    ]
}

fn load(record: Option<&RunRecord>) -> Vec<Cell> {
    let Some(record) = record else { return vec![Cell::none(); 4] };
    let sum = record.sum_of(Phase::Measure);
    let [reads, log_writes] = [Series::DatabaseRead, Series::LogWrite].map(|series| {
        sum.series.get(&series).map(|of| &of.latency).filter(|latency| !latency.is_empty())
    });
    vec![
        Cell::plain(format!("{:.0}", sum.transactional_iops())),
        latency_cell(reads.map(record::Histogram::mean_ns)),
        latency_cell(reads.map(|of| of.quantile(0.99) as f64)),
        latency_cell(log_writes.map(record::Histogram::mean_ns)),
    ]
}

fn latency_cell(nanoseconds: Option<f64>) -> Cell {
    Cell::or_none(nanoseconds.map(|of| format!("{:.2}", of / 1e6)))
}

const fn severity(of: Ruling) -> u8 {
    match of {
        Ruling::Fail => 0,
        Ruling::CannotJudge => 1,
        Ruling::Warn => 2,
        Ruling::Pass => 3,
    }
}

/// The hosts, worst first; ties are broken by the slowest reads.
fn hosts(sheet: &FleetSheet<'_>) -> Section {
    let mut hosts: Vec<&FleetSheetHost<'_>> = sheet.hosts.iter().collect();
    hosts.sort_by_key(|host| {
        (severity(host.outcome), std::cmp::Reverse(host.record.map_or(0, read_p99)))
    });
    let rows = hosts.into_iter().map(|host| {
        row([vec![Cell::plain(host.name), outcome(host.outcome)], load(host.record)].concat())
    });
    let columns = [["Host", "Verdict"].map(Column::text).to_vec(), load_columns().to_vec()];
    let table = Table {
        caption: "Every host while all were measured, worst first",
        columns: columns.concat(),
        rows: rows.collect(),
    };
    section("fleet-hosts", "Hosts", Block::Table(table))
}

fn read_p99(record: &RunRecord) -> u64 {
    let sum = record.sum_of(Phase::Measure);
    sum.series.get(&Series::DatabaseRead).map_or(0, |total| total.latency.quantile(0.99))
}

/// Maximum number of databases shown; the report of a host has all of its databases.
const MOST_DATABASES: usize = 40;

/// The databases with the slowest reads of all hosts.
fn databases(sheet: &FleetSheet<'_>) -> Section {
    let mut all = Vec::new();
    for host in &sheet.hosts {
        for facts in host.record.iter().flat_map(|record| &record.start.databases) {
            let totals = host.record.and_then(|of| of.totals_of(Phase::Measure, facts.index));
            let Some(totals) = totals else { continue };
            let reads = totals.series.get(&Series::DatabaseRead);
            let p99 = reads.map_or(0, |of| of.latency.quantile(0.99));
            all.push((p99, totals.transactional_iops(), host.name, facts.file.as_str()));
        }
    }
    all.sort_by_key(|(p99, ..)| std::cmp::Reverse(*p99));
    let rows = all.iter().take(MOST_DATABASES).map(|(p99, iops, host, file)| {
        let numbers = [format!("{:.2}", *p99 as f64 / 1e6), format!("{iops:.0}")];
        let text = [*host, *file].map(Cell::plain);
        row([text.to_vec(), numbers.map(Cell::plain).to_vec()].concat())
    });
    let text = ["Host", "Database"].map(Column::text).to_vec();
    let numbers = ["Reads, p99 ms", "IOPS"].map(Column::numbers).to_vec();
    let table = Table {
        caption: "The databases with the slowest reads",
        columns: [text, numbers].concat(),
        rows: rows.collect(),
    };
    section("fleet-databases", "Databases", Block::Table(table))
}

/// The load of every host before, during and after each event.
fn periods(sheet: &FleetSheet<'_>) -> Option<Section> {
    let mut rows: Vec<TableRow> = Vec::new();
    for period in &sheet.periods {
        for (host, word, part) in &period.hosts {
            let text = [period.name.as_str(), *host, *word].map(Cell::plain).to_vec();
            rows.push(row([text, load(*part)].concat()));
        }
    }
    let text = ["Part", "Host", "Verdict"].map(Column::text).to_vec();
    let table = Table {
        caption: "Before, during and after each event; what lies between is not judged",
        columns: [text, load_columns().to_vec()].concat(),
        rows,
    };
    (!table.rows.is_empty()).then(|| section("fleet-events", "Events", Block::Table(table)))
}

fn times(sheet: &FleetSheet<'_>) -> Section {
    let lines = sheet.marks.iter().map(|(at, text)| (format!("{at:.1} s"), text.clone())).collect();
    let blocks = vec![Block::Pictures(vec![heat::picture(sheet)]), Block::Log(lines)];
    Section { id: "fleet-times", title: "Hosts over time", blocks }
}

fn shared(sheet: &FleetSheet<'_>) -> Option<Section> {
    let notes: Vec<Block> = sheet.shared.iter().cloned().map(Block::Note).collect();
    let section = Section { id: "fleet-shared", title: "Storage of several hosts", blocks: notes };
    (!section.blocks.is_empty()).then_some(section)
}
