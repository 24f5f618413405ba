//! Ranks simulated runs of one plan on different arrays: which of them support the load, and which
//! supports the most.

mod csv;
mod figures;

use std::cmp::Reverse;
use std::fmt::Write as _;

use record::RunRecord;
use report::document::{
    Banner, Block, Cell, Column, Document, Picture, Section, Table, TableRow, Tone,
};
use report::format::{number, plural};
use report::{ReportForm, tone};
use serde_json::{Value as Json, json};
use units::{Nanos, three_digits};
use verdict::{Estimate, Ruling, Verdict, estimate_of_runs};

use crate::design::PicturePart;
use crate::next_steps;
use crate::pareto::{self, ParetoHeadings, ParetoPoint, pareto_front, standings};

pub use figures::PredictionFigures;

/// Maximum length of the text next to a bar, in bytes.
const LONGEST_LABEL: usize = 22;

/// Maximum number of arrays in pages, texts and pictures; machine-readable files have all.
const MOST_LISTED: usize = 200;
const MOST_PICTURED: usize = 40;

/// A simulated run of one of the arrays, with one seed.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// Changes to the array: keys and values.
    pub changes: Vec<(String, String)>,
    /// The figures of the simulated run.
    pub figures: PredictionFigures,
    /// Name of its folder; `None` if its journal was not kept.
    pub folder: Option<String>,
    /// Disks of all arrays under the plan's folders, if known.
    pub disks: Option<u32>,
    /// Number of disks of a group that it survives losing, if known.
    pub survived: Option<u32>,
}

impl Prediction {
    /// A run and its verdict, in `folder`.
    pub fn of(
        changes: Vec<(String, String)>,
        (run, verdict): (&RunRecord, &Verdict),
        folder: String,
    ) -> Self {
        let figures = PredictionFigures::of(run, verdict);
        Self { changes, figures, folder: Some(folder), disks: None, survived: None }
    }
}

/// One of the arrays: its runs, at least one, which differ only in their seeds.
#[derive(Clone, Debug)]
pub struct PredictedArray(Vec<Prediction>);

impl PredictedArray {
    /// Exit status of the verdict on the array: that of its worst seed.
    pub fn exit_code(&self) -> u8 {
        self.worst().figures.ruling().exit_code()
    }

    /// The verdict on the array.
    pub fn ruling(&self) -> Ruling {
        self.worst().figures.ruling()
    }

    /// Time to simulate for a verdict, if there is none because it was too short.
    pub fn needed(&self) -> Option<Nanos> {
        self.worst().figures.needed_ns.map(Nanos)
    }

    /// Whether only the sessions of the plan kept the load from its target.
    pub fn lacks_sessions(&self) -> bool {
        self.worst().figures.lacks_sessions
    }

    /// Whether it could be simulated.
    fn is_possible(&self) -> bool {
        self.0.iter().all(|one| one.figures.impossibility().is_none())
    }

    /// Its changes: keys and values.
    pub fn changes(&self) -> &[(String, String)] {
        &self.0[0].changes
    }

    /// Name of the folder of the run that decides, if its journal was kept.
    pub fn folder(&self) -> Option<&str> {
        self.worst().folder.as_deref()
    }

    /// Mean reads and writes per second, and the rate at which the target counts as reached; 0 if
    /// there is none.
    pub fn rates(&self) -> (f64, f64) {
        (self.mean_iops(), self.0[0].figures.wanted_iops.unwrap_or(0.0))
    }

    /// The first of the runs with the worst verdict.
    fn worst(&self) -> &Prediction {
        let worst = self.0.iter().min_by_key(|one| Reverse(one.figures.class()));
        worst.expect("invariant: an array has a run")
    }

    /// A figure of its runs: their mean, and its uncertainty if there are several.
    fn figure(&self, of: impl Fn(&Prediction) -> Option<f64>) -> Option<Estimate> {
        let values: Vec<f64> = self.0.iter().filter_map(of).collect();
        (!values.is_empty()).then(|| estimate_of_runs(&values))
    }

    fn iops(&self) -> Option<Estimate> {
        self.figure(|one| one.figures.iops)
    }

    fn read_ms(&self) -> Option<Estimate> {
        self.figure(|one| one.figures.read_ms)
    }

    fn write_ms(&self) -> Option<Estimate> {
        self.figure(|one| one.figures.write_ms)
    }

    fn log_write_ms(&self) -> Option<Estimate> {
        self.figure(|one| one.figures.log_write_ms)
    }

