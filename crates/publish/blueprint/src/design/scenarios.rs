//! Many designs in one table, best first: feasible ones before others, then by fewer disks, servers
//! and gigabytes of memory.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use plan::deployment::{Disk, Prices, Replacement};
use plan::{Deployment, PlanError};
use provision::{size_unadvised, survived_failures};
use report::document::{Block, Cell, Column, Section, Table, TableRow};
use report::format::number;
use serde_json::{Value as Json, json};
use sizing::{Key, ServerKind, Severity, ShownQuantity, Sizing};

use super::{UNJUDGED_PROCESSORS, caveats, prices};
use crate::pareto::{self, ParetoHeadings, ParetoPoint, pareto_front};

/// One design of a sweep.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Values of the document that it replaces.
    pub replacements: Vec<Replacement>,
    /// Sizing of the design, or the contradiction in it.
    pub outcome: Result<Sizing, String>,
    /// Kinds of failure that it survives, if it has copies.
    pub survived: Option<usize>,
    /// The note on figures that were taken from another product; `None` if there are none.
    assumption: Option<String>,
    /// The prices of its costs, if it gives any.
    prices: Option<Prices>,
    /// Its database disk, as sold; `None` if the document is contradictory.
    disk: Option<Disk>,
}

/// Numeric columns of the table: heading and key.
const COLUMNS: [(&str, Key); 6] = [
    ("servers", Key::ServerAll),
    ("databases", Key::DatabaseAll),
    ("disks", Key::DiskAll),
    ("memory", Key::MemoryAllGb),
    ("active at worst", Key::ServerWorstActiveDbs(ServerKind::First)),
    ("processors", Key::ProcessorUtilWorst),
];

/// Further columns if the deployment gives prices: heading and key.
const PRICED: [(&str, Key); 3] =
    [("cost", Key::CostAll), ("rack units", Key::RackUnitsAll), ("power", Key::PowerAllWatts)];

/// Ranking criteria of designs, most important first; costs count only if there are prices.
const RANKED_BY: [Key; 4] = [Key::CostAll, Key::DiskAll, Key::ServerAll, Key::MemoryAllGb];

impl Candidate {
    /// The design of a deployment with these replacements, or its error.
    pub fn of(replacements: Vec<Replacement>, parsed: Result<Deployment, PlanError>) -> Self {
        let prices = parsed.as_ref().ok().and_then(|of| of.prices.clone());
        let assumption = parsed.as_ref().ok().and_then(|of| of.product.assumption());
        Self {
            assumption,
            prices,
            disk: parsed.as_ref().ok().map(|of| of.storage.first.database.clone()),
            survived: parsed.as_ref().ok().and_then(survived_failures),
            outcome: parsed.map(|of| size_unadvised(&of)).map_err(|error| error.to_string()),
            replacements,
        }
    }

    fn is_workable(&self) -> bool {
        self.outcome.as_ref().is_ok_and(Sizing::is_workable)
    }

    /// Rank class: feasible designs first, contradictory ones last.
    fn class(&self) -> u8 {
        match &self.outcome {
            _ if self.is_workable() => 0,
            Ok(_) => 1,
            Err(_) => 2,
        }
    }

    fn number(&self, key: Key) -> Option<f64> {
        self.outcome.as_ref().ok()?.number(key)
    }

    /// A disk whose type was replaced without its size, and the size that was taken.
    fn kept_size(&self) -> Option<String> {
        let is_replaced = |key| self.replacements.iter().any(|of| of.key == key);
        let disk = self.disk.as_ref().filter(|_| is_replaced("disks.database.type"))?;
        let largest = provision::largest_on_sale(&disk.kind)?;
        if is_replaced("disks.database.size") || disk.capacity <= largest {
            return None;
        }
        let [kept, largest] = [disk.capacity, largest].map(sizing::as_sold);
        Some(format!(
            "{} disks are counted with {kept} each, the size of the document, and the largest that \
             `--predict` proposes has {largest}: give their size, too (disks.database.size).",
            disk.kind
        ))
    }

