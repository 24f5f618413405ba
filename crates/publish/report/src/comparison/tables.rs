//! The tables of a comparison: the runs, each run's changes against the first, other differences.

use verdict::{ComparedValue, Metric, NamedRun, OtherCircumstance, RunComparison, Significance};

use super::LETTERS;
use crate::document::{Block, Cell, Column, Section, Table, TableRow, Tone};
use crate::format;
use crate::imported::words;

/// The letter of each run.
pub(super) fn runs(runs: &[NamedRun]) -> Block {
    Block::Table(Table {
        caption: "Runs",
        columns: ["Run", "Name", "Started", "Description"].map(Column::text).to_vec(),
        rows: runs.iter().zip(LETTERS).map(|(run, letter)| run_row(run, letter)).collect(),
    })
}

fn run_row(run: &NamedRun, letter: &str) -> TableRow {
    TableRow::body(vec![
        Cell::plain(letter),
        Cell::plain(&run.name),
        Cell::plain(words::started(&run.record)),
        Cell::plain(&run.record.start.description),
    ])
}

/// Every metric of the run at `index` next to that of the first.
pub(super) fn changes(runs: &[NamedRun], comparison: &RunComparison, index: usize) -> Block {
    let worth = Worth {
        has_margin: !super::has_imported(runs, index),
        is_of_other_work: comparison.differences.iter().any(|of| of.is_work),
    };
    Block::Table(Table {
        caption: "Against run A",
        columns: vec![
            Column::text("Metric"),
            Column::text("Unit"),
            Column::numbers("A"),
            Column::numbers(LETTERS[index]),
            Column::numbers("Change"),
            Column::numbers("Margin"),
            Column::text("Difference"),
        ],
        rows: comparison
            .rows
            .iter()
            .map(|row| change_row(row.metric, (row.values[0].value, row.values[index]), worth))
            .collect(),
    })
}

fn change_row(
    metric: Metric,
    (first, other): (Option<f64>, ComparedValue),
    worth: Worth,
) -> TableRow {
    let margin = other.change.and_then(|change| change.margin_percent);
    TableRow::body(vec![
        Cell::plain(metric.title).of_metric(metric.glossary),
        Cell::plain(metric.unit),
        Cell::or_none(first.map(format::three_digits)),
        Cell::or_none(other.value.map(format::three_digits)),
        Cell::or_none(other.change.map(|change| percent(change.percent))),
        Cell::or_none(margin.map(|margin| format!("{margin:.1} %"))),
        worth.of(metric, other),
    ])
}

/// Inputs to the word for a change.
#[derive(Clone, Copy, Debug)]
struct Worth {
    has_margin: bool,
    is_of_other_work: bool,
}

impl Worth {
    /// Significance of the change, in a word.
    fn of(self, metric: Metric, value: ComparedValue) -> Cell {
        let Some(change) = value.change else {
            return Cell::none();
        };
        if !self.has_margin {
            return Cell::plain("imported: no margin").toned(Tone::Warn);
        }
        let more_is_better = metric.more_is_better.filter(|_| !self.is_of_other_work);
        let is_better = more_is_better.map(|more| more == (change.percent > 0.0));
        match (change.significance(), is_better) {
            (Significance::Noise, _) => Cell::plain("noise").toned(Tone::Muted),
            (Significance::Unknown, _) => Cell::plain("too short to tell").toned(Tone::Warn),
            (Significance::Real, None) => Cell::plain("real"),
            (Significance::Real, Some(true)) => Cell::plain("real: better").toned(Tone::Pass),
            (Significance::Real, Some(false)) => Cell::plain("real: worse").toned(Tone::Fail),
        }
    }
}

/// A change with its sign.
pub(super) fn percent(percent: f64) -> String {
    let decimals = usize::from(percent.abs() < 100.0);
    format!("{percent:+.decimals$} %")
}

/// Circumstances in which the runs differ, and those that they share.
pub(super) fn differences(runs: &[NamedRun], comparison: &RunComparison) -> Section {
    let mut columns = vec![Column::text("What")];
    columns.extend(LETTERS.into_iter().take(runs.len()).map(Column::text));
    let blocks = if comparison.differences.is_empty() {
        vec![Block::Note("Machine, storage and settings are the same in every run.".to_owned())]
    } else {
        let table = Table {
            caption: "Circumstances in which the runs differ",
            columns,
            rows: comparison.differences.iter().map(difference_row).collect(),
        };
        let others = (!runs.iter().any(|run| run.record.imported().is_some())).then_some(OTHERS);
        let others = others.map(|note| Block::Note(note.to_owned()));
        std::iter::once(Block::Table(table)).chain(others).collect()
    };
    Section { id: "differences", title: "What Differs", blocks }
}

/// Below the circumstances that differ; an imported result does not state all others.
const OTHERS: &str = "Everything else about machine, storage and settings is the same.";

fn difference_row(difference: &OtherCircumstance) -> TableRow {
    let tone = if difference.is_work { Tone::Warn } else { Tone::Plain };
    let mut cells = vec![Cell::plain(difference.name)];
    for value in &difference.values {
        cells.push(Cell::or_none((!value.is_empty()).then(|| value.clone())).toned(tone));
    }
    TableRow::body(cells)
}