    /// The smallest of a figure over all seeds.
    fn least(&self, of: impl Fn(&PredictionFigures) -> Option<f64>) -> Option<f64> {
        self.0.iter().filter_map(|one| of(&one.figures)).reduce(f64::min)
    }

    /// Mailboxes that it carries with every seed.
    fn mailboxes(&self) -> Option<f64> {
        self.least(|of| of.mailboxes)
    }

    /// The smallest distance of any latency from its limit, over all seeds.
    fn margin_percent(&self) -> Option<f64> {
        self.least(|of| of.margin_percent)
    }

    fn misses_a_limit(&self) -> bool {
        self.0.iter().any(|one| one.figures.misses_a_limit)
    }

    /// Mean rate; 0 if nothing was measured under load.
    fn mean_iops(&self) -> f64 {
        self.iops().map_or(0.0, |of| of.mean)
    }

    /// Its mean rate, capped at the rate at which the target counts as reached.
    fn wanted_iops(&self) -> f64 {
        let wanted = self.0[0].figures.wanted_iops.unwrap_or(f64::INFINITY);
        self.mean_iops().min(wanted)
    }

    /// The figures compared within the model's error: the worst latency as a share of its limit,
    /// reads and log writes; infinite if unknown.
    fn latencies(&self) -> Vec<f64> {
        let share = self.margin_percent().map(|margin| 1.0 - margin / 100.0);
        let [reads, logs] = [self.read_ms(), self.log_write_ms()].map(|of| of.map(|of| of.mean));
        [share, reads, logs].map(|of| of.unwrap_or(f64::INFINITY)).to_vec()
    }

    fn mean_read_ms(&self) -> f64 {
        self.read_ms().map_or(f64::MAX, |of| of.mean)
    }

    fn name(&self) -> String {
        let mut name = String::new();
        for (key, value) in &self.0[0].changes {
            let separator = if name.is_empty() { "" } else { ", " };
            let _ = write!(name, "{separator}{key}={value}");
        }
        if name.is_empty() { "as described".to_owned() } else { name }
    }

    /// A bar with a label short enough to fit next to it: the rank in the table, and the values.
    fn bar(
        &self,
        rank: u32,
        (title, length, ink): (&'static str, Option<f64>, &'static str),
    ) -> (String, Vec<PicturePart>) {
        let mut label = format!("{rank}:");
        for (_, value) in &self.0[0].changes {
            let _ = write!(label, " {value}");
        }
        let label = units::shortened(&label, LONGEST_LABEL).into_owned();
        (label, vec![(title, length.unwrap_or(0.0), ink)])
    }

    /// The verdict's name, with the number of seeds if their verdicts differ.
    fn verdict_cell(&self) -> Cell {
        let worst = self.worst();
        let class = worst.figures.class();
        let alike = self.0.iter().filter(|one| one.figures.class() == class).count();
        let impossible = worst.figures.impossibility().map(|_| "impossible");
        let mut name = impossible.unwrap_or(worst.figures.ruling().name()).to_owned();
        if alike < self.0.len() {
            let _ = write!(name, ", {alike} of {} seeds", self.0.len());
        }
        Cell::plain(name).toned(tone(worst.figures.ruling()))
    }

    /// The same for programs.
    fn part(&self, rank: usize, is_best: bool) -> Json {
        let worst = self.worst();
        let changes: serde_json::Map<String, Json> =
            worst.changes.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
        let figures = [
            ("achieved_transactional_iops", self.iops()),
            ("read_latency_ms", self.read_ms()),
            ("write_latency_ms", self.write_ms()),
            ("log_write_latency_ms", self.log_write_ms()),
        ];
        let mut part = json!({
            "rank": rank,
            "changes": changes,
            "verdict": worst.figures.verdict,
            "best_trade_off": is_best,
            "mailboxes": self.mailboxes(),
            "latency_margin_percent": self.margin_percent(),
            "disks": worst.disks,
            "failures_survived": worst.survived,
            "seeds": self.0.len(),
            "half_width_95": figures
                .map(|(name, of)| (name.to_owned(), json!(of.and_then(|of| of.half_width))))
                .into_iter()
                .collect::<serde_json::Map<_, _>>(),
            "objections": worst.figures.reason,
            "folder": worst.folder,
        });
        for (name, of) in figures {
            part[name] = json!(of.map(|of| of.mean));
        }
        part
    }
}

