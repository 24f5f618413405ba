//! A played deployment as a page, as text and as JSON.

mod claim;
mod json;
mod proof;
mod proof_json;
mod seeds;
mod trust;

use std::collections::BTreeSet;

use rehearsal::{
    Breach, HostRow, Judgement, Limits, Occurrence, PlayedDeployment, RecoveryFigures, Stretch,
    longest_interruption,
};
use report::document::{
    Banner, Block, Cell, Column, Document, Fact, Figure, Section, Table, TableRow, Tone,
};
use report::format::{duration, plural};
use units::{Nanos, three_digits_beside};
use verdict::{Estimate, Ruling};

use crate::next_steps;
use crate::running::titled_html;

pub use claim::{Claim, ClaimState, Outage, OutageEnd, PaperFailure, Remedy};
pub use json::deployment_json;
pub use proof::{Proof, proof_html, proof_text};
pub use proof_json::proof_json;
pub use trust::{NearLimit, Trust};

/// A played deployment.
#[derive(Clone, Copy, Debug)]
pub struct PlayedReport<'a> {
    /// Its name.
    pub name: &'a str,
    /// Name of the array under it.
    pub array: &'a str,
    /// The note on figures that were taken from another product; `None` if there are none.
    pub assumption: Option<&'a str>,
    /// Error bound of latencies, in percent of the true ones.
    pub uncertainty_percent: f64,
    /// The deployment.
    pub deployment: &'a PlayedDeployment,
    /// Its timeline.
    pub stretches: &'a [Stretch],
    /// The simulated events.
    pub occurrences: &'a [Occurrence],
    /// Limits that users accept.
    pub limits: Limits,
    /// Pause between two reads of background maintenance; `None` without it.
    pub maintenance_pause: Option<Nanos>,
    /// One judgement per seed, at least one. Rates and mean latencies are means over all; minutes,
    /// breaches and recoveries are the worst of any.
    pub judgements: &'a [Judgement],
}

impl PlayedReport<'_> {
    /// The judgement over all seeds and hosts. It fails if databases are active nowhere; latencies
    /// and rates are judged by the range in which the true ones may be.
    pub fn ruling(&self) -> Ruling {
        if self.inactive() > 0 {
            return Ruling::Fail;
        }
        let trust = self.trust();
        let rows = self.judgements.iter().flat_map(|of| &of.rows).filter(|row| row.is_judged);
        verdict::worst(&rows.map(|row| trust.judged(&row.settled)).collect::<Vec<_>>())
    }

    const fn trust(&self) -> Trust {
        Trust { limits: self.limits, uncertainty_percent: self.uncertainty_percent }
    }

    /// The most databases that were active nowhere, with any seed.
    fn inactive(&self) -> usize {
        let recoveries = self.judgements.iter().flat_map(|of| &of.recoveries);
        recoveries.map(|of| of.inactive).max().unwrap_or(0)
    }

    fn first(&self) -> &Judgement {
        &self.judgements[0]
    }

    fn host(&self, row: &HostRow) -> &str {
        &self.deployment.hosts[row.host].name
    }

    /// Which seed it is; empty if there is one only.
    fn seed_words(&self, seed: usize) -> String {
        match self.judgements.len() {
            1 => String::new(),
            count => format!(" (seed {} of {count})", seed + 1),
        }
    }

    /// The events of a stretch, in words.
    fn stretch_words(&self, row: &HostRow) -> String {
        let stretch = &self.stretches[row.stretch];
        let begun: Vec<&str> =
            stretch.begun.iter().map(|&of| self.occurrences[of].text.as_str()).collect();
        let what = match (begun.is_empty(), row.stretch) {
            (false, _) => begun.join(", "),
            (true, 0) => "normal".to_owned(),
            (true, _) => "afterwards".to_owned(),
        };
        let what = if row.is_degraded { format!("{what}; a disk is missing") } else { what };
        // Nothing is read on a host that is down.
        let is_warming = !row.is_judged && row.settled.reads_ms.is_some();
        if is_warming { format!("{what}; caches warm up, not judged") } else { what }
    }
}

/// A row, and the position of its seed.
type SeedRow<'a> = (usize, &'a HostRow);

/// The page, with the next `steps`.
pub fn deployment_html(report: &PlayedReport<'_>, steps: &[String]) -> String {
    titled_html(&document(report, steps), report.name, report.assumption)
}

/// The same as plain text of `width` columns.
pub fn deployment_text(report: &PlayedReport<'_>, steps: &[String], width: usize) -> String {
    report::document_text(&document(report, steps), width)
}

