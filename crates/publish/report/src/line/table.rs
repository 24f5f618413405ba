//! The loads that were tried, a row each.

use verdict::{Estimate, LoadStep, Trend};

use super::LineReport;
use crate::document::{Block, Cell, Column, Table, TableRow, Tone};
use crate::format::number;

pub(super) fn loads(line: &LineReport<'_>) -> Block {
    let mut steps: Vec<&LoadStep> = line.steps.iter().collect();
    steps.sort_by(|one, two| one.iops.mean.total_cmp(&two.iops.mean));
    Block::Table(Table {
        caption: "Loads by rising rate; +- is half of the 95 % confidence interval",
        columns: vec![
            Column::metric("Asked", "asked-load"),
            Column::metric("IOPS", "achieved-transactional-iops"),
            Column::metric("Read ms", "database-reads-latency"),
            Column::metric("Log write ms", "log-writes-latency"),
            Column { metric: Some("steady-load"), ..Column::text("Steady") },
            Column { metric: Some("held-load"), ..Column::text("Holds") },
        ],
        rows: steps.into_iter().map(row).collect(),
    })
}

fn row(step: &LoadStep) -> TableRow {
    let asked = step.asked_iops.map_or_else(|| "free".to_owned(), |iops| number(iops, 0));
    let steady = match step.trend {
        None => "too short".to_owned(),
        Some(Trend::Drifting(share)) => format!("{} %", number(share * 100.0, 1)),
        Some(Trend::Steady) => "yes".to_owned(),
    };
    let objections = step.objections.join(", ");
    let holds = match step.holds {
        Some(true) => Cell::plain("yes").toned(Tone::Pass),
        Some(false) => Cell::plain(format!("no: {objections}")).toned(Tone::Fail),
        None => Cell::plain(format!("not judged: {objections}")).toned(Tone::Warn),
    };
    TableRow::body(vec![
        Cell::plain(asked),
        estimate(step.iops, 0),
        estimate(step.read_ms, 2),
        estimate(step.log_write_ms, 2),
        Cell::plain(steady),
        holds,
    ])
}

fn estimate(of: Estimate, decimals: usize) -> Cell {
    let half = of.half_width.map(|half| format!(" +- {}", number(half, decimals)));
    Cell::plain(number(of.mean, decimals) + &half.unwrap_or_default())
}