/// The figures by which arrays are compared: of several seeds the verdict of the worst run, the
/// lowest load and the smallest latency margin.
fn points(all: &[PredictedArray]) -> Vec<ParetoPoint> {
    all.iter()
        .zip(1..)
        .map(|(one, rank)| {
            let Prediction { figures, disks, survived, .. } = one.worst();
            ParetoPoint {
                name: one.name(),
                rank,
                holds: figures.class() == 0,
                cost: disks.map(f64::from),
                load: one.mailboxes().or_else(|| one.least(|of| of.carried_iops)),
                // Differences below one percent are chance.
                margin_percent: one.margin_percent().map(f64::round),
                survived: survived.map(f64::from),
                latencies: one.latencies(),
            }
        })
        .collect()
}

/// The arrays of these runs, best first: passing before inconclusive before failing before
/// impossible, those whose latencies keep their limits so far before others, those that no other
/// beats before others, then the higher rate, then the faster
/// reads; rates that reach their target count as equal. Ties keep their order. Runs with the same
/// changes belong to the same array.
pub fn ranked_predictions(runs: Vec<Prediction>) -> Vec<PredictedArray> {
    let mut all: Vec<PredictedArray> = Vec::new();
    for run in runs {
        match all.iter_mut().find(|of| of.0[0].changes == run.changes) {
            Some(array) => array.0.push(run),
            None => all.push(PredictedArray(vec![run])),
        }
    }
    let error = all.iter().map(|of| of.worst().figures.uncertainty_percent).fold(0.0, f64::max);
    let mut standing: Vec<_> = standings(&points(&all), error).into_iter().zip(all).collect();
    standing.sort_by(|(first, one), (second, two)| {
        let classes = [one, two].map(|of| of.worst().figures.class());
        classes[0]
            .cmp(&classes[1])
            .then(one.misses_a_limit().cmp(&two.misses_a_limit()))
            .then(first.cmp(second))
            .then(two.wanted_iops().total_cmp(&one.wanted_iops()))
            .then(one.mean_read_ms().total_cmp(&two.mean_read_ms()))
    });
    standing.into_iter().map(|(_, array)| array).collect()
}

/// The ranking in a form, with the next `steps`; as comma-separated values, one line for each
/// design.
pub fn render_predictions(form: ReportForm, all: &[PredictedArray], steps: &[String]) -> String {
    form.render(|| document(all, steps), || json(all, steps), || csv::csv(all))
}

fn json(all: &[PredictedArray], steps: &[String]) -> String {
    let fronts = pareto_front(&points(all));
    let parts: Json = all
        .iter()
        .zip(1..)
        .zip(fronts)
        .map(|((one, rank), is_best)| one.part(rank, is_best))
        .collect();
    let subject = all.first().map(|one| one.worst().figures.subject.as_str());
    let members = json!({
        "assumption": subject.and_then(plan::deployment::assumption_in),
        "simulated": all.first().and_then(|one| one.worst().figures.array.as_ref()),
        "predictions": parts,
        "next_steps": steps,
    });
    let answer = report::answer("predictions", members);
    units::plain_json(&format!("{answer:#}\n")).into_owned()
}

fn document(all: &[PredictedArray], steps: &[String]) -> Document {
    let pictures = [
        picture(all, "Transactional IOPS", "ink-write", |one| Some(one.mean_iops())),
        picture(all, "Database reads, mean ms", "ink-read", |one| one.read_ms().map(|of| of.mean)),
        picture(all, "Log writes, mean ms", "ink-log", |one| one.log_write_ms().map(|of| of.mean)),
    ];
    let table = Section { id: "ranking", title: "Ranking", blocks: vec![table(all)] };
    let blocks = pictures.map(Block::from).to_vec();
    let pictures = Section { id: "pictures", title: "Side By Side", blocks };
    let has_mailboxes = all.iter().any(|one| one.0[0].figures.mailboxes.is_some());
    let load = if has_mailboxes { "Mailboxes" } else { "IOPS" };
    let headings = ParetoHeadings { cost: "Disks In All".into(), load, is_simulated: true };
    let trade_offs = pareto::section(&points(all), &headings);
    let sections = std::iter::once(table).chain(next_steps::section(steps)).chain(trade_offs);
    let banner = banner(all);
    let names = vec![banner.subject.clone()];
    Document { banner, sections: sections.chain([pictures]).collect(), names }
}