fn document(report: &PlayedReport<'_>, steps: &[String]) -> Document {
    let mut sections: Vec<Section> = next_steps::section(steps).into_iter().collect();
    sections.extend([
        Section { id: "events", title: "Events", blocks: vec![events(report)] },
        Section { id: "limits", title: "Limits", blocks: vec![limits(report)] },
    ]);
    sections.push(Section { id: "hosts", title: "Hosts", blocks: vec![hosts(report)] });
    sections.push(Section { id: "method", title: "Method", blocks: method(report) });
    Document { banner: banner(report), sections, names: vec![subject(report)] }
}

fn banner(report: &PlayedReport<'_>) -> Banner {
    let (verdict, tone) = match report.ruling() {
        Ruling::Pass | Ruling::Warn => ("SIMULATED PASS", Tone::Pass),
        Ruling::Fail => ("SIMULATED FAIL", Tone::Fail),
        Ruling::CannotJudge => ("SIMULATED CANNOT JUDGE", Tone::Warn),
    };
    let (number, number_unit, number_metric) = judged_number(report);
    Banner {
        subject: subject(report),
        started: "in virtual time".to_owned(),
        verdict: verdict.to_owned(),
        tone,
        number,
        number_unit: number_unit.into(),
        number_metric,
        meaning: meaning(report),
        figures: figures(report),
    }
}

/// The number of the headline, its unit and its glossary entry: one that the verdict depends on,
/// so never that of the slowest minute, in which caches may be cold.
fn judged_number(report: &PlayedReport<'_>) -> (String, String, &'static str) {
    let seeds = match report.judgements.len() {
        1 => String::new(),
        seeds => format!(", worst of {seeds} seeds"),
    };
    if report.inactive() > 0 {
        let databases = if report.inactive() == 1 { "database" } else { "databases" };
        let unit = format!("{databases} without an active copy, {}{seeds}", interruption(report));
        return (report.inactive().to_string(), unit, "active-databases");
    }
    let rows = report.judgements.iter().flat_map(|of| &of.rows);
    let judged = rows.filter(|row| row.is_judged);
    let slowest = judged.filter_map(|row| row.settled.reads_ms).max_by(f64::total_cmp);
    let limit_ms = report.limits.reads_ms;
    let number = slowest.map_or_else(|| "-".to_owned(), |ms| ms_beside(ms, limit_ms));
    (number, format!("ms mean of reads on the slowest host{seeds}"), "database-reads-latency")
}

/// A latency in milliseconds with one decimal, or as many as tell it from the limit beside it.
fn ms_beside(ms: f64, limit_ms: f64) -> String {
    let shown = ms_of(ms);
    let is_limit = shown.parse::<f64>().is_ok_and(|shown| shown.total_cmp(&limit_ms).is_eq());
    if is_limit { three_digits_beside(ms, limit_ms) } else { shown }
}

/// How long the longest interruption takes, and whether the simulation sees its end.
fn interruption(report: &PlayedReport<'_>) -> String {
    let lasts = duration(longest_interruption(report.stretches).0);
    let ends = report.stretches.last().is_some_and(|last| last.inactive() == 0);
    if ends { format!("for {lasts} at most") } else { format!("for {lasts} and to the end") }
}

/// The deployment in one line.
fn subject(report: &PlayedReport<'_>) -> String {
    let hosts = plural(report.deployment.hosts.len() as u64, "host");
    let array = match report.deployment.arrays.len() {
        0 | 1 => report.array.to_owned(),
        arrays => format!("{arrays} arrays of {}", report.array),
    };
    format!("{}: {hosts} on {array}", report.name)
}

fn meaning(report: &PlayedReport<'_>) -> Vec<String> {
    let mut said: Vec<String> = report.assumption.map(|of| format!("{of}.")).into_iter().collect();
    said.push(trust(report.uncertainty_percent));
    if report.inactive() > 0 {
        let databases = plural(report.inactive() as u64, "database");
        said.push(format!(
            "Fails because {databases} had no active copy, {}. A proof (`plimsoll size --prove`) \
             accepts an interruption that ends within the `longest_outage` of the deployment.",
            interruption(report)
        ));
    }
    let breach = report.breaches().into_iter().next();
    let is_narrow = report.ruling() == Ruling::CannotJudge;
    said.extend(match breach {
        Some(((seed, _), Breach { text, limit, .. })) => {
            let narrow = if is_narrow { format!(": {NARROW}") } else { String::new() };
            let seed = report.seed_words(seed);
            Some(format!("{text}{seed}{narrow}; the {} are the limit.", limit.name()))
        }
        None if is_narrow => {
            Some(format!("Every host keeps every limit, some narrowly: {NARROW}."))
        }
        None if report.ruling() == Ruling::Pass => {
            let when = if report.occurrences.is_empty() { "throughout" } else { "in every event" };
            Some(format!("Every host keeps every limit {when}."))
        }
        None => None,
    });
    let seeds = report.judgements.len();
    if seeds > 1 {
        said.push(format!(
            "IOPS, read and log write times are means of {seeds} seeds; +- is half of the 95 % \
             confidence interval, which holds chance alone and no error of the model. Slowest \
             minutes, busy disks, broken limits and recoveries are the worst of any seed."
        ));
    }
    said
}

