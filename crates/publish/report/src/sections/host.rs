//! "Host System Performance": shows whether the numbers were limited by the machine rather than by
//! the storage.

use record::{HostSample, IntervalRow, Phase, ProcessorShares, RunRecord};

use crate::document::{Block, Cell, Column, Section, Table, TableRow};
use crate::format;

/// A counter of the machine: its name, its glossary entry, its value in a sample, and its number of
/// decimals.
struct Counter {
    label: &'static str,
    metric: &'static str,
    value: fn(&HostSample) -> Option<f64>,
    decimals: usize,
}

const MEBIBYTE: f64 = 1_048_576.0;

/// The counters of Jetstress in its order, then additional ones.
const COUNTERS: [Counter; 10] = [
    Counter {
        label: "% Processor Time",
        metric: "processor-time",
        value: |of| of.processor_percent,
        decimals: 3,
    },
    Counter {
        label: "Available MBytes",
        metric: "available-memory",
        value: |of| of.available_memory_bytes.map(|bytes| bytes as f64 / MEBIBYTE),
        decimals: 3,
    },
    Counter {
        label: "Free System Page Table Entries",
        metric: "free-system-page-table-entries",
        value: |of| of.free_system_page_table_entries.map(|entries| entries as f64),
        decimals: 0,
    },
    Counter {
        label: "Transition Pages RePurposed/sec",
        metric: "transition-pages-repurposed",
        value: |of| of.transition_pages_repurposed_per_second,
        decimals: 3,
    },
    Counter {
        label: "Pool Nonpaged Bytes",
        metric: "pool-nonpaged",
        value: |of| of.pool_nonpaged_bytes.map(|bytes| bytes as f64),
        decimals: 0,
    },
    Counter {
        label: "Pool Paged Bytes",
        metric: "pool-paged",
        value: |of| of.pool_paged_bytes.map(|bytes| bytes as f64),
        decimals: 0,
    },
    Counter {
        label: "% Time Taken by a Hypervisor",
        metric: "steal-time",
        value: |of| of.steal_percent,
        decimals: 3,
    },
    Counter {
        label: "% Processor Time of Plimsoll (of one)",
        metric: "process-time",
        value: |of| of.process_percent,
        decimals: 3,
    },
    Counter {
        label: "Resident MBytes of Plimsoll",
        metric: "process-memory",
        value: |of| of.process_resident_bytes.map(|bytes| bytes as f64 / MEBIBYTE),
        decimals: 3,
    },
    Counter {
        label: "Reactor Lag, Longest (msec)",
        metric: "reactor-lag",
        value: |of| Some(of.reactor_lag_maximum_ns as f64 / 1e6),
        decimals: 3,
    },
];

/// A share of the processors: its name, its glossary entry, its value.
struct Share {
    label: &'static str,
    metric: &'static str,
    value: fn(&ProcessorShares) -> f64,
}

/// Other users of the processors.
const SHARES: [Share; 2] = [
    Share {
        label: "% Processor Time of Other Programs",
        metric: "other-programs-time",
        value: |of| of.others_percent,
    },
    Share {
        label: "% Processor Time of the Kernel Itself",
        metric: "kernel-time",
        value: |of| of.kernel_percent,
    },
];

/// The machine during the measurement.
pub(crate) fn section(run: &RunRecord) -> Section {
    let mut rows = counter_rows(run, Phase::Measure);
    let blocks = if rows.is_empty() {
        vec![Block::Note("This run had no machine: it was simulated.".to_owned())]
    } else {
        let stalls: Vec<f64> = run.intervals_of(Phase::Measure).map(stalls_per_second).collect();
        let row = statistics_row("Database Page Fault Stalls/sec", "page-fault-stalls", &stalls, 3);
        rows.insert(rows.len().min(2), row);
        vec![Block::Table(table("Counters of the machine during the measurement", rows))]
    };
    Section { id: "host", title: "Host System Performance", blocks }
}

/// The machine during the checksum pass, if there was one.
pub(super) fn during_checksum(run: &RunRecord) -> Option<Section> {
    let rows = counter_rows(run, Phase::Check);
    (!rows.is_empty()).then(|| Section {
        id: "host-of-checksum",
        title: "Memory System Performance (of checksum)",
        blocks: vec![Block::Table(table("Counters of the machine during the checksum pass", rows))],
    })
}

fn table(caption: &'static str, rows: Vec<TableRow>) -> Table {
    Table {
        caption,
        columns: vec![
            Column::text("Counter"),
            Column::numbers("Average"),
            Column::numbers("Minimum"),
            Column::numbers("Maximum"),
        ],
        rows,
    }
}

fn counter_rows(run: &RunRecord, phase: Phase) -> Vec<TableRow> {
    let samples: Vec<HostSample> = run.intervals_of(phase).filter_map(|row| row.host).collect();
    if samples.is_empty() {
        return Vec::new();
    }
    let mut rows: Vec<TableRow> = Vec::new();
    for counter in &COUNTERS {
        let values: Vec<f64> = samples.iter().filter_map(counter.value).collect();
        // A value that this system does not report would be a row of dashes.
        if !values.is_empty() {
            rows.push(statistics_row(counter.label, counter.metric, &values, counter.decimals));
        }
    }
    rows.extend(share_rows(run, phase));
    rows
}

/// Rows of the shares; empty if the system does not report them.
fn share_rows(run: &RunRecord, phase: Phase) -> impl Iterator<Item = TableRow> {
    let is_told = run.intervals_of(phase).any(|row| row.processors.is_some());
    SHARES.iter().filter(move |_| is_told).map(move |share| {
        let values: Vec<f64> = run
            .intervals_of(phase)
            .filter_map(|row| row.processors.as_ref())
            .map(share.value)
            .collect();
        statistics_row(share.label, share.metric, &values, 3)
    })
}

fn statistics_row(
    label: &'static str,
    metric: &'static str,
    values: &[f64],
    decimals: usize,
) -> TableRow {
    let name = Cell::plain(label).of_metric(metric);
    TableRow::body([vec![name], statistics(values, decimals)].concat())
}

/// Average, minimum and maximum.
fn statistics(values: &[f64], decimals: usize) -> Vec<Cell> {
    if values.is_empty() {
        return vec![Cell::none(); 3];
    }
    let average = values.iter().sum::<f64>() / values.len() as f64;
    let minimum = values.iter().copied().fold(f64::INFINITY, f64::min);
    let maximum = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    [average, minimum, maximum].map(|value| Cell::plain(format::number(value, decimals))).to_vec()
}

fn stalls_per_second(row: &IntervalRow) -> f64 {
    let stalls: u64 = row.databases.iter().map(|of| of.counters.page_fault_stalls).sum();
    match row.span_ns() {
        0 => 0.0,
        span_ns => stalls as f64 * 1e9 / span_ns as f64,
    }
}
