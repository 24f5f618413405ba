//! The part of a comparison that a buyer reads first: each run's verdict and its numbers.

use record::Phase;
use verdict::{ComparedMetric, Finding, NamedRun, Ruling, RunComparison, Unit};

use super::LETTERS;
use crate::document::{Block, Cell, Column, Section, Table, TableRow, Tone};
use crate::mailboxes::Carried;
use crate::{format, listed, passes, sections};

/// Name of the section for links, and for the page, which shows it above the contents.
pub(crate) const ID: &str = "at-a-glance";

/// A metric that decides a purchase.
struct Shown {
    metric: &'static str,
    label: &'static str,
    /// The rule that judges it.
    rule: &'static str,
}

const SHOWN: [Shown; 4] = [
    Shown { metric: "achieved_transactional_iops", label: "Achieved IOPS", rule: "target-iops" },
    Shown { metric: "read_latency_mean", label: "Database reads", rule: "read-latency-average" },
    Shown {
        metric: "log_write_latency_mean",
        label: "Log writes",
        rule: "log-write-latency-average",
    },
    // For backups and checksum passes.
    Shown { metric: "throughput", label: "Read from all databases", rule: "read-rate" },
];

/// The table, followed by `rest`, the sentences that the top of the page has no room for.
pub(super) fn section(runs: &[NamedRun], comparison: &RunComparison, rest: Vec<String>) -> Section {
    let is_load = comparison.phase == Phase::Measure;
    let shown: Vec<(&Shown, &ComparedMetric)> = comparison
        .rows
        .iter()
        .filter_map(|row| Some((SHOWN.iter().find(|of| of.metric == row.metric.id)?, row)))
        .collect();
    let mut columns = vec![Column::text("Run"), Column::text("Verdict")];
    columns.extend(is_load.then(|| Column::metric("Target IOPS", "target-iops")));
    columns.extend(shown.iter().map(|(of, row)| Column::metric(of.label, row.metric.glossary)));
    columns.extend(is_load.then(|| Column::metric("Mailboxes", "mailboxes-carried")));
    let rows = runs.iter().enumerate().map(|(index, run)| {
        let mut cells = vec![named(run, LETTERS[index]), verdict_of(run)];
        cells.extend(is_load.then(|| target(run)));
        cells.extend(shown.iter().map(|(of, row)| measured(run, of, row, index)));
        cells.extend(is_load.then(|| mailboxes(run)));
        TableRow::body(cells)
    });
    let table = Table {
        caption: "Target and result of each run; latencies are means of all requests, and limits \
                  hold for the mean of each database",
        rows: rows.collect(),
        columns,
    };
    let blocks = std::iter::once(Block::Table(table)).chain(rest.into_iter().map(Block::Note));
    Section { id: ID, title: "At a Glance", blocks: blocks.collect() }
}

fn named(run: &NamedRun, letter: &str) -> Cell {
    Cell::plain(format!("{letter}: {}", run.name))
}

fn verdict_of(run: &NamedRun) -> Cell {
    let name = listed::verdict_name(&run.record, &run.verdict);
    Cell::plain(name).toned(listed::tone_of(&run.record, &run.verdict))
}

/// The target of the load, which for mailboxes includes the plan's reserve.
fn target(run: &NamedRun) -> Cell {
    let target = run.record.target_iops();
    let target = target.or_else(|| Carried::of(&run.record).required_iops());
    Cell::plain(target.map_or_else(|| "none set".to_owned(), format::three_digits))
}

/// The value of the run at `index`; a latency is followed by its limit.
fn measured(run: &NamedRun, shown: &Shown, row: &ComparedMetric, index: usize) -> Cell {
    let Some(mean) = row.values[index].value else {
        return Cell::none();
    };
    let value = format::three_digits(mean);
    let finding = finding_of(run, shown.rule);
    let of_latency = finding.filter(|finding| finding.unit == Unit::Milliseconds);
    let judged = of_latency.and_then(|finding| Some((finding.measured?, finding.limit?.value())));
    let text = match (row.metric.unit, judged) {
        ("1/s", _) => value,
        ("ms", Some((slowest, limit))) => beside(mean, slowest, limit),
        (unit, _) => format!("{value} {unit}"),
    };
    let tone = match finding.map(|finding| finding.outcome) {
        None | Some(Ruling::Pass) => Tone::Plain,
        Some(outcome) => sections::tone(outcome),
    };
    Cell::plain(text).toned(tone)
}

/// The mean of all requests and the limit, which holds for the mean of each database: that of the
/// slowest is between them if only it misses the limit.
fn beside(mean: f64, slowest: f64, limit: f64) -> String {
    let (shown, most) =
        (units::three_digits_beside(mean, limit), units::limit_beside(slowest, limit));
    if mean <= limit && slowest > limit {
        let slowest = units::three_digits_beside(slowest, limit);
        return format!("{shown} ms (slowest database {slowest}, limit {most})");
    }
    format!("{shown} ms (limit {most})")
}

/// The finding of a rule; `None` for an imported result, which no rule judges.
fn finding_of<'a>(run: &'a NamedRun, rule: &str) -> Option<&'a Finding> {
    let mut findings = run.verdict.findings.iter();
    findings.find(|finding| finding.rule == rule && run.record.imported().is_none())
}

/// Mailboxes supported, and the bound that limits them; empty if the load did not pass or the test
/// has none.
fn mailboxes(run: &NamedRun) -> Cell {
    let is_judged = passes::is_of_load(&run.record) && run.record.imported().is_none();
    if !is_judged || run.verdict.exit_code() != 0 {
        return Cell::none();
    }
    let carried = Carried::of(&run.record);
    let bound = match carried.by_space {
        None => "by I/O, space unknown",
        Some(by_space) if by_space < carried.by_io => "by space",
        Some(_) => "by I/O",
    };
    Cell::plain(format!("{} {bound}", format::number(carried.least(), 0)))
}

#[cfg(test)]
mod tests {
    use super::beside;

    /// The mean of all requests keeps the limit that the slowest database misses.
    #[test]
    fn a_mean_is_shown_with_the_one_that_was_judged() {
        assert_eq!(beside(2.45, 2.47, 10.0), "2.45 ms (limit 10)");
        assert_eq!(beside(9.8, 10.04, 10.0), "9.80 ms (slowest database 10.04, limit 10)");
        assert_eq!(beside(10.03, 10.04, 10.0), "10.03 ms (limit 10)");
    }
}