/// Why the worst figure is not judged.
const NARROW: &str = "too near the limit for a simulation, so that only hardware can tell";

/// How far simulated latencies can be trusted.
fn trust(percent: f64) -> String {
    format!("Simulated: expect latencies within +-{percent:.0} %.")
}

fn figures(report: &PlayedReport<'_>) -> Vec<Figure> {
    let worst = report.worst_row().and_then(|(seed, row)| Some((seed, row, row.worst?)));
    let Some((seed, row, (at, ms))) = worst else {
        return Vec::new();
    };
    let limit = format!("; limit: {}", row.usage.limit().name());
    let limit = if report.breaches().is_empty() { "" } else { &limit };
    vec![Figure {
        label: "Slowest minute",
        metric: "database-reads-latency",
        value: clock(at),
        remark: format!(
            "{} ms mean of reads, not judged; {}{}: {}{limit}",
            ms_of(ms),
            report.host(row),
            report.seed_words(seed),
            report.stretch_words(row)
        ),
        tone: Tone::Plain,
    }]
}

fn events(report: &PlayedReport<'_>) -> Block {
    if report.occurrences.is_empty() {
        return Block::Note("Nothing fails in this simulation: give --event.".to_owned());
    }
    let rows = report.recoveries().map(|of| recovery_row(report, of)).collect();
    Block::Table(Table {
        caption: "When copies and disks are whole again",
        columns: vec![
            Column::text("At"),
            Column::text("Event"),
            Column::numbers("Databases not active"),
            Column::numbers("Redundant again after"),
        ],
        rows,
    })
}

fn recovery_row(report: &PlayedReport<'_>, of: &RecoveryFigures) -> TableRow {
    let occurrence = &report.occurrences[of.occurrence];
    let tone = if of.inactive > 0 { Tone::Fail } else { Tone::Plain };
    TableRow::body(vec![
        Cell::plain(clock(occurrence.at)),
        Cell::plain(occurrence.text.clone()),
        Cell::plain(of.inactive.to_string()).toned(tone),
        of.redundant_after.map_or_else(
            || Cell::plain("not within the simulation").toned(Tone::Warn),
            |after| Cell::plain(duration(after.0)),
        ),
    ])
}

fn limits(report: &PlayedReport<'_>) -> Block {
    if report.breaches().is_empty() {
        let Limits { reads_ms, log_ms, reached } = report.limits;
        return Block::Note(format!(
            "Kept: database reads {reads_ms:.0} ms, log writes {log_ms:.0} ms, {:.0} % of the \
             demanded IOPS, less what chance can lack in the minutes played.",
            reached * 100.0
        ));
    }
    Block::Table(Table {
        caption: "The worst broken limit of each host, the worst first",
        columns: vec![
            Column::text("At"),
            Column::text("During"),
            Column::text("Broken"),
            Column::numbers("By %"),
            Column::text("Limit"),
        ],
        rows: worst_of_each(report).into_iter().map(|of| breach_row(report, of)).collect(),
    })
}

fn is_same_part(one: &HostRow, other: &HostRow) -> bool {
    (one.host, one.stretch, one.is_degraded) == (other.host, other.stretch, other.is_degraded)
}

/// The worst breach of each host: the table of hosts and the JSON have all of them.
fn worst_of_each<'a>(report: &'a PlayedReport<'_>) -> Vec<(SeedRow<'a>, &'a Breach)> {
    let mut hosts = BTreeSet::new();
    let mut breaches = report.breaches();
    breaches.retain(|((_, row), _)| hosts.insert(row.host));
    breaches
}