fn banner(all: &[PredictedArray]) -> Banner {
    let best = all.first();
    let worst = best.map(|best| &best.worst().figures);
    Banner {
        subject: worst.map(|one| one.subject.clone()).unwrap_or_default(),
        started: worst.map(|one| one.started.clone()).unwrap_or_default(),
        verdict: worst.map(|one| one.headline.clone()).unwrap_or_default(),
        tone: worst.map_or(Tone::Warn, PredictionFigures::tone),
        number: best.map_or_else(|| "-".to_owned(), |best| three_digits(best.mean_iops())),
        number_unit: match best.map_or(1, |best| best.0.len()) {
            1 => "IOPS of the best".into(),
            seeds => format!("IOPS of the best, mean of {seeds} seeds").into(),
        },
        number_metric: "achieved-transactional-iops",
        meaning: best.map(|best| said(best, all)).unwrap_or_default(),
        figures: Vec::new(),
    }
}

/// Meaning of the ranking, and its error bounds.
fn said(best: &PredictedArray, all: &[PredictedArray]) -> Vec<String> {
    let mut said = best.worst().figures.said.clone();
    let seeds = best.0.len();
    if seeds > 1 {
        said.push(format!(
            "IOPS and latencies are means of {seeds} seeds; +- is half of the 95 % confidence \
             interval, which holds chance alone and no error of the model. Verdicts and trade-offs \
             are those of the worst seed."
        ));
    }
    let passing = all.iter().filter(|one| one.exit_code() == 0).count();
    let simulated = all.iter().filter(|one| one.is_possible()).count();
    let of = plural(simulated as u64, "simulated array");
    said.push(match passing {
        0 => format!("None of {of} carries this load for certain."),
        passing => {
            let verb = if passing == 1 { "carries" } else { "carry" };
            format!("{passing} of {of} {verb} this load; the best is {}.", best.name())
        }
    });
    let mut keys = best.changes().iter().map(|(key, _)| key.as_str());
    if keys.any(|key| key == "disk.rpm") && !best.changes().iter().any(|(key, _)| is_seek(key)) {
        said.push(KEPT_SEEKS.to_owned());
    }
    said
}

/// What a change of `disk.rpm` does not change.
const KEPT_SEEKS: &str = "Only the rotation differs with disk.rpm: the seek times are those of the \
                          array as described, and faster disks usually have shorter ones \
                          (disk.seek_average_ms, or an array of such disks).";

fn is_seek(key: &str) -> bool {
    key.starts_with("disk.seek_")
}

fn table(all: &[PredictedArray]) -> Block {
    let caption = if all.len() > MOST_LISTED {
        "The best of the simulated arrays; what-if.csv and what-if.json have all"
    } else {
        "Simulated arrays, the best first"
    };
    Block::Table(Table {
        caption,
        columns: vec![
            Column::numbers("Rank"),
            Column::text("Array"),
            Column::text("Verdict"),
            Column::metric("IOPS", "achieved-transactional-iops"),
            Column::metric("Read ms", "database-reads-latency"),
            Column::numbers("Write ms"),
            Column::metric("Log write ms", "log-writes-latency"),
            Column::text("Because of"),
        ],
        rows: all.iter().zip(1_u32..).take(MOST_LISTED).map(row).collect(),
    })
}

fn row((one, rank): (&PredictedArray, u32)) -> TableRow {
    TableRow::body(vec![
        Cell::plain(rank.to_string()),
        Cell::plain(one.name()),
        one.verdict_cell(),
        figure(one.iops(), three_digits),
        figure(one.read_ms(), |ms| number(ms, 2)),
        figure(one.write_ms(), |ms| number(ms, 2)),
        figure(one.log_write_ms(), |ms| number(ms, 2)),
        Cell::plain(one.worst().figures.reason.clone()),
    ])
}

/// A mean, with half the width of its confidence interval if there is one.
fn figure(of: Option<Estimate>, written: impl Fn(f64) -> String) -> Cell {
    Cell::or_none(of.map(|of| match of.half_width {
        Some(half) => format!("{} +- {}", written(of.mean), number(half, 2)),
        None => written(of.mean),
    }))
}

fn picture(
    all: &[PredictedArray],
    title: &'static str,
    ink: &'static str,
    of: impl Fn(&PredictedArray) -> Option<f64>,
) -> Picture {
    let pictured = all.iter().take(MOST_PICTURED);
    let bars: Vec<_> =
        pictured.zip(1..).map(|(one, rank)| one.bar(rank, (title, of(one), ink))).collect();
    let svg = crate::design::bars_svg(title, &bars);
    Picture::wide(title.to_owned(), svg, Vec::new())
}

#[cfg(test)]
mod tests;