    fn survived_cell(&self) -> String {
        self.survived.map_or_else(|| "-".to_owned(), |count| count.to_string())
    }

    /// The replaced values, such as `availability.copies=3`.
    fn name(&self) -> String {
        self.replacements
            .iter()
            .map(|of| format!("{}={}", of.key, of.value))
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn cell(&self, key: Key) -> String {
        let value = self.number(key);
        value.map_or_else(
            || "-".to_owned(),
            |value| match key {
                Key::CostAll => number(value, 0),
                _ => ShownQuantity::of_number(key, value).written(),
            },
        )
    }

    /// Why it is not feasible; empty if it is.
    fn reason(&self) -> String {
        match &self.outcome {
            Err(complaint) => complaint.lines().next().unwrap_or_default().to_owned(),
            Ok(sizing) => {
                let findings = sizing.findings.iter();
                let worst = findings.filter(|finding| finding.severity == Severity::Violation);
                worst.map(|finding| finding.text.as_str()).next().unwrap_or_default().to_owned()
            }
        }
    }
}

/// The columns for these designs, including costs if any design has them.
fn columns(candidates: &[Candidate]) -> Vec<(Cow<'static, str>, Key)> {
    let priced = PRICED
        .into_iter()
        .filter(|(_, key)| candidates.iter().any(|candidate| candidate.number(*key).is_some()));
    COLUMNS
        .into_iter()
        .chain(priced)
        .map(|(label, key)| match key {
            Key::CostAll => (of_currency(label, candidates), key),
            _ => (label.into(), key),
        })
        .collect()
}

/// A heading with the currency of the costs; designs of one document have the same.
fn of_currency(label: &'static str, candidates: &[Candidate]) -> Cow<'static, str> {
    let mut prices = candidates.iter().filter_map(|of| of.prices.as_ref());
    let currency = prices.next().map(|prices| prices.currency.as_str());
    currency.map_or(label.into(), |currency| format!("{label}, {currency}").into())
}

/// The notes on figures of other products, each once: designs of a sweep may differ in them.
fn assumptions(candidates: &[Candidate]) -> Vec<String> {
    candidates
        .iter()
        .filter_map(|of| of.assumption.as_deref())
        .collect::<BTreeSet<&str>>()
        .into_iter()
        .map(|of| format!("{of}."))
        .collect()
}

/// The figures of other products, the prices by which the designs are ranked, and what the table
/// leaves open.
fn notes(candidates: &[Candidate]) -> Vec<String> {
    let is_disk_priced = candidates.iter().any(|of| of.number(Key::CostDisks).is_some());
    let changed = candidates.iter().flat_map(|of| &of.replacements).map(|of| of.key.as_str());
    let caveats = caveats::caveats(is_disk_priced, changed).map(str::to_owned);
    let survived = survival_column(candidates).map(|_| SURVIVED.to_owned());
    assumptions(candidates)
        .into_iter()
        .chain(priced(candidates))
        .chain(kept_sizes(candidates))
        .chain(survived)
        .chain(unsized_processors(candidates))
        .chain(caveats)
        .collect()
}

/// The prices, if any; of a sweep over prices each row has its own.
fn priced(candidates: &[Candidate]) -> Option<String> {
    candidates.iter().find(|of| of.number(Key::CostAll).is_some())?;
    let mut all = candidates.iter().filter_map(|of| of.prices.as_ref());
    let first = all.next()?;
    if all.all(|of| of == first) {
        return Some(format!("Ranked by cost. {}", prices::sentence(first)));
    }
    Some("Ranked by cost, each at its own prices, which the first columns show.".to_owned())
}

/// The disks whose type was replaced and whose size was not, each once: a smaller size may be the
/// largest that is sold of that type.
fn kept_sizes(candidates: &[Candidate]) -> BTreeSet<String> {
    candidates.iter().filter_map(Candidate::kept_size).collect()
}

/// What workable designs lack if the speed of their servers is unknown.
fn unsized_processors(candidates: &[Candidate]) -> Option<String> {
    let mut sizings = candidates.iter().filter_map(|of| of.outcome.as_ref().ok());
    sizings.any(Sizing::has_unsized_processors).then(|| UNJUDGED_PROCESSORS.to_owned())
}

/// What the number of survived failures counts.
const SURVIVED: &str = "Kinds of failure survived: how many rows of the failures in a design's own \
                        sizing (one server, two servers, a site ...) leave every database active, \
                        whichever servers fail.";

/// Heading of the number of survived failures; `None` if no design has copies.
fn survival_column(candidates: &[Candidate]) -> Option<&'static str> {
    candidates.iter().any(|of| of.survived.is_some()).then_some("kinds of failure survived")
}

/// The designs, best first; ties keep their order.
pub fn ranked(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.sort_by(order);
    candidates
}

/// The rank of each of these designs, which are ordered: those with equal figures share one.
fn ranks(candidates: &[Candidate]) -> Vec<usize> {
    let mut ranks: Vec<usize> = Vec::new();
    for (candidate, place) in candidates.iter().zip(1..) {
        let before = ranks.len().checked_sub(1).map(|at| (&candidates[at], ranks[at]));
        let tied = before.filter(|(other, _)| order(other, candidate) == Ordering::Equal);
        ranks.push(tied.map_or(place, |(_, rank)| rank));
    }
    ranks
}

/// Order by which designs are ranked, the best first.
fn order(left: &Candidate, right: &Candidate) -> Ordering {
    let by_number = RANKED_BY.iter().map(|key| {
        let numbers = [left, right].map(|one| one.number(*key).unwrap_or(f64::MAX));
        numbers[0].total_cmp(&numbers[1])
    });
    by_number.fold(left.class().cmp(&right.class()), Ordering::then)
}

/// The figures by which designs are compared: cost if there are prices, otherwise disks.
fn points(candidates: &[Candidate]) -> Vec<ParetoPoint> {
    candidates
        .iter()
        .zip(ranks(candidates))
        .map(|(candidate, rank)| ParetoPoint {
            name: candidate.name(),
            rank,
            holds: candidate.is_workable(),
            cost: candidate.number(cost_key(candidates)),
            load: candidate.number(Key::MailboxesTotal),
            margin_percent: None,
            survived: candidate.survived.map(|count| count as f64),
            latencies: Vec::new(),
        })
        .collect()
}

fn cost_key(candidates: &[Candidate]) -> Key {
    let is_priced = candidates.iter().any(|of| of.number(Key::CostAll).is_some());
    if is_priced { Key::CostAll } else { Key::DiskAll }
}

/// The designs that no other one beats, for the page.
pub(super) fn trade_offs(candidates: &[Candidate]) -> Option<Section> {
    let cost = match cost_key(candidates) {
        Key::CostAll => of_currency("Cost", candidates),
        _ => "Disks In All".into(),
    };
    let headings = ParetoHeadings { cost, load: "Mailboxes", is_simulated: false };
    pareto::section(&points(candidates), &headings)
}

/// The table for the page; `None` if there was no sweep.
pub(super) fn section(candidates: &[Candidate]) -> Option<Section> {
    let first = candidates.first()?;
    let numbers = self::columns(candidates);
    let survival = survival_column(candidates);
    let mut columns = vec![Column::text("rank")];
    columns.extend(first.replacements.iter().map(|of| Column::text(of.key.clone())));
    columns.extend(numbers.iter().map(|(label, _)| Column::numbers(label.clone())));
    columns.extend(survival.map(Column::numbers));
    // An empty column would only take the width of the others.
    let is_any_forbidden = candidates.iter().any(|of| !of.is_workable());
    columns.extend(is_any_forbidden.then(|| Column::text("forbidden by")));
    let mut rows = Vec::new();
    for (candidate, rank) in candidates.iter().zip(ranks(candidates)) {
        let rank = if candidate.is_workable() { format!("{rank}") } else { "-".to_owned() };
        let mut cells = vec![Cell::plain(rank)];
        cells.extend(candidate.replacements.iter().map(|of| Cell::plain(of.value.clone())));
        cells.extend(numbers.iter().map(|(_, key)| Cell::plain(candidate.cell(*key))));
        cells.extend(survival.map(|_| Cell::plain(candidate.survived_cell())));
        cells.extend(is_any_forbidden.then(|| Cell::plain(candidate.reason())));
        rows.push(TableRow::body(cells));
    }
    let caption = "Every combination, the best first: workable, then the least cost where prices \
                   are given, then the fewest disks, servers and memory. Equal ones share a rank.";
    let mut blocks = vec![Block::Table(Table { caption, columns, rows })];
    blocks.extend(notes(candidates).into_iter().map(Block::Note));
    Some(Section { id: "scenarios", title: "Scenarios, sized and not simulated", blocks })
}

/// Heading of the ranks, which are no proof.
const RANK: &str = "rank (sized, not simulated)";

/// The table as text.
pub fn scenarios(candidates: &[Candidate]) -> String {
    let mut head: Vec<String> = vec![RANK.to_owned()];
    let keys = candidates.first().map(|first| first.replacements.iter());
    head.extend(keys.into_iter().flatten().map(|replacement| replacement.key.clone()));
    let numbers = columns(candidates);
    head.extend(numbers.iter().map(|(label, _)| label.clone().into_owned()));
    let survival = survival_column(candidates);
    head.extend(survival.map(str::to_owned));
    head.push("forbidden by".to_owned());
    let mut rows = vec![head];
    for (candidate, rank) in candidates.iter().zip(ranks(candidates)) {
        let rank = if candidate.is_workable() { format!("{rank}") } else { "-".to_owned() };
        let mut row = vec![rank];
        row.extend(candidate.replacements.iter().map(|replacement| replacement.value.clone()));
        row.extend(numbers.iter().map(|(_, key)| candidate.cell(*key)));
        row.extend(survival.map(|_| candidate.survived_cell()));
        row.push(candidate.reason());
        rows.push(row);
    }
    let mut text = aligned(&rows);
    for note in notes(candidates) {
        let _ = writeln!(text, "\n{note}");
    }
    text
}

/// Pads columns to their widest cell, except the last.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths).take(columns - 1) {
            let _ = write!(line, "{cell:>width$}  ");
        }
        line.push_str(row.last().map_or("", String::as_str));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// The table for programs.
pub fn scenarios_json(candidates: &[Candidate]) -> Json {
    let fronts = pareto_front(&points(candidates));
    let ranked = candidates.iter().zip(fronts).map(candidate_json);
    json!({
        "ranked": ranked.collect::<Vec<_>>(),
        "assumptions": assumptions(candidates),
        "prices": priced(candidates),
    })
}

fn candidate_json((candidate, is_best): (&Candidate, bool)) -> Json {
    let inputs = candidate.replacements.iter();
    let inputs: serde_json::Map<String, Json> =
        inputs.map(|replacement| (replacement.key.clone(), json!(replacement.value))).collect();
    let numbers = COLUMNS.iter().chain(&PRICED);
    let numbers = numbers.map(|(_, key)| (key.name().into_owned(), json!(candidate.number(*key))));
    json!({
        "inputs": inputs,
        "workable": candidate.is_workable(),
        "forbidden_by": candidate.reason(),
        "best_trade_off": is_best,
        "failures_survived": candidate.survived,
        "values": numbers.collect::<serde_json::Map<String, Json>>(),
    })
}