fn breach_row(
    report: &PlayedReport<'_>,
    ((seed, row), breach): (SeedRow<'_>, &Breach),
) -> TableRow {
    TableRow::body(vec![
        Cell::plain(clock(row.span.0)),
        Cell::plain(report.stretch_words(row)),
        Cell::plain(format!("{}{}", breach.text, report.seed_words(seed))).toned(Tone::Fail),
        Cell::plain(proof::excess_percent(breach.excess)),
        Cell::plain(breach.limit.name()),
    ])
}

fn hosts(report: &PlayedReport<'_>) -> Block {
    Block::Table(Table {
        caption: "Each host before, during and after each event",
        columns: vec![
            Column::text("From"),
            Column::text("During"),
            Column::text("Host"),
            Column::numbers("Active"),
            Column::numbers("Passive"),
            Column::numbers("IOPS"),
            Column::metric("Read ms", "database-reads-latency"),
            Column::metric("Log write ms", "log-writes-latency"),
            Column::numbers("Slowest minute ms"),
            Column::numbers("Disks busy %"),
        ],
        rows: report.first().rows.iter().map(|row| host_row(report, row)).collect(),
    })
}

fn host_row(report: &PlayedReport<'_>, row: &HostRow) -> TableRow {
    let is_up = report.stretches[row.stretch].up[row.host];
    let name = report.host(row);
    let limits = report.limits;
    let drives = report.alike(row).map(|of| of.usage.drives).fold(0.0, f64::max);
    TableRow::body(vec![
        Cell::plain(clock(row.span.0)),
        Cell::plain(report.stretch_words(row)),
        Cell::plain(if is_up { name.to_owned() } else { format!("{name} (down)") }),
        Cell::plain(row.active.to_string()),
        Cell::plain(row.passive.to_string()),
        iops_cell(report.over_seeds(row, |of| Some(of.iops))),
        estimate_cell(report.over_seeds(row, |of| of.reads_ms), limits.reads_ms),
        estimate_cell(report.over_seeds(row, |of| of.log_ms), limits.log_ms),
        Cell::or_none(report.slowest(row).map(|(_, ms)| ms_of(ms))),
        Cell::plain(format!("{:.0}", drives * 100.0)),
    ])
}

fn iops_cell(of: Option<Estimate>) -> Cell {
    Cell::or_none(of.map(|of| with_interval(of, format!("{:.0}", of.mean))))
}

/// A mean latency, with enough digits to show whether it keeps its limit.
fn estimate_cell(of: Option<Estimate>, most: f64) -> Cell {
    of.map_or_else(Cell::none, |of| {
        let tone = if of.mean > most { Tone::Fail } else { Tone::Plain };
        let mean = ms_of(of.mean);
        let is_equal = mean == ms_of(most);
        let mean = if is_equal { units::three_digits_beside(of.mean, most) } else { mean };
        Cell::plain(with_interval(of, mean)).toned(tone)
    })
}

/// A mean, already formatted as `shown`, and half of its confidence interval if there are several
/// seeds.
fn with_interval(of: Estimate, shown: String) -> String {
    match of.half_width {
        Some(half) => format!("{shown} +- {}", ms_of(half)),
        None => shown,
    }
}

fn method(report: &PlayedReport<'_>) -> Vec<Block> {
    let rows = &report.first().rows;
    let all: u64 = rows.iter().map(|of| of.span.1.since(of.span.0).0).sum();
    let played: u64 = rows.iter().map(|row| row.played.0).sum();
    vec![
        Block::Facts(vec![Fact {
            label: "Played",
            metric: None,
            value: Cell::plain(format!(
                "{:.1} % of the time of all hosts",
                played as f64 / all.max(1) as f64 * 100.0
            )),
        }]),
        Block::Note(
            "Each stretch is played until it has settled and a minute longer, or as long as a host \
             takes for 2,000 requests; that time represents the rest. Rebuilds and reseeds \
             advance at the rate that was seen. What is not modelled: docs/deployments.md."
                .to_owned(),
        ),
        Block::Note(maintenance(report.maintenance_pause)),
    ]
}

/// The pace of maintenance, by which simulations of one design can differ.
fn maintenance(pause: Option<Nanos>) -> String {
    pause.map_or_else(
        || "Background maintenance is not played: the design or the plans do without.".to_owned(),
        |pause| {
            format!(
                "Background maintenance reads every copy, 256 KiB at a time with pauses of {}. A \
                 provision has the pace of its product, a fleet plan that of its plans; plans that \
                 `plimsoll plan` writes have the pace of the product too.",
                plan::write_duration(pause)
            )
        },
    )
}

fn ms_of(ms: f64) -> String {
    format!("{ms:.1}")
}

/// A moment of the timeline as hours and minutes.
fn clock(at: Nanos) -> String {
    let minutes = at.0 / 60_000_000_000;
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod ruling_tests;
#[cfg(test)]
mod tests;
