//! Simulated runs of one plan on arrays that differ, ranked: which of them carries the load, and
//! which carries the most.

use std::fmt::Write as _;

use record::{RunRecord, Series};
use serde_json::{Value as Json, json};
use verdict::{Ruling, Verdict};

use crate::design::PicturePart;
use crate::document::{
    Banner, Block, Cell, Column, Document, Picture, Section, Table, TableRow, Tone,
};
use crate::format::{self, number, plural, three_digits};
use crate::listed::{achieved_iops, mean_ms, verdict_name};
use crate::sections::{summary, tone};
use crate::{html, json, meaning, text};

/// Bytes of text for which there is room beside a bar.
const LONGEST_LABEL: usize = 22;

/// One of the arrays, and what came out on it.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// What was changed of the array: keys and values.
    pub changes: Vec<(String, String)>,
    /// The simulated run.
    pub run: RunRecord,
    /// What it comes to.
    pub verdict: Verdict,
    /// Name of its folder.
    pub folder: String,
}

impl Prediction {
    fn name(&self) -> String {
        let mut name = String::new();
        for (key, value) in &self.changes {
            let separator = if name.is_empty() { "" } else { ", " };
            let _ = write!(name, "{separator}{key}={value}");
        }
        name
    }

    /// A bar whose label fits beside it: the rank in the table, and the values.
    fn bar(
        &self,
        rank: u32,
        (title, length, ink): (&'static str, Option<f64>, &'static str),
    ) -> (String, Vec<PicturePart>) {
        let mut label = format!("{rank}:");
        for (_, value) in &self.changes {
            let _ = write!(label, " {value}");
        }
        let label = units::shortened(&label, LONGEST_LABEL).into_owned();
        (label, vec![(title, length.unwrap_or(0.0), ink)])
    }

    fn iops(&self) -> f64 {
        achieved_iops(&self.run).unwrap_or(0.0)
    }

    fn mean_ms(&self, series: Series) -> Option<f64> {
        mean_ms(&self.run, series)
    }

    /// A cell of the table: mean milliseconds.
    fn latency(&self, series: Series) -> Cell {
        Cell::or_none(self.mean_ms(series).map(|ms| number(ms, 2)))
    }

    /// The same for programs.
    fn part(&self, rank: usize) -> Json {
        let changes: serde_json::Map<String, Json> =
            self.changes.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
        json!({
            "rank": rank,
            "changes": changes,
            "verdict": json::verdict_of(&self.run, &self.verdict),
            "achieved_transactional_iops": achieved_iops(&self.run),
            "read_latency_ms": self.mean_ms(Series::DatabaseRead),
            "write_latency_ms": self.mean_ms(Series::DatabaseWrite),
            "log_write_latency_ms": self.mean_ms(Series::LogWrite),
            "objections": self.reason(),
            "folder": self.folder,
        })
    }

    /// Why it does not pass, in a few words.
    fn reason(&self) -> String {
        let decisive = match self.verdict.outcome {
            Ruling::Pass | Ruling::Warn => return String::new(),
            Ruling::Fail => Ruling::Fail,
            Ruling::CannotJudge => Ruling::CannotJudge,
        };
        let mut found = Vec::new();
        for finding in self.verdict.findings.iter().filter(|finding| finding.outcome == decisive) {
            // What cannot be judged has no figure that would say why.
            let why = finding.evidence.first().filter(|_| decisive == Ruling::CannotJudge);
            let why = why.map(|why| format!(": {}", meaning::describe(&self.run, why)));
            found.push(format!("{}{}", finding.title, why.unwrap_or_default()));
        }
        found.join(", ")
    }
}

/// The same, the best first: what passes before what cannot be judged before what fails, then the
/// higher rate, or the faster reads where all were held at one rate. Equals stay in their order.
pub fn ranked_predictions(mut all: Vec<Prediction>) -> Vec<Prediction> {
    all.sort_by(|one, two| {
        let by_rate = match one.run.start.settings.target_iops {
            Some(_) => one
                .mean_ms(Series::DatabaseRead)
                .unwrap_or(f64::MAX)
                .total_cmp(&two.mean_ms(Series::DatabaseRead).unwrap_or(f64::MAX)),
            None => two.iops().total_cmp(&one.iops()),
        };
        class(one).cmp(&class(two)).then(by_rate)
    });
    all
}

const fn class(one: &Prediction) -> u8 {
    match one.verdict.outcome {
        Ruling::Pass | Ruling::Warn => 0,
        Ruling::CannotJudge => 1,
        Ruling::Fail => 2,
    }
}

/// One self-contained HTML page.
pub fn predictions_html(all: &[Prediction]) -> String {
    html::page(&document(all))
}

/// The same as plain text.
pub fn predictions_text(all: &[Prediction]) -> String {
    text::render(&document(all))
}

/// The same numbers for programs.
pub fn predictions_json(all: &[Prediction]) -> String {
    let members = json!({
        "simulated": all.first().and_then(|one| one.run.simulated()).map(|of| &of.array),
        "predictions": all.iter().zip(1..).map(|(one, rank)| one.part(rank)).collect::<Json>(),
    });
    let json = crate::answer("predictions", members);
    units::plain_json(&format!("{json:#}\n")).into_owned()
}

fn document(all: &[Prediction]) -> Document {
    let pictures = [
        picture(all, "Transactional IOPS", "ink-write", |one| Some(one.iops())),
        picture(all, "Database reads, mean ms", "ink-read", |one| {
            one.mean_ms(Series::DatabaseRead)
        }),
        picture(all, "Log writes, mean ms", "ink-log", |one| one.mean_ms(Series::LogWrite)),
    ];
    let table = Section { id: "ranking", title: "Ranking", blocks: vec![table(all)] };
    let blocks = pictures.map(Block::from).to_vec();
    let pictures = Section { id: "pictures", title: "Side By Side", blocks };
    Document { banner: banner(all), sections: vec![table, pictures] }
}

fn banner(all: &[Prediction]) -> Banner {
    let first = all.first();
    let passing = all.iter().filter(|one| one.verdict.exit_code() == 0).count() as u64;
    let of = plural(all.len() as u64, "simulated array");
    let mut said: Vec<String> = Vec::new();
    if let Some(best) = first {
        said.extend(meaning::sentences(&best.run, &best.verdict).into_iter().take(1));
        said.extend(best.run.simulated().map(|simulation| {
            let percent = simulation.uncertainty_percent;
            format!("True latencies may differ by {percent:.0} % either way.")
        }));
        said.push(match passing {
            0 => format!("None of {of} carries this load for certain."),
            passing => format!("{passing} of {of} carry this load; the best is {}.", best.name()),
        });
    }
    Banner {
        subject: first.map(|one| summary::subject(&one.run.start)).unwrap_or_default(),
        started: first
            .map(|one| format::timestamp(one.run.start.started_epoch_ns))
            .unwrap_or_default(),
        verdict: first.map(|best| verdict_name(&best.run, &best.verdict)).unwrap_or_default(),
        tone: first.map_or(Tone::Warn, |best| tone(best.verdict.outcome)),
        number: first.map_or_else(|| "-".to_owned(), |best| three_digits(best.iops())),
        number_unit: "IOPS of the best",
        number_metric: "achieved-transactional-iops",
        meaning: said,
        figures: Vec::new(),
    }
}

fn table(all: &[Prediction]) -> Block {
    Block::Table(Table {
        caption: "Simulated arrays, the best first",
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
        rows: all.iter().zip(1_u32..).map(row).collect(),
    })
}

fn row((one, rank): (&Prediction, u32)) -> TableRow {
    TableRow::body(vec![
        Cell::plain(rank.to_string()),
        Cell::plain(one.name()),
        Cell::plain(one.verdict.outcome.name()).toned(tone(one.verdict.outcome)),
        Cell::plain(three_digits(one.iops())),
        one.latency(Series::DatabaseRead),
        one.latency(Series::DatabaseWrite),
        one.latency(Series::LogWrite),
        Cell::plain(one.reason()),
    ])
}

fn picture(
    all: &[Prediction],
    title: &'static str,
    ink: &'static str,
    of: impl Fn(&Prediction) -> Option<f64>,
) -> Picture {
    let bars: Vec<_> =
        all.iter().zip(1..).map(|(one, rank)| one.bar(rank, (title, of(one), ink))).collect();
    let svg = crate::design::bars_svg(title, &bars);
    Picture::wide(title.to_owned(), svg, Vec::new())
}

#[cfg(test)]
mod tests {
    use record::synthetic::Synthetic;
    use record::{RunRecord, Simulation};

    use super::{Prediction, predictions_json, predictions_text, ranked_predictions};

    fn prediction(name: &str, run: RunRecord) -> Prediction {
        let verdict = verdict::judge(&run);
        let changes = vec![("raid.level".to_owned(), name.to_owned())];
        Prediction { changes, run, verdict, folder: format!("what-if-{name}") }
    }

    fn simulated(run: &Synthetic) -> RunRecord {
        let mut run = run.run();
        let array = "shelf".to_owned();
        run.start.simulated = Some(Box::new(Simulation { array, ..Simulation::default() }));
        run
    }

    #[test]
    fn what_passes_comes_before_what_fails_and_everything_says_that_it_is_simulated() {
        let slow = simulated(&Synthetic { spike: Some(2), ..Synthetic::default() });
        let good = simulated(&Synthetic::default());
        let ranked = ranked_predictions(vec![prediction("5", slow), prediction("10", good)]);
        assert!(ranked.iter().map(Prediction::name).eq(["raid.level=10", "raid.level=5"]));
        let text = predictions_text(&ranked);
        assert!(text.contains("SIMULATED PASS") && text.contains("the best is raid.level=10"));
        let json: serde_json::Value =
            serde_json::from_str(&predictions_json(&ranked)).expect("JSON");
        assert_eq!(json["simulated"], "shelf");
        assert_eq!(json["predictions"][0]["verdict"], "simulated_pass");
        assert_eq!(json["predictions"][1]["verdict"], "simulated_fail");
        assert_eq!(json["predictions"][1]["rank"], 2);
    }

    #[test]
    fn what_cannot_be_judged_says_why() {
        let mut short = simulated(&Synthetic::default());
        short.start.settings.thresholds.minimum_log_writes = u64::MAX;
        let reason = prediction("10", short).reason();
        assert!(
            reason.contains("Log write latency, average: ") && reason.contains("at least"),
            "{reason}"
        );
    }
}
